"""Which provider each node of a session really runs on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Placement:
    """Nodes by provider, from onnxruntime's own record (1.24 and later)."""

    nodes: Mapping[str, int]

    def share(self, provider: str) -> float:
        """The part of the nodes that this provider took, 0..1."""
        total = sum(self.nodes.values())
        return self.nodes.get(provider, 0) / total if total else 0.0


def recorded(session: Any) -> Placement | None:
    """Read the session's assignment record; none where this onnxruntime keeps none."""
    read = getattr(session, "get_provider_graph_assignment_info", None)
    if read is None:
        return None
    nodes: Counter[str] = Counter()
    for subgraph in read():
        nodes[subgraph.ep_name] += len(subgraph.get_nodes())
    return Placement(dict(nodes))
