"""Dtypes and shapes of all tensors of a model, as far as they can be told without running it."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from edgekit.packaging.passes import copy
from edgekit.packaging.passes.boundary import numpy_name

# of Sony's MCT: a quantizer's output is like its first input, which ONNX's inference cannot know
QUANTIZERS = ("mct_quantizers",)


@dataclass(frozen=True)
class Tensor:
    """One tensor. A free dimension is -1; a shape of which not even the rank is known is None."""

    dtype: str  # as numpy names it
    shape: tuple[int, ...] | None

    @property
    def fixed(self) -> tuple[int, ...] | None:
        """The shape if all of it is known."""
        return self.shape if self.shape is not None and min(self.shape, default=1) >= 0 else None


def read(model: onnx.ModelProto) -> dict[str, Tensor]:
    """The tensors of the outermost graph, by name; one that nothing is known of is left out."""
    graph = inferred(model).graph
    found = {i.name: Tensor(numpy_name(i.data_type), tuple(i.dims)) for i in graph.initializer}
    for value in (*graph.input, *graph.output, *graph.value_info):
        kind = value.type.tensor_type
        if kind.elem_type:
            found.setdefault(value.name, Tensor(numpy_name(kind.elem_type), _shape(kind)))
    return found


def _shape(kind: onnx.TypeProto.Tensor) -> tuple[int, ...] | None:
    if not kind.HasField("shape"):
        return None
    return tuple(d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim)


def inferred(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy with what ONNX can tell of the tensors inside; where it can tell nothing, the model as it is."""
    try:
        return onnx.shape_inference.infer_shapes(_plain(model), data_prop=True)
    except onnx.shape_inference.InferenceError:  # an operator of a domain that is not imported
        return model


def _plain(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with Identity for what only changes values, so that shapes can be inferred through it."""
    if not any(node.domain in QUANTIZERS for node in model.graph.node):
        return model
    out = copy(model)
    for node in out.graph.node:
        if node.domain in QUANTIZERS:
            node.domain, node.op_type = "", "Identity"
            del node.input[1:], node.attribute[:]
    return out
