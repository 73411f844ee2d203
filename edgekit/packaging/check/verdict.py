"""What is to be expected of a model on a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from edgekit.packaging.check.coverage import Coverage
from edgekit.packaging.check.finding import Finding

Outcome = Literal["runs", "partly", "blocked", "unknown"]


@dataclass(frozen=True)
class Verdict:
    """One target's answer.

    Law: what cannot be packaged, or leaves all its work to the CPU on a target that is none, is blocked.
    """

    target: str
    provider: str
    device: str
    precision: str | None  # what packaging would make by default; None where it refuses
    coverage: Coverage | None  # None where no list of operators is known, or the model cannot be prepared
    findings: Sequence[Finding]

    @property
    def blocked(self) -> bool:
        """Whether packaging would refuse, or be in vain."""
        return any(finding.effect == "blocks" for finding in self.findings)

    @property
    def outcome(self) -> Outcome:
        """In a word. `runs` is every node: what hops between two processors is slow, whatever it weighs."""
        if self.blocked:
            return "blocked"
        if self.coverage is None:
            return "unknown"
        return "partly" if self.coverage.left else "runs"

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "target": self.target,
            "provider": self.provider,
            "device": self.device,
            "precision": self.precision,
            "outcome": self.outcome,
            "coverage": self.coverage.to_dict() if self.coverage else None,
            "findings": [finding.to_dict() for finding in self.findings],
        }
