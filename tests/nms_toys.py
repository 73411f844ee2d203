"""Tails with a selection inside, put behind a detector: made of standard operators, as exporters write them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tests import toys

NO_LIMIT = np.iinfo(np.int64).max


class Tail:
    """Nodes that are added to a copy of a model, behind its only output."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.head = self.graph.output[0].name
        self._numbers = count(len(self.graph.node) + len(self.graph.initializer))

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        name = f"constant_{next(self._numbers)}"
        self.graph.initializer.append(numpy_helper.from_array(np.array(value, dtype), name))
        return name

    def node(self, operator: str, *inputs: str, out: str | None = None, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node; the name of its output, or the names where it has several."""
        stem = out or f"{operator}_{next(self._numbers)}"
        names = [stem] if outputs == 1 else [f"{stem}_{i}" for i in range(outputs)]
        self.graph.node.append(helper.make_node(operator, inputs, names, name=f"tail/{stem}", **attributes))
        return names[0] if outputs == 1 else names

    def reshape(self, tensor: str, *shape: int) -> str:
        return self.node("Reshape", tensor, self.constant(shape))

    def columns(self, tensor: str, start: int, end: int, axis: int = 2) -> str:
        places = (self.constant([number]) for number in (start, end, axis))
        return self.node("Slice", tensor, *places)

    def corners(self, boxes: str) -> str:
        """Corners of (1, N, 4) centres and sizes."""
        half = self.node("Mul", self.columns(boxes, 2, 4), self.constant(0.5, np.float32))
        centre = self.columns(boxes, 0, 2)
        return self.node("Concat", self.node("Sub", centre, half), self.node("Add", centre, half), axis=2)

    def finish(self, **outputs: tuple[int, list[Any]]) -> onnx.ModelProto:
        """The model with these outputs only: element type and shape by name."""
        del self.graph.output[:]
        self.graph.output.extend(helper.make_tensor_value_info(n, e, shape) for n, (e, shape) in outputs.items())
        onnx.checker.check_model(self.model, full_check=True)
        return self.model


def corner_detector() -> onnx.ModelProto:
    """The toy detector with corners for centres and sizes, as Ultralytics' heads have them with nms=True."""
    model = toys.detector()
    low_and_high = [[24, 24, 16, 16], [0, 0, 40, 40]]
    scale, shift = (
        np.array([*four, *[fill] * toys.CLASSES], np.float32) for four, fill in zip(low_and_high, (1, 0), strict=True)
    )
    weight = next(weight for weight in model.graph.initializer if weight.name == "scale")
    weight.CopyFrom(numpy_helper.from_array(scale.reshape(1, -1, 1), "scale"))
    model.graph.initializer.append(numpy_helper.from_array(shift.reshape(1, -1, 1), "shift"))
    model.graph.node[-1].output[0] = "scaled"
    model.graph.node.append(helper.make_node("Add", ["scaled", "shift"], ["output0"], name="shift"))
    return model


def with_nms(
    model: onnx.ModelProto,
    *,
    conf: float = 0.25,
    iou: float = 0.7,
    most: int = 300,
    corners: bool = False,
    agnostic: bool = False,
    objectness: bool = False,
    keep_head: bool = False,
    aside: float | None = None,
) -> onnx.ModelProto:
    """As Ultralytics exports with nms=True: the best class of each box, one NMS over all, (1, `most`, 6) in the end.

    Args:
        corners: the head gives corners, as theirs does then, and not centres and sizes.
        objectness: the head is YOLOv5's: rows, with the objectness in front of the scores.
        keep_head: the head stays an output.
        aside: a number that scores are compared with too, without any effect.
    """
    tail = Tail(model)
    head = onnx.ValueInfoProto()
    head.CopyFrom(tail.graph.output[0])
    rows = tail.head if objectness else tail.node("Transpose", tail.head, perm=[0, 2, 1])
    boxes, scores = tail.columns(rows, 0, 4), tail.columns(rows, 5 if objectness else 4, NO_LIMIT)
    if objectness:
        scores = tail.node("Mul", scores, tail.columns(rows, 4, 5))
    boxes = tail.reshape(boxes if corners else tail.corners(boxes), -1, 4)
    best = tail.reshape(tail.node("ReduceMax", scores, axes=[2], keepdims=0), -1)
    if aside is not None:
        best = tail.node("Where", tail.node("Greater", best, tail.constant(aside, np.float32)), best, best)
    labels = tail.node("Cast", tail.reshape(tail.node("ArgMax", scores, axis=2, keepdims=0), -1), to=TensorProto.FLOAT)
    good = tail.node("NonZero", tail.node("Greater", best, tail.constant(conf, np.float32)))
    good = tail.node("Transpose", good, perm=[1, 0])
    boxes, best, labels = (tail.node("GatherND", tensor, good) for tensor in (boxes, best, labels))
    moved = boxes
    if not agnostic:
        offsets = tail.node("Mul", tail.reshape(labels, -1, 1), tail.constant(1024, np.float32))
        moved = tail.node("Add", boxes, offsets)
    selected = tail.node(
        "NonMaxSuppression",
        tail.reshape(moved, 1, -1, 4),
        tail.reshape(best, 1, 1, -1),
        tail.constant([NO_LIMIT]),
        tail.constant([iou], np.float32),
    )
    kept = tail.reshape(tail.node("Gather", selected, tail.constant([2]), axis=1), -1)
    kept = tail.columns(kept, 0, most, axis=0)
    boxes, best, labels = (tail.node("Gather", tensor, kept, axis=0) for tensor in (boxes, best, labels))
    found = tail.node("Concat", boxes, tail.reshape(best, -1, 1), tail.reshape(labels, -1, 1), axis=1)
    flat = tail.reshape(found, -1)
    missing = tail.node("Sub", tail.constant([most * 6]), tail.node("Shape", flat))
    padded = tail.node("Pad", flat, tail.node("Concat", tail.constant([0]), missing, axis=0))
    tail.node("Reshape", padded, tail.constant([1, most, 6]), out="finished")
    out = tail.finish(finished=(TensorProto.FLOAT, [1, most, 6]))
    if keep_head:
        out.graph.output.append(head)
    return out


def with_nms_per_class(
    model: onnx.ModelProto, *, iou: float = 0.5, score: float = 0.3, per_class: int = NO_LIMIT, centres: bool = False
) -> onnx.ModelProto:
    """NonMaxSuppression over boxes and class scores, each class for itself; boxes, scores and labels without a batch.

    Args:
        centres: NonMaxSuppression reads centres and sizes.
    """
    tail = Tail(model)
    rows = tail.node("Transpose", tail.head, perm=[0, 2, 1])
    centred = tail.columns(rows, 0, 4)
    cornered = tail.corners(centred)
    scores = tail.node("Transpose", tail.columns(rows, 4, NO_LIMIT), perm=[0, 2, 1])
    selected = tail.node(
        "NonMaxSuppression",
        centred if centres else cornered,
        scores,
        tail.constant([per_class]),
        tail.constant([iou], np.float32),
        tail.constant([score], np.float32),
        center_point_box=int(centres),
    )
    labels = tail.node("Gather", selected, tail.constant(1), axis=1, out="labels")
    tail.node("GatherND", scores, selected, out="scores")
    place = tail.node("Gather", selected, tail.constant(2), axis=1)
    tail.node("Gather", tail.reshape(cornered, -1, 4), place, axis=0, out="boxes")
    assert labels == "labels"
    return tail.finish(
        boxes=(TensorProto.FLOAT, [None, 4]), scores=(TensorProto.FLOAT, [None]), labels=(TensorProto.INT64, [None])
    )


def with_background(model: onnx.ModelProto, *, iou: float = 0.5, score: float = 0.3, most: int = 25) -> onnx.ModelProto:
    """As torchvision's SSD ends: no batch, column 0 of the scores is background, the best of all classes are kept."""
    tail = Tail(model)
    rows = tail.node("Transpose", tail.reshape(tail.head, 4 + toys.CLASSES, -1), perm=[1, 0])
    boxes = tail.reshape(tail.corners(tail.reshape(tail.columns(rows, 0, 4, axis=1), 1, -1, 4)), -1, 4)
    scores = tail.columns(rows, 4, NO_LIMIT, axis=1)
    foreground = tail.node("Transpose", tail.columns(scores, 1, NO_LIMIT, axis=1), perm=[1, 0])
    selected = tail.node(
        "NonMaxSuppression",
        tail.reshape(boxes, 1, -1, 4),
        tail.reshape(foreground, 1, toys.CLASSES - 1, -1),
        tail.constant([NO_LIMIT]),
        tail.constant([iou], np.float32),
        tail.constant([score], np.float32),
    )
    pairs = tail.columns(selected, 1, 3, axis=1)
    values = tail.node("GatherND", foreground, pairs)
    limit = tail.node("Min", tail.node("Shape", values), tail.constant([most]))
    tail.graph.node.append(helper.make_node("TopK", [values, limit], ["scores", "order"], name="tail/order"))
    best = tail.columns(tail.node("Gather", pairs, "order", axis=0), 0, most, axis=0)
    label = tail.node("Gather", best, tail.constant(0), axis=1)
    tail.node("Add", label, tail.constant(1), out="labels")
    tail.node("Gather", boxes, tail.node("Gather", best, tail.constant(1), axis=1), axis=0, out="boxes")
    return tail.finish(
        boxes=(TensorProto.FLOAT, [None, 4]), scores=(TensorProto.FLOAT, [None]), labels=(TensorProto.INT64, [None])
    )


def with_best(model: onnx.ModelProto, classes: int = toys.CLASSES, most: int = 20) -> onnx.ModelProto:
    """As a DETR ends: relative boxes brought to the size that a second input gives, TopK over all scores."""
    tail = Tail(model)
    size = helper.make_tensor_value_info("orig_target_sizes", TensorProto.INT64, [1, 2])
    tail.graph.input.append(size)
    rows = tail.node("Transpose", tail.head, perm=[0, 2, 1])
    relative = tail.node("Div", tail.columns(rows, 0, 4), tail.constant(toys.SIZE, np.float32))
    twice = tail.node("Tile", tail.node("Cast", "orig_target_sizes", to=TensorProto.FLOAT), tail.constant([1, 2]))
    boxes = tail.node("Mul", tail.corners(relative), tail.reshape(twice, 1, 1, 4))
    flat = tail.node("Flatten", tail.columns(rows, 4, NO_LIMIT), axis=1)
    tail.graph.node.append(
        helper.make_node("TopK", [flat, tail.constant([most])], ["scores", "places"], name="tail/best", axis=1)
    )
    tail.node("Mod", "places", tail.constant(classes), out="labels")
    place = tail.node(
        "Tile", tail.reshape(tail.node("Div", "places", tail.constant(classes)), 1, -1, 1), tail.constant([1, 1, 4])
    )
    tail.node("GatherElements", boxes, place, axis=1, out="boxes")
    return tail.finish(
        labels=(TensorProto.INT64, [1, most]),
        boxes=(TensorProto.FLOAT, [1, most, 4]),
        scores=(TensorProto.FLOAT, [1, most]),
    )


def with_best_twice(model: onnx.ModelProto, classes: int = toys.CLASSES, most: int = 30) -> onnx.ModelProto:
    """As YOLOv10 and YOLO26 end: TopK of the boxes by their best class, then of all their scores."""
    tail = Tail(model)
    rows = tail.node("Transpose", tail.head, perm=[0, 2, 1])
    boxes, scores = tail.corners(tail.columns(rows, 0, 4)), tail.columns(rows, 4, NO_LIMIT)
    best = tail.node("ReduceMax", scores, axes=[2], keepdims=0)
    _, places = tail.node("TopK", best, tail.constant([most]), outputs=2, axis=1)
    places = tail.reshape(places, 1, most, 1)
    scores = tail.node("GatherElements", scores, tail.node("Tile", places, tail.constant([1, 1, classes])), axis=1)
    values, flat = tail.node("TopK", tail.node("Flatten", scores, axis=1), tail.constant([most]), outputs=2, axis=1)
    labels = tail.node("Cast", tail.node("Mod", flat, tail.constant(classes)), to=TensorProto.FLOAT)
    chosen = tail.reshape(tail.node("Div", flat, tail.constant(classes)), 1, most, 1)
    chosen = tail.node("Tile", tail.node("GatherElements", places, chosen, axis=1), tail.constant([1, 1, 4]))
    boxes = tail.node("GatherElements", boxes, chosen, axis=1)
    parts = boxes, tail.reshape(values, 1, most, 1), tail.reshape(labels, 1, most, 1)
    tail.node("Concat", *parts, axis=2, out="finished")
    return tail.finish(finished=(TensorProto.FLOAT, [1, most, 6]))


def selecting_inside(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model with a TopK in front of its learned layer: the input's highest values in each row, in order."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    image = out.graph.input[0]
    width = image.type.tensor_type.shape.dim[3].dim_value
    for node in out.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = "sorted" if name == image.name else name
    out.graph.initializer.append(numpy_helper.from_array(np.array([width]), "width"))
    select = helper.make_node("TopK", [image.name, "width"], ["sorted", "order"], name="inside", axis=3)
    out.graph.node.insert(0, select)
    return out
