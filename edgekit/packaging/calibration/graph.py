"""The activations of a graph, and which nodes make them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import onnx
from onnx import TensorProto

from edgekit.errors import ModelError


def activations(model: onnx.ModelProto, wanted: Collection[str] | None) -> list[str]:
    """The float32 tensors to measure, in the order in which they come to be.

    Args:
        wanted: their names; all inputs and node outputs, but no constants, if not given.

    Raises:
        ModelError: one of `wanted` is no float32 tensor of the graph.
    """
    types = types_of(model)
    weights = {i.name for i in model.graph.initializer}  # before IR 4 they are inputs too
    inputs = [i.name for i in model.graph.input if i.name not in weights]
    made = [name for node in model.graph.node if node.op_type != "Constant" for name in node.output]
    known = [name for name in (*inputs, *made) if _is_float(types.get(name))]
    if wanted is None:
        return known
    for name in sorted(set(wanted) - set(known)):
        raise ModelError(f"the model has no float32 activation {name} to calibrate")
    return [name for name in known if name in set(wanted)]


def types_of(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    """The type of each tensor, as far as it can be told."""
    graph = onnx.shape_inference.infer_shapes(model).graph
    return {v.name: v.type for v in (*graph.value_info, *graph.input, *graph.output) if v.type.WhichOneof("value")}


def needed(ordered: Iterable[onnx.NodeProto], names: Iterable[str]) -> list[onnx.NodeProto]:
    """The nodes that have to run to get these tensors: onnxruntime runs all that are there."""
    wanted, kept = set(names), []
    for node in reversed(list(ordered)):
        if not wanted.isdisjoint(node.output):
            wanted.update(uses(node))
            kept.append(node)
    return kept[::-1]


def uses(node: onnx.NodeProto) -> Iterator[str]:
    """The tensors that a node reads; for one with subgraphs, all names in them, those of their own too."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for subgraph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
            yield from (output.name for output in subgraph.output)
            yield from (name for inner in subgraph.node for name in uses(inner))


def _is_float(kind: onnx.TypeProto | None) -> bool:
    return kind is not None and kind.tensor_type.elem_type == TensorProto.FLOAT
