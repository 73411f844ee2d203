"""What a target's limits say of a model as it arrives, and what packaging will do about it."""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from edgekit.packaging import source as sources
from edgekit.packaging.check.finding import Finding
from edgekit.packaging.check.shapes import Shapes
from edgekit.packaging.passes.boundary import NARROWER, foreign, numpy_name
from edgekit.packaging.source import Source
from edgekit.target import Target

# onnxruntime has these built in: what is of another domain needs a library that brings it
BUILT_IN = ("", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training", "com.microsoft", "com.microsoft.nchwc")


def find(original: Source, shapes: Shapes, target: Target) -> Iterator[Finding]:
    """All that is to say before any step is tried."""
    yield from _free_dimensions(original.model, shapes, target)
    yield from _versions(original, target)
    yield from _boundary(original.model, target)
    yield from _external_data(original, target)
    yield from _selection(original.model, target)
    yield from _foreign_operators(original.model, target)


def _free_dimensions(model: onnx.ModelProto, shapes: Shapes, target: Target) -> Iterator[Finding]:
    source = target.sources.get("limits.static_shapes", "")
    if shapes.fixed:
        said = ", ".join(f"{name} {list(shape)}" for name, shape in shapes.fixed.items())
        yield Finding("shapes", "changed", "inputs have free dimensions", f"fixed: {said}", tuple(shapes.fixed), source)
    if shapes.unknown:
        yield Finding(
            "shapes",
            "blocks" if target.limits.static_shapes else "noted",
            f"{', '.join(shapes.unknown)}: free dimensions of which the model does not say what they are",
            "--imgsz, or export the model with fixed shapes",
            tuple(shapes.unknown),
            source,
        )


def _versions(original: Source, target: Target) -> Iterator[Finding]:
    limits, found = target.limits, original.description
    for key, bound in (("opset_max", limits.opset_max), ("opset_min", limits.opset_min)):
        wrong = bound and (found.opset > bound if key == "opset_max" else found.opset < bound)
        if wrong:
            source = target.sources.get(f"limits.{key}", "")
            yield Finding("opset", "changed", f"opset {found.opset}", f"converted to {bound}", source=source)
    if limits.ir_max and found.ir > limits.ir_max:
        source = target.sources.get("limits.ir_max", "")
        yield Finding("ir", "changed", f"IR {found.ir}", f"written as {limits.ir_max}", source=source)


def _boundary(model: onnx.ModelProto, target: Target) -> Iterator[Finding]:
    dtypes = target.limits.dtypes
    if not dtypes:
        return
    weights = {i.name for i in model.graph.initializer}
    values = [value for value in (*model.graph.input, *model.graph.output) if value.name not in weights]
    for value in foreign(values, dtypes):
        wide = value.type.tensor_type.elem_type
        narrow = NARROWER.get(wide)
        mended = narrow is not None and numpy_name(narrow) in dtypes
        yield Finding(
            "dtype",
            "changed" if mended else "blocks",
            f"{value.name} is {numpy_name(wide)}",
            f"becomes {numpy_name(narrow)}" if narrow and mended else "export the model with another dtype there",
            (value.name,),
            target.sources.get("limits.dtypes", ""),
        )


def _external_data(original: Source, target: Target) -> Iterator[Finding]:
    if original.external:
        source = target.sources.get("limits.external_data", "")
        names = ", ".join(original.external)
        yield Finding("external_data", "changed", f"weights are in {names}", "taken into the model", source=source)


def _selection(model: onnx.ModelProto, target: Target) -> Iterator[Finding]:
    """Embedded NMS and the like; whether the graph can end before it is found out by trying."""
    forbidden = target.limits.forbidden_operators
    nodes = tuple(node.name for node in sources.nodes(model.graph) if node.op_type in forbidden)
    if nodes:
        kinds = sorted({node.op_type for node in sources.nodes(model.graph) if node.op_type in forbidden})
        source = target.sources.get("limits.forbidden_operators", "")
        remedy = "the graph ends before it where the runtime can do the rest"
        yield Finding("selection", "changed", f"{', '.join(kinds)} in the graph", remedy, nodes, source)


def _foreign_operators(model: onnx.ModelProto, target: Target) -> Iterator[Finding]:
    nodes = [node for node in sources.nodes(model.graph) if node.domain not in BUILT_IN]
    for domain in sorted({node.domain for node in nodes}):
        kinds = sorted({node.op_type for node in nodes if node.domain == domain})
        yield Finding(
            "operators",
            "blocks",
            f"{', '.join(kinds)} of {domain}: onnxruntime has no such operators by itself",
            "export the model without them",
            tuple(node.name for node in nodes if node.domain == domain),
        )
