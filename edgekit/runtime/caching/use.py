"""What the compile cache did for a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgekit.cache import Entry, Loan


@dataclass(frozen=True)
class Use:
    """A hit, a miss and its cost, or why the cache was not used."""

    loan: Loan | None = None
    hit: bool = False
    reason: str | None = None  # of a miss, or why the cache was not used
    seconds: float | None = None  # that compiling took, on a miss

    @property
    def kept(self) -> Entry | None:
        """The entry as the store holds it; None if nothing is kept."""
        return self.loan.kept if self.loan is not None else None

    @property
    def notice(self) -> str | None:
        """What a user should know: nothing of a hit."""
        if self.hit:
            return None
        if self.seconds is not None:
            return f"compiled in {self.seconds:.1f} s, and kept: {self.reason}"
        return f"nothing that is compiled is kept: {self.reason}" if self.reason else None

    def update(self) -> None:
        """Take in what the provider has written since."""
        if self.loan is not None:
            self.loan.update()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `edgekit run --json` prints it."""
        kept = self.kept
        return {"hit": self.hit, "entry": kept.name if kept else None, "reason": self.reason, "seconds": self.seconds}
