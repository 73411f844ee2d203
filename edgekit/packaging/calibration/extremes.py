"""The first pass over the images: how far each tensor goes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import TensorProto, helper

from edgekit.errors import ModelError
from edgekit.packaging.calibration.graph import needed
from edgekit.packaging.passes import copy
from edgekit.packaging.probe import Feed
from edgekit.runtime import failures, session

SUFFIX = "/edgekit_extremes"
# ReduceMin and ReduceMax pass over NaN; a sum does not
MEASURES = {"low": "ReduceMin", "high": "ReduceMax", "sum": "ReduceSum", "size": "Size"}


@dataclass
class Extremes:
    """How far one tensor went, image by image."""

    low: float = math.inf
    high: float = -math.inf
    lows: float = 0.0  # sum over the images of each one's lowest value
    highs: float = 0.0
    images: int = 0  # in which it had any value
    size: int = 0  # the most values that it had in one image

    def add(self, low: float, high: float, size: int) -> None:
        """Take one image into account."""
        self.low, self.high = min(self.low, low), max(self.high, high)
        self.lows += low
        self.highs += high
        self.images += 1
        self.size = max(self.size, size)


def measure(
    model: onnx.ModelProto, tensors: Sequence[str], data: Iterable[Feed], step: Callable[[], None]
) -> dict[str, Extremes]:
    """The extremes of each tensor that ever had a value. Each is reduced inside the graph: numbers come out of it.

    Raises:
        ModelError: a tensor holds NaN or infinity; the message names the first one in the graph.
    """
    opened = session.create(_reduced(model, tensors).SerializeToString(), optimization="basic", name="the model")
    outputs = [f"{tensor}{SUFFIX}/{measure_name}" for tensor in tensors for measure_name in MEASURES]
    seen: dict[str, Extremes] = {}
    for number, feed in enumerate(data, 1):
        found = iter(run(opened, outputs, feed))
        for tensor in tensors:
            low, high, total, size = (float(next(found)) for _ in MEASURES)
            if size == 0:
                continue
            if math.isnan(total) or math.isinf(low) or math.isinf(high):
                raise ModelError(f"tensor {tensor}{_maker(model, tensor)} is NaN or infinite on image {number}")
            seen.setdefault(tensor, Extremes()).add(low, high, int(size))
        step()
    return seen


def run(opened: Any, outputs: Sequence[str], feed: Feed) -> list[Any]:
    """What a session gives; the feed may hold more than it takes, such as an input of a tail that was cut off."""
    inputs = {spec.name for spec in opened.get_inputs()}
    try:
        return list(opened.run(outputs, {name: value for name, value in feed.items() if name in inputs}))
    except Exception as e:  # onnxruntime raises plain ones
        raise failures.explain_run(e, "the model") from e


def _reduced(model: onnx.ModelProto, tensors: Sequence[str]) -> onnx.ModelProto:
    """The model with the measures of these tensors as its only outputs."""
    out = copy(model)
    kept = needed(model.graph.node, tensors)
    del out.graph.node[:], out.graph.output[:]
    out.graph.node.extend(kept)
    # onnxruntime walks back from the last node: so a tensor is measured as soon as it is there, and let go
    for tensor in reversed(tensors):
        for measure_name, operator in MEASURES.items():
            name = f"{tensor}{SUFFIX}/{measure_name}"
            options = {} if operator == "Size" else {"keepdims": 0}  # without axes: over all, in every opset
            out.graph.node.append(helper.make_node(operator, [tensor], [name], **options))
            kind = TensorProto.INT64 if operator == "Size" else TensorProto.FLOAT
            out.graph.output.append(helper.make_tensor_value_info(name, kind, []))
    return out


def _maker(model: onnx.ModelProto, tensor: str) -> str:
    return next((f" (made by {node.op_type})" for node in model.graph.node if tensor in node.output), "")
