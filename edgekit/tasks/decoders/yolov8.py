"""yolov8: boxes and class scores per anchor, anchors last. YOLOv8, v9, YOLO11, YOLO12 and their kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_output, only_shape
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import strongest, suppressed

EXPECTS = "one output (batch, 4 + classes, anchors)"
# Decoding needs no strides, so heads with a finer grid (P2 models) and with fewer grids (small networks) fit too
HEADS: Sequence[grid.Strides] = (*grid.HEADS, (4, 8, 16, 32), (4, 8, 16), (8, 16), (16, 32), (8,), (16,))


@dataclass(frozen=True)
class YoloV8:
    """(B, 4 + C, N): centre x, centre y, width, height in input pixels, then C scores."""

    name: ClassVar[str] = "yolov8"
    task: ClassVar[str] = "detect"

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> YoloV8:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls()

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with an anchor per cell, for the cells of this size."""
        shape = only_shape(shapes)
        if shape is None or len(shape) != 3 or shape[1] < 5 or grid.strides_of(shape[2], size, HEADS) is None:
            return False
        return classes is None or classes == shape[1] - 4

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the second dimension."""
        shape = only_shape(shapes)
        return shape[1] - 4 if shape and len(shape) == 3 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, 4, N), scores (B, C, N)."""
        batch = self._batch(outputs)
        return {"boxes": batch[:, :4], "scores": batch[:, 4:]}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. An anchor counts for its best class only."""
        return [_decode(columns, settings) for columns in self._batch(outputs)]

    def _batch(self, outputs: Outputs) -> NDArray[np.float32]:
        batch = only_output(self.name, EXPECTS, outputs, ndim=3)
        if batch.shape[1] < 5:
            raise mismatch(self.name, EXPECTS, outputs)
        return batch


def _decode(columns: NDArray[np.float32], settings: Settings) -> Detections:
    """The maximum runs along the rows as they lie in memory; only the few good columns are copied."""
    scores = columns[4:].max(axis=0)
    best = strongest(scores, settings.conf, settings.max_candidates)
    good = columns[:, best]
    return suppressed(xywh_to_xyxy(good[:4].T), scores[best], good[4:].argmax(axis=0), settings)
