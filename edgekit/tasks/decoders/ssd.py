"""ssd: relative boxes, and scores for the background and one class. Detectors whose graph applies its priors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.decoders.scored_boxes import ScoredBoxes
from edgekit.tasks.predictions import Detections, Prediction, Settings

EXPECTS = "boxes (batch, boxes, 4) and scores (batch, boxes, 2), the background first"


@dataclass(frozen=True)
class Ssd:
    """boxes (B, N, 4) x1 y1 x2 y2 in 0..1, scores (B, N, 2) in 0..1, the background first.

    So Ultra-Light-Fast-Generic-Face-Detector gives faces.
    """

    name: ClassVar[str] = "ssd"
    task: ClassVar[str] = "detect"

    boxes: ScoredBoxes

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Ssd:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(ScoredBoxes(size, relative=True, background=0))

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Two such outputs of one class: with more, nothing shows that one of the scores is the background."""
        return ScoredBoxes.class_count(shapes) == 2 and classes in (None, 1)

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """One."""
        return 1

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, N, 4), scores (B, N, 2)."""
        return self.boxes.parts(outputs)

    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`."""
        if not self.fits({name: array.shape for name, array in outputs.items()}, self.boxes.size):
            raise mismatch(self.name, EXPECTS, outputs)
        return [_without_background(found) for found in self.boxes(outputs, settings)]


def _without_background(found: Prediction) -> Prediction:
    assert isinstance(found, Detections)
    return Detections(found.boxes, found.scores, np.asarray(found.class_ids - 1, np.int64))
