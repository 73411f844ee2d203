"""Blocks: a weighted node and its activation, which are quantized together or stay float together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx

from edgekit.packaging.tail import WEIGHTED

SIMPLE = ("Relu", "Clip", "LeakyRelu", "PRelu", "HardSwish", "Sigmoid", "Tanh", "Elu")
GATES = ("Sigmoid", "HardSigmoid")  # x * gate(x): SiLU, and HardSwish in two nodes


@dataclass(frozen=True)
class Block:
    """One layer, as a quantizer sees it."""

    name: str  # that of its weighted node
    nodes: tuple[str, ...]  # that node, its normalization and its activation
    input: str
    output: str  # what the next layer reads


def find(model: onnx.ModelProto) -> list[Block]:
    """All blocks with constant weights, in graph order.

    Requires: unique node names.
    """
    weights = {i.name for i in model.graph.initializer}
    readers: dict[str, list[onnx.NodeProto]] = {}
    for node in model.graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = {o.name for o in model.graph.output}
    return [
        _block(node, readers, outputs)
        for node in model.graph.node
        if node.op_type in WEIGHTED and len(node.input) > 1 and node.input[1] in weights
    ]


def _block(node: onnx.NodeProto, readers: Mapping[str, Sequence[onnx.NodeProto]], outputs: set[str]) -> Block:
    nodes, tensor = [node.name], node.output[0]
    while tensor not in outputs:
        further = _continuation(tensor, readers.get(tensor, ()))
        if further is None:
            break
        nodes += [n.name for n in further]
        tensor = further[-1].output[0]
        if further[-1].op_type != "BatchNormalization":
            break
    return Block(node.name, tuple(nodes), node.input[0], tensor)


def _continuation(tensor: str, following: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto] | None:
    """What comes behind and belongs to the block: a normalization, an activation, or a gate and its product."""
    if len(following) == 1 and following[0].op_type in (*SIMPLE, "BatchNormalization"):
        return list(following)
    if len(following) == 2:
        gate = next((n for n in following if n.op_type in GATES), None)
        product = next((n for n in following if n.op_type == "Mul"), None)
        if gate and product and set(product.input) == {tensor, gate.output[0]}:
            return [gate, product]
    return None
