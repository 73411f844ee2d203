"""What the free dimensions of a model's inputs would be fixed at, told from the file alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from edgekit import metadata
from edgekit.manifest import TensorSpec
from edgekit.packaging.passes.boundary import numpy_name
from edgekit.runtime import interface

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Shapes:
    """Inputs with free dimensions: those that can be fixed, and those of which too little is known."""

    fixed: Mapping[str, Shape]
    unknown: tuple[str, ...]


def of(model: onnx.ModelProto, size: tuple[int, int] | None) -> Shapes:
    """Batches of one; images of `size`, or of the size that the model's metadata tells."""
    known = metadata.parse({p.key: p.value for p in model.metadata_props})
    weights = {i.name for i in model.graph.initializer}
    specs = [interface.with_role(_spec(value)) for value in model.graph.input if value.name not in weights]
    free = [spec for spec in specs if not _is_fixed(spec.shape)]
    shapes = {spec.name: _shape(spec, size or metadata.image_size(known)) for spec in free}
    fixed = {name: shape for name, shape in shapes.items() if shape is not None}
    return Shapes(fixed, tuple(name for name, shape in shapes.items() if shape is None))


def _shape(spec: TensorSpec, size: tuple[int, int] | None) -> Shape | None:
    if spec.role == "image":
        size = interface.fixed_size(spec) or size
        return interface.image_shape(spec, size) if size else None
    _, *rest = spec.shape
    return (1, *(int(d) for d in rest)) if rest and _is_fixed(tuple(rest)) else None


def _is_fixed(shape: tuple[int | str, ...]) -> bool:
    return all(isinstance(d, int) and d > 0 for d in shape)


def _spec(value: onnx.ValueInfoProto) -> TensorSpec:
    kind = value.type.tensor_type
    dims = (d.dim_value if d.HasField("dim_value") else d.dim_param or -1 for d in kind.shape.dim)
    return TensorSpec(value.name, numpy_name(kind.elem_type), tuple(dims))
