"""The tail of a model: what decodes the branches' results, and must stay float when the rest is quantized.

Boxes in pixels and scores in 0..1 meet there. One scale over both makes every score 0 (microsoft/onnxruntime#14233).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit.packaging.blocks import block_of
from edgekit.packaging.graph import Graph

LAYOUT = ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Identity", "QuantizeLinear", "DequantizeLinear")
INDICES = {"TopK": 1, "NonMaxSuppression": 0}  # which output says what was selected
COUNTED = 8  # a trained weight of so many numbers does not count by chance
OFF = 0.25  # of a step: a weight that was once quantized counts no better


@dataclass(frozen=True)
class Tail:
    """Where the branches end, and what is behind."""

    ends: tuple[str, ...]  # names of the last weighted node of each branch, in graph order
    nodes: frozenset[str]  # names of the nodes behind them


def find(model: onnx.ModelProto) -> Tail:
    """Take for the tail every node that an output needs and that no learned node is behind.

    So a Concat, Split or residual Add in front of a convolution never is the tail, whatever else reads it. An end is a
    learned node that the tail reads, itself or its activation, or that is an output.

    Not learned are fixed weights, which decode: an expectation over bins (yolov8's DFL), a change of box coordinates.
    Nor what works on a selection, which a DETR's decoder does: from TopK on, it refines the boxes of a few hundred
    queries, and its features, coordinates and scores go through the same sums and products. All of that is tail:
    deimv2_atto in int8 has mAP .287 so, .261 with the decoder quantized, .306 in float.
    A model without learned nodes is tail throughout.

    Requires: unique node names.
    """
    graph = Graph.of(model)
    needed = graph.before(graph.outputs)
    selected = graph.behind(
        node.output[INDICES[node.op_type]] for node in graph.nodes.values() if node.op_type in INDICES
    )
    learned = [graph.nodes[name] for name in graph.nodes if name in needed - selected and _is_learned(graph, name)]
    body = {node.name for node in learned} | graph.before(tensor for node in learned for tensor in node.input)
    nodes = frozenset(needed - body)
    return Tail(tuple(node.name for node in learned if _ends(graph, node, nodes)), nodes)


def _ends(graph: Graph, node: onnx.NodeProto, tail: frozenset[str]) -> bool:
    block = block_of(graph, node)
    shown = {node.output[0], block.output if block else node.output[0]}
    return any(tensor in graph.outputs or not tail.isdisjoint(graph.consumers.get(tensor, ())) for tensor in shown)


def _is_learned(graph: Graph, name: str) -> bool:
    """Whether a node has constant weights that were trained."""
    node = graph.nodes[name]
    weight = graph.weight(node)
    if weight is None:
        return False
    value = graph.value(weight)
    if value is not None and _changes_coordinates(node, value):
        return False
    return not (value is not None and _outputs(node, value) == 1 and (_counts(value) or _expects(graph, node, weight)))


def _outputs(node: onnx.NodeProto, weight: NDArray[Any]) -> int:
    """How many channels, or features, a weighted node makes."""
    if node.op_type == "Conv" or any(a.name == "transB" and a.i for a in node.attribute):
        return int(weight.shape[0])
    if node.op_type == "ConvTranspose":
        return int(weight.shape[1])
    return int(weight.shape[-1]) if weight.ndim > 1 else 1


def _counts(weight: NDArray[Any]) -> bool:
    """Whether the weights are evenly spaced: 0, 1, 2, ... in yolov8's DFL."""
    values = weight.ravel()
    even = np.linspace(values[0], values[-1], values.size)
    step = abs(even[1] - even[0]) if values.size >= COUNTED else 0
    return bool(step > 0 and np.abs(values - even).max() < OFF * step)


def _expects(graph: Graph, node: onnx.NodeProto, weight: str) -> bool:
    """Whether the node weighs probabilities: an expectation, be it over bins that are not evenly spaced."""
    source = graph.origin(next(t for t in node.input if t != weight), passing=LAYOUT)
    return source is not None and source.op_type == "Softmax"


def _changes_coordinates(node: onnx.NodeProto, weight: NDArray[Any]) -> bool:
    """Whether boxes are multiplied by halves and wholes: centre and size to corners, in exports that end with NMS."""
    matrix = node.op_type in ("MatMul", "Gemm") and weight.shape == (4, 4) and weight.dtype.kind == "f"
    return matrix and not np.any(np.mod(weight, 0.5))
