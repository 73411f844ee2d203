"""What the nodes of a model cost, in multiply-accumulates: what matters of a graph is where its convolutions run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import onnx

from edgekit.packaging.tensors import Tensor

Shape = tuple[int, ...]
Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class Rule:
    """Where a kind of node has its data and its weights, and what it costs.

    The cost is that of the shapes of (data, weights, output). See the definitions at onnx.ai/onnx/operators.
    """

    cost: Callable[[Shape, Shape, Shape], int]
    data: int = 0
    weights: int = 1


def _convolution(data: Shape, weights: Shape, output: Shape) -> int:
    """Weights (M, C/groups, *kernel): each output element sums C/groups * kernel products."""
    return prod(output) * prod(weights[1:])


def _transposed(data: Shape, weights: Shape, output: Shape) -> int:
    """Weights (C, M/groups, *kernel): each input element is spread over M/groups * kernel outputs."""
    return prod(data) * prod(weights[1:])


def _product(data: Shape, weights: Shape, output: Shape) -> int:
    """(..., M, K) by (..., K, N): each output element sums K products."""
    return prod(output) * data[-1]


def _gemm(data: Shape, weights: Shape, output: Shape) -> int:
    """(M, N) from two matrices, either of which may be transposed: K follows from their sizes."""
    return prod(weights) // output[-1] * prod(output)


RULES = {
    "Conv": Rule(_convolution),
    "FusedConv": Rule(_convolution),
    "ConvInteger": Rule(_convolution),
    "QLinearConv": Rule(_convolution, weights=3),
    "DeformConv": Rule(_convolution),
    "ConvTranspose": Rule(_transposed),
    "MatMul": Rule(_product),
    "FusedMatMul": Rule(_product),
    "MatMulInteger": Rule(_product),
    "QLinearMatMul": Rule(_product, weights=3),
    "Gemm": Rule(_gemm),
    "FusedGemm": Rule(_gemm),
    "QGemm": Rule(_gemm, weights=3),
}


def macs(node: onnx.NodeProto, tensors: Tensors) -> int | None:
    """The multiply-accumulates of one node: 0 for one that is not weighted, None where a shape is not known.

    >>> conv = onnx.helper.make_node("Conv", ["x", "w"], ["y"])
    >>> of = lambda *shape: Tensor("float32", shape)
    >>> macs(conv, {"x": of(1, 3, 8, 8), "w": of(16, 3, 3, 3), "y": of(1, 16, 6, 6)})
    15552
    """
    rule = RULES.get(node.op_type)
    if rule is None:
        return 0
    shapes = _fixed([node.input[rule.data], node.input[rule.weights], node.output[0]], tensors)
    return None if shapes is None else rule.cost(*shapes)


def _fixed(names: Sequence[str], tensors: Tensors) -> list[Shape] | None:
    found = [tensors[name].fixed for name in names if name in tensors]
    shapes = [shape for shape in found if shape is not None]
    return shapes if len(shapes) == len(names) else None
