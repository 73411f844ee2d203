"""yolov5: decoded boxes with objectness, three anchors per cell, anchors first. YOLOv5 and YOLOv7."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, only_shape
from edgekit.tasks.decoders.objectness import best_rows, parts_of, rows_of
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import suppressed

EXPECTS = "one output (batch, anchors, 5 + classes)"
ANCHORS = 3  # per cell


@dataclass(frozen=True)
class YoloV5:
    """(B, N, 5 + C): centre x, centre y, width, height in input pixels, objectness, then C scores."""

    name: ClassVar[str] = "yolov5"
    task: ClassVar[str] = "detect"

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> YoloV5:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls()

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with three rows per cell of this size."""
        shape = only_shape(shapes)
        if shape is None or len(shape) != 3 or shape[2] < 6 or shape[1] % ANCHORS:
            return False
        if grid.strides_of(shape[1] // ANCHORS, size) is None:
            return False
        return classes is None or classes == shape[2] - 5

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the last dimension."""
        shape = only_shape(shapes)
        return shape[2] - 5 if shape and len(shape) == 3 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, N, 4), scores (B, N, 1 + C), objectness first."""
        return parts_of(rows_of(self.name, EXPECTS, outputs))

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. An anchor counts for its best class only."""
        return [_decode(rows, settings) for rows in rows_of(self.name, EXPECTS, outputs)]


def _decode(rows: NDArray[np.float32], settings: Settings) -> Detections:
    best, scores, class_ids = best_rows(rows, settings)
    return suppressed(xywh_to_xyxy(rows[best, :4]), scores, class_ids, settings)
