"""The tail of a model: what decodes the branches' results, and must stay float when the rest is quantized.

Boxes in pixels and scores in 0..1 meet there. One scale over both makes every score 0 (microsoft/onnxruntime#14233).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
from onnx import numpy_helper

WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
COUNTS = 0.5  # a weight that was once quantized is off by less than that


@dataclass(frozen=True)
class Tail:
    """Where the branches end, and what is behind."""

    ends: tuple[str, ...]  # names of the last weighted node of each branch, in graph order
    nodes: frozenset[str]  # names of the nodes behind them


def find(model: onnx.ModelProto) -> Tail:
    """Walk back from each output to the first weighted nodes; what was passed is the tail.

    A convolution whose weights only count (0, 1, 2, ...: the expectation over a box side's bins, yolov8's DFL) is no
    end: it decodes, and belongs to the tail.

    Requires: unique node names.
    """
    weights = {i.name: i for i in model.graph.initializer}
    producers = {output: node for node in model.graph.node for output in node.output}
    ends: set[str] = set()
    passed: set[str] = set()
    queue = [output.name for output in model.graph.output]
    while queue:
        node = producers.get(queue.pop())
        if node is None or node.name in passed or node.name in ends:
            continue
        if node.op_type in WEIGHTED and len(node.input) > 1 and _learned(weights.get(node.input[1])):
            ends.add(node.name)
            continue
        passed.add(node.name)
        queue.extend(node.input)
    return Tail(tuple(n.name for n in model.graph.node if n.name in ends), frozenset(passed))


def _learned(weight: onnx.TensorProto | None) -> bool:
    """Whether this is a constant weight that was trained, not one that counts."""
    if weight is None:
        return False
    values = numpy_helper.to_array(weight)
    counts = (
        values.shape[0] == 1 and values.size > 1 and np.allclose(values.ravel(), np.arange(values.size), atol=COUNTS)
    )
    return not counts
