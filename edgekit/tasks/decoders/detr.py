"""detr: labels, boxes and scores in outputs of their own. RT-DETR, D-FINE and DEIM as their exporters write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.parts import NAMED, sorted_out
from edgekit.tasks.predictions import Prediction, Settings
from edgekit.tasks.selection import filtered

EXPECTS = "labels (batch, queries) int, boxes (batch, queries, 4), scores (batch, queries), so named or so typed"


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
        parts = sorted_out(outputs)
        if parts is None or set(parts) != set(NAMED):
            raise mismatch(self.name, EXPECTS, outputs)
        return parts

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. No NMS: `settings.iou` and `class_agnostic` have no effect."""
        parts = self.parts(outputs)
        boxes, scores = (parts[name].astype(np.float32, copy=False) for name in ("boxes", "scores"))
        return [filtered(*image, settings) for image in zip(boxes, scores, parts["labels"], strict=True)]
