"""The tensors of a graph whose shapes are known before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper

from edgekit.packaging import tensors

FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


@dataclass(frozen=True)
class Tensor:
    """A tensor of fixed shape."""

    name: str
    element: int
    shape: tuple[int, ...]

    @property
    def is_float(self) -> bool:
        """Whether its numbers are floating."""
        return self.element in FLOATS

    @property
    def batched(self) -> tuple[int, ...]:
        """The shape with a batch in front: a matrix counts as a batch of one, as torchvision's exports have it."""
        return (1, *self.shape) if len(self.shape) == 2 else self.shape

    def declared(self) -> onnx.ValueInfoProto:
        """What a graph says of it as an input or output."""
        return helper.make_tensor_value_info(self.name, self.element, self.shape)


def fixed(model: onnx.ModelProto) -> Mapping[str, Tensor]:
    """The tensors with a fixed shape, by name: declared, or inferred by ONNX."""
    graph = tensors.inferred(model).graph
    found = (_tensor(value) for value in (*graph.input, *graph.value_info, *graph.output))
    return {tensor.name: tensor for tensor in found if tensor}


def _tensor(value: onnx.ValueInfoProto) -> Tensor | None:
    kind = value.type.tensor_type
    dims = [dim.dim_value for dim in kind.shape.dim]  # 0 where it is free
    return Tensor(value.name, kind.elem_type, tuple(dims)) if kind.HasField("shape") and all(dims) else None
