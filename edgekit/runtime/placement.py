"""Which provider each node of a session really runs on, and whether that is enough."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from edgekit.errors import GateMissed, ProviderError
from edgekit.runtime.providers import CPU

# the operators that do the work of a network, also in the forms that onnxruntime fuses them into
WEIGHTED = re.compile(r"Conv(?!ert)|Gemm|MatMul")
TIMED = "_kernel_time"  # ends the names of a profile's events of a node


@dataclass(frozen=True)
class Node:
    """A node of the graph as onnxruntime runs it."""

    name: str
    operator: str
    provider: str

    @property
    def weighted(self) -> bool:
        """Whether it multiplies by weights: a convolution or a matrix product."""
        return WEIGHTED.search(self.operator) is not None


@dataclass(frozen=True)
class Placement:
    """The nodes of a session by provider.

    A provider that compiles shows its nodes in a record, and one node for each of its programs in a profile.
    """

    nodes: Mapping[str, int]
    weighted: Mapping[str, int]  # of them the Conv, Gemm and MatMul
    left: tuple[Node, ...]  # Conv, Gemm and MatMul on the CPU
    how: Literal["recorded", "profiled"] = "recorded"

    @classmethod
    def of(cls, nodes: Iterable[Node], how: Literal["recorded", "profiled"] = "recorded") -> Placement:
        """Count them."""
        nodes = list(nodes)
        return cls(
            dict(Counter(node.provider for node in nodes)),
            dict(Counter(node.provider for node in nodes if node.weighted)),
            tuple(node for node in nodes if node.weighted and node.provider == CPU),
            how,
        )

    def share(self, provider: str) -> float:
        """The part of the nodes that this provider took, 0..1."""
        total = sum(self.nodes.values())
        return self.nodes.get(provider, 0) / total if total else 0.0

    def weighted_share(self, provider: str, total: int = 0) -> float:
        """The part of the Conv, Gemm and MatMul nodes that this provider took, 0..1; 1 where there are none.

        Args:
            total: how many the model has, which a profile does not say; counted here if 0.
        """
        if not self.nodes.get(provider):
            return 0.0
        if self.how == "recorded" or not total:
            total = sum(self.weighted.values())
        return max(0.0, 1 - len(self.left) / total) if total else 1.0

    def to_dict(self, provider: str) -> dict[str, Any]:
        """Plain data, as `edgekit run --json` prints it."""
        return {
            "share": round(self.share(provider), 4),
            "nodes": dict(self.nodes),
            "left": [f"{node.name} ({node.operator})" for node in self.left] if provider != CPU else [],
            "how": self.how,
        }

    def require(self, provider: str, least: float | None, total: int = 0) -> None:
        """Hold a provider to what it was to take.

        Args:
            least: the part of the Conv, Gemm and MatMul nodes, 0..1; all of them if not known.
            total: as for `weighted_share`.

        Raises:
            GateMissed: it took less; the message names each one that the CPU runs.
        """
        share, least = self.weighted_share(provider, total), 1.0 if least is None else least
        if self.nodes.get(provider) and share >= least:
            return
        names = ", ".join(f"{node.name} ({node.operator})" for node in self.left)
        raise GateMissed(
            f"{provider} took {share:.1%} of the Conv, Gemm and MatMul nodes, {least:.1%} were to be expected"
            + (f"; on the CPU: {names}" if names else ""),
            hint="edgekit check MODEL -t TARGET says what it can take",
        )


def recorded(session: Any) -> Placement | None:
    """Read the session's assignment record; none where this onnxruntime keeps none (before 1.24)."""
    read = getattr(session, "get_provider_graph_assignment_info", None)
    if read is None:
        return None
    try:
        parts = read()
    except Exception:  # onnxruntime's plain one: the session was made with options of the user's, without the record
        return None
    return Placement.of(Node(n.name, n.op_type, part.ep_name) for part in parts for n in part.get_nodes())


def profiled(open_session: Callable[[Path], Any], feed: Mapping[str, Any]) -> Placement:
    """Run once under onnxruntime's profiler, in a session of its own: all that releases before 1.24 offer.

    Args:
        open_session: makes the session, which writes its profile to files that begin with the path given.
        feed: inputs that the model takes.

    Raises:
        ProviderError: the session fails, or writes no profile.
    """
    with tempfile.TemporaryDirectory(prefix="edgekit-") as folder:
        session = open_session(Path(folder) / "profile")
        session.run(None, dict(feed))
        try:
            events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        except (OSError, ValueError) as e:
            raise ProviderError(f"onnxruntime wrote no profile that can be read: {e}") from e
    return Placement.of(_nodes(events), "profiled")


def _nodes(events: Iterable[Mapping[str, Any]]) -> Iterable[Node]:
    """One node for each name, whose time was taken."""
    seen = set()
    for event in events:
        name, details = str(event.get("name", "")), event.get("args") or {}
        if name.endswith(TIMED) and details.get("provider") and name not in seen:
            seen.add(name)
            yield Node(name.removesuffix(TIMED), str(details.get("op_name", "")), str(details["provider"]))
