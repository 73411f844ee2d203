"""yolov5_heads: YOLOv5 cut at its last convolutions, one output for each stride."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks import grid
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.decoders.objectness import best_rows
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import suppressed

EXPECTS = (
    "for strides 8, 16 and 32 each, (batch, 3 * (5 + classes), rows, columns) or (batch, 3, rows, columns, 5 + classes)"
)
STRIDES = (8, 16, 32)
ANCHORS = 3  # per cell
# widths and heights in input pixels, by stride: ultralytics/yolov5 models/yolov5n.yaml
DEFAULT = (((10, 13), (16, 30), (33, 23)), ((30, 61), (62, 45), (59, 119)), ((116, 90), (156, 198), (373, 326)))


@dataclass(frozen=True)
class YoloV5Heads:
    """Raw heads of 3 anchors a cell: x, y, width, height, objectness, then C scores, all before their sigmoid.

    With s the sigmoid, the centre is (2 * s - 0.5 + cell) * stride, the size (2 * s)**2 * anchor:
    ultralytics/yolov5 models/yolo.py, Detect.
    """

    name: ClassVar[str] = "yolov5_heads"
    task: ClassVar[str] = "detect"

    size: Size
    anchors: tuple[tuple[tuple[float, float], ...], ...] = DEFAULT

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> YoloV5Heads:
        """See `Decoder.build`. `anchors`: for each stride, the finest first, 3 widths and heights in input pixels."""
        check_options(cls.name, options, ["anchors"])
        return cls(size, _anchors(options["anchors"])) if "anchors" in options else cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Three such outputs, in any order."""
        return _heads(shapes, size) is not None and classes in (None, cls.class_count(shapes))

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the channels, or from the last dimension."""
        widths = {shape[4] if len(shape) == 5 else shape[1] // ANCHORS for shape in shapes.values() if len(shape) > 3}
        return next(iter(widths)) - 5 if len(widths) == 1 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: raw boxes (B, N, 4), raw scores (B, N, 1 + C), objectness first, the finest first."""
        rows = np.concatenate(self._rows(outputs), axis=1)
        return {"boxes": rows[:, :, :4], "scores": rows[:, :, 4:]}

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. An anchor counts for its best class only."""
        batch = np.concatenate(self._rows(outputs), axis=1)
        cells = [grid.cells(self.size, (stride,)) for stride in STRIDES]
        # as the rows lie: by stride, by anchor, by cell
        corners = np.concatenate([np.tile(corner, (ANCHORS, 1)) for corner, _ in cells])
        steps = np.concatenate([np.tile(step, (ANCHORS, 1)) for _, step in cells])
        sizes = np.concatenate(
            [np.repeat(np.array(a, np.float32), len(c), axis=0) for a, (c, _) in zip(self.anchors, cells, strict=True)]
        )
        return [_decode(rows, corners, steps, sizes, settings) for rows in batch]

    def _rows(self, outputs: Outputs) -> list[NDArray[np.float32]]:
        """(B, 3 * cells, 5 + C) of each stride."""
        names = _heads({name: array.shape for name, array in outputs.items()}, self.size)
        if names is None:
            raise mismatch(self.name, EXPECTS, outputs)
        return [_as_rows(outputs[name].astype(np.float32, copy=False)) for name in names]


def _as_rows(head: NDArray[np.float32]) -> NDArray[np.float32]:
    if head.ndim == 4:
        batch, channels, height, width = head.shape
        head = head.reshape(batch, ANCHORS, channels // ANCHORS, height, width).transpose(0, 1, 3, 4, 2)
    return head.reshape(head.shape[0], -1, head.shape[4])


def _decode(
    rows: NDArray[np.float32],
    corners: NDArray[np.float32],
    steps: NDArray[np.float32],
    sizes: NDArray[np.float32],
    settings: Settings,
) -> Detections:
    least = np.float32(settings.conf)
    likely = np.flatnonzero(rows[:, 4] >= np.log(least / (1 - least)))  # only these need their sigmoid
    good: NDArray[np.float32] = np.reciprocal(1 + np.exp(-rows[likely]))
    best, scores, class_ids = best_rows(good, settings)
    kept, raw = likely[best], good[best, :4]
    centres = (2 * raw[:, :2] - np.float32(0.5) + corners[kept]) * steps[kept]
    boxes = np.concatenate((centres, (2 * raw[:, 2:]) ** 2 * sizes[kept]), axis=1)
    return suppressed(xywh_to_xyxy(boxes), scores, class_ids, settings)


def _heads(shapes: Shapes, size: Size) -> list[str] | None:
    """The outputs' names by stride, the finest first; None where these are others."""
    found = []
    for stride in STRIDES:
        cells = grid.shape(size, stride)
        found += [name for name, shape in shapes.items() if _is_head(shape, cells)]
    one_each = len(shapes) == len(found) == len(set(found)) == len(STRIDES)
    return found if one_each and YoloV5Heads.class_count(shapes) is not None else None


def _is_head(shape: Sequence[int], cells: tuple[int, int]) -> bool:
    if len(shape) == 4:
        return shape[1] % ANCHORS == 0 and shape[1] >= 6 * ANCHORS and tuple(shape[2:]) == cells
    return len(shape) == 5 and shape[1] == ANCHORS and shape[4] >= 6 and tuple(shape[2:4]) == cells


def _anchors(given: Any) -> tuple[tuple[tuple[float, float], ...], ...]:
    refused = ModelError(
        f"decoder yolov5_heads: anchors are {given!r}, must be 3 widths and heights for each of 3 strides"
    )
    try:
        values = np.array(given, np.float64).reshape(len(STRIDES), ANCHORS, 2)
    except (ValueError, TypeError) as e:
        raise refused from e
    if not np.isfinite(values).all() or (values <= 0).any():
        raise refused
    return tuple(tuple((float(w), float(h)) for w, h in of_stride) for of_stride in values)
