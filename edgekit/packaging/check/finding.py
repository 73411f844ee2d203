"""One thing that a target's limits say of a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Effect = Literal["blocks", "left", "unknown", "changed", "noted"]


@dataclass(frozen=True)
class Finding:
    """What was found, where, who says that it matters, and what becomes of it."""

    kind: str  # operators, shapes, batch, opset, ir, dtype, rank, external_data, selection, precision
    effect: Effect  # blocks: cannot be packaged; left: runs on the CPU; changed: packaging mends it
    message: str
    remedy: str = ""  # what packaging does about it, or what the user can
    nodes: tuple[str, ...] = ()  # names of nodes, inputs or outputs
    source: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**asdict(self), "nodes": list(self.nodes)}
