"""Fixed shapes: what accelerators need, and what lets the simplifier fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.errors import ModelError
from edgekit.packaging.passes import PassResult, copy

IMAGE_RANK = 4


@dataclass(frozen=True)
class FreezeShapes:
    """Give every input a fixed shape.

    Requires: `shapes` has a shape for each input with a free dimension.
    Ensures: no free dimension is left at any input; the shapes inside are inferred anew; images come in batches of
    `batch`, where it is given.
    """

    shapes: Mapping[str, tuple[int, ...]]
    batch: int | None = None
    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Write the shapes into the inputs.

        Raises:
            ModelError: a batch size is fixed in the model, and is another.
        """
        self._check_batch(model.graph)
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

    def _check_batch(self, graph: onnx.GraphProto) -> None:
        for value in graph.input:
            dims = value.type.tensor_type.shape.dim
            fixed = dims[0].dim_value if len(dims) == IMAGE_RANK else 0
            if self.batch and fixed not in (0, self.batch):
                raise ModelError(
                    f"input {value.name} has a fixed batch of {fixed}, the target runs batches of {self.batch}",
                    hint=f"export the model with a batch of {self.batch}",
                )


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
