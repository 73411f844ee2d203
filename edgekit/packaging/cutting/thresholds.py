"""The thresholds that a selection has inside the graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from edgekit.packaging import source
from edgekit.packaging.cutting import edgemdt
from edgekit.packaging.cutting.region import NMS
from edgekit.packaging.graph import Graph

COMPARISONS = ("Greater", "GreaterOrEqual", "Less", "LessOrEqual")
UNLIMITED = 2**31  # exporters write the largest int64 for no limit


@dataclass(frozen=True)
class Thresholds:
    """As far as they are there: None where the graph has none."""

    conf: float | None = None
    iou: float | None = None  # None: there is no NMS
    max_detections: int | None = None
    max_per_class: int | None = None

    @classmethod
    def of(cls, graph: Graph, nodes: Collection[str], outputs: Sequence[tuple[int, ...]]) -> list[Thresholds]:
        """Read them from the nodes that go: several where more than one number may be the lowest score.

        Args:
            outputs: the shapes of the outputs that go, as far as they are fixed: (batch, detections, ...).
        """
        gone = [node for name, node in graph.nodes.items() if name in nodes]
        values = _Values(graph, gone)
        every = list(source.nodes(onnx.GraphProto(node=gone)))
        scores = [value for node in every for value in _compared(values, node)]
        overlaps: list[float] = []
        per_class: list[float] = []
        totals = {float(shape[1]) for shape in outputs if len(shape) > 1}
        for node in every:
            if node.op_type == NMS:
                overlaps.append(values.number(node, 3) or 0.0)
                scores += [value for value in [values.number(node, 4)] if value]
                per_class += [value for value in [values.number(node, 2)] if value and value < UNLIMITED]
            elif edgemdt.is_nms(node):
                found = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
                overlaps.append(_short(found["iou_threshold"]))
                scores.append(_short(found["score_threshold"]))
                totals.add(float(found["max_detections"]))
        if not totals:
            totals = set(_first_ones(graph, values, gone))
        return [
            cls(
                conf=conf,
                iou=min(overlaps, default=None),
                max_detections=int(min(totals)) if totals else None,
                max_per_class=int(min(per_class)) if per_class else None,
            )
            for conf in (*sorted(set(scores), reverse=True), None)
        ]

    def postprocess(self) -> dict[str, Any]:
        """The ones that a runtime applies, as defaults of `tasks.predictions.Settings`."""
        found = {"conf": self.conf, "iou": self.iou, "max_detections": self.max_detections}
        return {name: value for name, value in found.items() if value is not None}


class _Values:
    """The constants that some nodes read, those of their subgraphs included."""

    def __init__(self, graph: Graph, nodes: Sequence[onnx.NodeProto]) -> None:
        self.graph = graph
        self.inner: Mapping[str, NDArray[Any]] = dict(_held(nodes))

    def of(self, node: onnx.NodeProto, place: int) -> NDArray[Any] | None:
        """What an input is; None where it is no constant, or absent."""
        tensor = node.input[place] if place < len(node.input) else ""
        if tensor in self.inner:
            return self.inner[tensor]
        return self.graph.value(tensor) if tensor in self.graph.constants else None

    def number(self, node: onnx.NodeProto, place: int) -> float | None:
        """The single number that an input is."""
        value = self.of(node, place)
        return _short(value.item()) if value is not None and value.size == 1 else None


def _held(nodes: Sequence[onnx.NodeProto]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The constants inside subgraphs."""
    for node in nodes:
        for graph in (attribute.g for attribute in node.attribute if attribute.HasField("g")):
            yield from ((weight.name, numpy_helper.to_array(weight)) for weight in graph.initializer)
            for inner in graph.node:
                if inner.op_type == "Constant" and inner.attribute[0].name == "value":
                    yield inner.output[0], numpy_helper.to_array(inner.attribute[0].t)
            yield from _held(list(graph.node))


def _compared(values: _Values, node: onnx.NodeProto) -> Iterator[float]:
    """What a score is compared with: a constant between 0 and 1."""
    if node.op_type in COMPARISONS:
        found = [values.number(node, place) for place in range(2)]
        if None in found:  # two constants compare no score
            yield from (value for value in found if value is not None and 0 < value < 1)


def _first_ones(graph: Graph, values: _Values, nodes: Sequence[onnx.NodeProto]) -> Iterator[float]:
    """How many of the selected indices are taken: slices from the first one on, behind the NMS."""
    behind = graph.behind(
        tensor
        for node in nodes
        for one in source.nodes(onnx.GraphProto(node=[node]))
        if one.op_type == NMS
        for tensor in node.output
    )
    for node in nodes:
        if node.op_type == "Slice" and node.name in behind and len(node.input) > 2:
            start, end, axis = (values.number(node, place) for place in (1, 2, 3))
            if start == 0 and end is not None and 1 < end < UNLIMITED and axis in (None, 0):
                yield end


def _short(value: Any) -> float:
    """As it was written: 0.7, not 0.699999988."""
    return float(value) if isinstance(value, int) else float(str(np.float32(value)))
