"""end2end: finished detections, NMS already inside. YOLOv10, YOLO26, and Ultralytics exports with nms=True."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_output, only_shape
from edgekit.tasks.predictions import Prediction, Settings
from edgekit.tasks.selection import filtered

EXPECTS = "one output (batch, detections, 6)"


@dataclass(frozen=True)
class End2End:
    """(B, N, 6): x1 y1 x2 y2 in input pixels, score, class id."""

    name: ClassVar[str] = "end2end"
    task: ClassVar[str] = "detect"

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> End2End:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls()

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with six columns; neither N nor the number of classes shows."""
        shape = only_shape(shapes)
        return shape is not None and len(shape) == 3 and shape[2] == 6

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """Not in the shapes."""
        return None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, N, 4), scores and labels (B, N)."""
        batch = self._batch(outputs)
        return {"boxes": batch[:, :, :4], "scores": batch[:, :, 4], "labels": batch[:, :, 5]}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. No NMS: `settings.iou` and `class_agnostic` have no effect."""
        return [filtered(rows[:, :4], rows[:, 4], rows[:, 5], settings) for rows in self._batch(outputs)]

    def _batch(self, outputs: Outputs) -> NDArray[np.float32]:
        batch = only_output(self.name, EXPECTS, outputs, ndim=3)
        if batch.shape[2] != 6:
            raise mismatch(self.name, EXPECTS, outputs)
        return batch
