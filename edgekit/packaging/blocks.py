"""Blocks: a weighted node and its activation, which are quantized together or stay float together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from edgekit.packaging.graph import Graph

CURVES = (
    *("Relu", "LeakyRelu", "PRelu", "Clip", "Elu", "Selu", "Celu", "ThresholdedRelu", "Softplus", "Softsign"),
    *("Sigmoid", "HardSigmoid", "Tanh", "Erf", "HardSwish", "Swish", "Mish", "Gelu"),
)
ARITHMETIC = ("Add", "Sub", "Mul", "Div", "Pow")
LONGEST = 9  # nodes of an activation: Gelu by Tanh, written out


@dataclass(frozen=True)
class Block:
    """One layer, as a quantizer sees it.

    Law: nothing outside a block reads a tensor inside; `output` is all there is to see.
    """

    name: str  # that of its weighted node
    nodes: tuple[str, ...]  # that node, its normalization or bias, its activation
    input: str
    output: str
    weight: str


def find(model: onnx.ModelProto) -> list[Block]:
    """All blocks with constant weights, in graph order.

    Requires: unique node names.
    """
    graph = Graph.of(model)
    blocks = (block_of(graph, node) for node in graph.nodes.values())
    return [block for block in blocks if block and block.weight in graph.weights]


def block_of(graph: Graph, node: onnx.NodeProto) -> Block | None:
    """The block that begins at a node; None if the node has no constant weight."""
    weight = graph.weight(node)
    if weight is None:
        return None
    nodes, tensor = [node], node.output[0]
    for part in (_affine, _activation):
        further = part(graph, tensor)
        if further:
            nodes += further
            tensor = further[-1].output[0]
    source = next(t for t in node.input if t != weight)
    return Block(node.name, tuple(n.name for n in nodes), source, tensor, weight)


def _affine(graph: Graph, tensor: str) -> list[onnx.NodeProto]:
    """The normalization, or the bias that a MatMul cannot hold."""
    node = _only_reader(graph, tensor)
    if node is None or graph.variables(node) != [tensor]:
        return []
    if node.op_type == "BatchNormalization" or (node.op_type == "Add" and _is_vector(graph, node, tensor)):
        return [node]
    return []


def _activation(graph: Graph, tensor: str) -> list[onnx.NodeProto]:
    """The nodes of the activation: one, or several that fork at `tensor` and come together again (SiLU, GELU, Mish).

    They are taken in graph order, for as long as more than one of their tensors is read outside.
    """
    nodes: list[onnx.NodeProto] = []
    made = [tensor]
    while len(nodes) < LONGEST:
        taken = {node.name for node in nodes}
        still_read = [t for t in made if t in graph.outputs or set(graph.consumers.get(t, ())) - taken]
        if nodes and still_read == [made[-1]] and any(node.op_type in CURVES for node in nodes):
            return nodes + _rescaling(graph, nodes)
        node = _next(graph, still_read, taken)
        if node is None or (not nodes and not _begins(graph, node, tensor)):
            return []
        nodes.append(node)
        made.append(node.output[0])
    return []


def _next(graph: Graph, tensors: Sequence[str], taken: set[str]) -> onnx.NodeProto | None:
    """The next elementwise node that depends on nothing but `tensors`."""
    readers = dict.fromkeys(name for tensor in tensors for name in graph.consumers.get(tensor, ()))
    nodes = (graph.nodes[name] for name in readers if name not in taken)
    return next((n for n in nodes if _is_elementwise(n) and set(graph.variables(n)) <= set(tensors)), None)


def _is_elementwise(node: onnx.NodeProto) -> bool:
    return node.op_type in CURVES or node.op_type in ARITHMETIC


def _begins(graph: Graph, node: onnx.NodeProto, tensor: str) -> bool:
    """Whether an activation can begin so: arithmetic alone is none, unless the tensor is read once more behind it."""
    return node.op_type in CURVES or len(graph.consumers[tensor]) > 1


def _rescaling(graph: Graph, nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """The constant factor that ends an activation written out in several nodes (a GELU's half)."""
    node = _only_reader(graph, nodes[-1].output[0])
    if len(nodes) > 1 and node is not None and node.op_type in ("Mul", "Div"):
        factor = next((graph.value(t) for t in node.input if t in graph.weights), None)
        if factor is not None and factor.size == 1:
            return [node]
    return []


def _only_reader(graph: Graph, tensor: str) -> onnx.NodeProto | None:
    readers = graph.consumers.get(tensor, ())
    return graph.nodes[readers[0]] if len(readers) == 1 and tensor not in graph.outputs else None


def _is_vector(graph: Graph, node: onnx.NodeProto, tensor: str) -> bool:
    """Whether one number per channel is added."""
    added = next((graph.value(t) for t in node.input if t != tensor), None)
    return added is not None and max(added.shape, default=0) == added.size > 1
