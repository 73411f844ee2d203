"""detr: labels, boxes and scores in outputs of their own. RT-DETR, D-FINE and DEIM as their exporters write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.predictions import Prediction, Settings
from edgekit.tasks.selection import filtered

EXPECTS = "labels (batch, queries) int, boxes (batch, queries, 4), scores (batch, queries), so named or so typed"
NAMES = ("labels", "boxes", "scores")


@dataclass(frozen=True)
class Detr:
    """labels (B, Q), boxes (B, Q, 4) x1 y1 x2 y2, scores (B, Q).

    Such a model scales its boxes to the input `orig_target_sizes`. Given the model's own input size there, they
    are in input pixels.
    """

    name: ClassVar[str] = "detr"
    task: ClassVar[str] = "detect"

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Detr:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls()

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Two outputs (B, Q) and one (B, Q, 4), in any order; the number of classes does not show."""
        ordered = sorted(shapes.values(), key=len)
        return len(ordered) == 3 and len(ordered[0]) == 2 and ordered == [ordered[0], ordered[0], (*ordered[0], 4)]

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """Not in the shapes."""
        return None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: labels, boxes and scores, by name, else by shape and dtype.

        Raises:
            ModelError: the outputs are others, or labels and scores cannot be told apart.
        """
        if len(outputs) != 3:
            raise mismatch(self.name, EXPECTS, outputs)
        if all(name in outputs for name in NAMES):
            labels, boxes, scores = (outputs[name] for name in NAMES)
        else:
            labels, boxes, scores = self._sorted_out(outputs)
        if boxes.ndim != 3 or boxes.shape[2] != 4 or not labels.shape == scores.shape == boxes.shape[:2]:
            raise mismatch(self.name, EXPECTS, outputs)
        return {"labels": labels, "boxes": boxes, "scores": scores}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. No NMS: `settings.iou` and `class_agnostic` have no effect."""
        parts = self.parts(outputs)
        boxes, scores = (parts[name].astype(np.float32, copy=False) for name in ("boxes", "scores"))
        return [filtered(*image, settings) for image in zip(boxes, scores, parts["labels"], strict=True)]

    def _sorted_out(self, outputs: Outputs) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        boxes = [array for array in outputs.values() if array.ndim == 3]
        flat = [array for array in outputs.values() if array.ndim == 2]
        labels = [array for array in flat if np.issubdtype(array.dtype, np.integer)]
        scores = [array for array in flat if np.issubdtype(array.dtype, np.floating)]
        if not len(boxes) == len(labels) == len(scores) == 1:
            raise mismatch(self.name, EXPECTS, outputs)
        return labels[0], boxes[0], scores[0]
