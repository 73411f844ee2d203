"""Fixed shapes: what accelerators need, and what lets the simplifier fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.packaging.passes import PassResult, copy


@dataclass(frozen=True)
class FreezeShapes:
    """Give every input a fixed shape.

    Requires: `shapes` has a shape for each input with a free dimension.
    Ensures: no free dimension is left at any input; the shapes inside are inferred anew.
    """

    shapes: Mapping[str, tuple[int, ...]]
    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Write the shapes into the inputs."""
        out = copy(model)
        frozen = [name for name, shape in self.shapes.items() if _freeze(out.graph, name, shape)]
        if not frozen:
            return PassResult(model, changed=False)
        del out.graph.value_info[:]
        for output in out.graph.output:  # names of free dimensions would contradict what is inferred
            output.type.tensor_type.ClearField("shape")
        out = onnx.shape_inference.infer_shapes(out, data_prop=True)
        notes = tuple(f"{name} is now {list(self.shapes[name])}" for name in frozen)
        return PassResult(out, changed=True, notes=notes)


def _freeze(graph: onnx.GraphProto, name: str, shape: tuple[int, ...]) -> bool:
    """Fix one input; whether it had a free dimension."""
    value = next(i for i in graph.input if i.name == name)
    dims = value.type.tensor_type.shape.dim
    if all(d.HasField("dim_value") and d.dim_value > 0 for d in dims):
        return False
    for dim, size in zip(dims, shape, strict=True):
        dim.Clear()
        dim.dim_value = size
    return True
