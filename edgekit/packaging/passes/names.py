"""Nodes by name: quantization says which nodes stay float, and onnxruntime's quantizer knows them by name only."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import onnx

from edgekit.packaging import source
from edgekit.packaging.passes import PassResult, copy


@dataclass(frozen=True)
class NameNodes:
    """Give every node a name of its own, in subgraphs too.

    Ensures: names are not empty and unique; the first node of a name keeps it.
    """

    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Name what has no name, or that of another."""
        given = [node.name for node in source.nodes(model.graph)]
        if all(given) and len(set(given)) == len(given):
            return PassResult(model, changed=False)
        out = copy(model)
        taken, seen = set(given), {""}
        numbers: dict[str, count[int]] = {}
        for node in source.nodes(out.graph):
            if node.name in seen:
                stem = node.name or node.op_type
                candidates = (f"{stem}_{n}" for n in numbers.setdefault(stem, count(1)))
                node.name = next(name for name in candidates if name not in taken)
                taken.add(node.name)
            seen.add(node.name)
        return PassResult(out, changed=True)
