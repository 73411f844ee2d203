"""The collapse guard: a quantized model whose scores or boxes say nothing any more must not leave the host.

One scale over boxes (0..640) and scores (0..1) makes every score 0, and nothing warns
(microsoft/onnxruntime#14233, meituan/YOLOv6#969, AMD's yolov8m README).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from edgekit.errors import GateMissed
from edgekit.packaging.probe import Feed
from edgekit.runtime.model import Model

QUANTIZERS = ("QuantizeLinear",)
DYNAMIC = ("DynamicQuantizeLinear", "ConvInteger", "MatMulInteger")
SCORES = "scores"
UNIT = 1.0  # scores are in 0..1
MANY = 100  # values that cannot all be one of two by chance


@dataclass(frozen=True)
class Collapse:
    """A part of the outputs that says nothing."""

    part: str  # scores, boxes, or an output's name
    what: str  # what is seen
    cause: str | None  # the node that does it, if one was found

    def __str__(self) -> str:
        return f"{self.part}: {self.what}{f'; {self.cause}' if self.cause else ''}"


def is_quantized(model: onnx.ModelProto) -> bool:
    """Whether the model was quantized, be it that its activations are as it runs."""
    return any(node.op_type in (*QUANTIZERS, *DYNAMIC) for node in model.graph.node)


def refuse(collapses: Sequence[Collapse]) -> None:
    """Stop where anything has collapsed.

    Raises:
        GateMissed: with the likely cause.
    """
    if collapses:
        raise GateMissed(
            f"the quantized model has collapsed: {'; '.join(str(c) for c in collapses)}",
            hint="package the float model instead; --force packages this one",
        )


def find(model: onnx.ModelProto, runnable: Model, feeds: Iterable[Feed]) -> list[Collapse]:
    """The parts of the outputs that have collapsed: the same over all inputs, or no number."""
    seen: dict[str, list[NDArray[Any]]] = {}
    for feed in feeds:
        for name, values in runnable.parts(runnable.raw(feed)).items():
            seen.setdefault(name, []).append(np.asarray(values, np.float32))
    out = []
    for name, arrays in seen.items():
        what = _collapsed(name, arrays)
        if what:
            out.append(Collapse(name, what, _cause(model) if name == SCORES else None))
    return out


def _collapsed(name: str, arrays: Sequence[NDArray[np.float32]]) -> str | None:
    """What is wrong with one part, in words."""
    values = np.concatenate([a.ravel() for a in arrays])
    if not values.size or name == "labels":  # labels may well agree
        return None
    if np.isnan(values).any():
        return f"{np.isnan(values).mean():.0%} of the values are not a number"
    distinct = np.unique(values)
    if distinct.size == 1:
        return f"every value is {values[0]:g}"
    if distinct.size == 2 and values.size >= MANY:
        return f"every value is {distinct[0]:g} or {distinct[1]:g}"
    return None


def _cause(model: onnx.ModelProto) -> str | None:
    """The quantizer nearest to the outputs whose step is too coarse for a score."""
    constants = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    for node in _upstream(model.graph):
        if node.op_type not in QUANTIZERS or node.input[1] not in constants:
            continue
        step = float(np.max(constants[node.input[1]]))
        if step >= UNIT / 2:
            merged = _merging(model.graph, node)
            shared = f", which boxes and scores share behind {merged}" if merged else ""
            name = node.name or node.output[0]
            return f"{name} has a step of {step:.3g}{shared}: a score below {step / 2:.2g} becomes 0"
    return None


def _upstream(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Nodes from the outputs backwards, nearest first."""
    producers = _producers(graph)
    queue = deque(o.name for o in graph.output)
    visited: set[str] = set()
    while queue:
        node = producers.get(queue.popleft())
        if node is None or node.output[0] in visited:
            continue
        visited.add(node.output[0])
        yield node
        queue.extend(node.input)


def _merging(graph: onnx.GraphProto, quantizer: onnx.NodeProto) -> str | None:
    """The Concat whose result this quantizer takes, through nodes that keep values."""
    producers = _producers(graph)
    node = producers.get(quantizer.input[0])
    while node is not None and node.op_type in ("Reshape", "Transpose", "DequantizeLinear", "QuantizeLinear"):
        node = producers.get(node.input[0])
    return (node.name or node.output[0]) if node is not None and node.op_type == "Concat" else None


def _producers(graph: onnx.GraphProto) -> Mapping[str, onnx.NodeProto]:
    return {output: node for node in graph.node for output in node.output}
