"""Nodes by name: quantization says which nodes stay float, and onnxruntime's quantizer knows them by name only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.packaging.passes import PassResult, copy


@dataclass(frozen=True)
class NameNodes:
    """Give every node a name of its own.

    Ensures: names are not empty and unique; those that were are kept.
    """

    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Name what has no name, or that of another."""
        given = [node.name for node in model.graph.node]
        if all(given) and len(set(given)) == len(given):
            return PassResult(model, changed=False)
        out = copy(model)
        taken = set(given)
        seen: set[str] = set()
        for i, node in enumerate(out.graph.node):
            if not node.name or node.name in seen:
                node.name = _free(f"{node.op_type}_{i}", taken)
                taken.add(node.name)
            seen.add(node.name)
        return PassResult(out, changed=True)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
