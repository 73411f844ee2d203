"""fastestdet: one grid of stride 16, with objectness, box and classes as channels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_output, only_shape
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import strongest, suppressed

EXPECTS = "one output (batch, 5 + classes, rows, columns) on a grid of stride 16"
STRIDE = 16
# exponents of the score, as the zoo's README has them; the author's own utils/tool.py multiplies without
OBJECT, CLASS = 0.6, 0.4


@dataclass(frozen=True)
class FastestDet:
    """(B, 5 + C, H, W): objectness, x, y, width, height, then C scores; objectness and scores already in 0..1.

    The centre is (tanh(x) + column) / W of the width, the size sigmoid(width) of the width; so for y and height. The
    score is objectness**0.6 * class**0.4.
    """

    name: ClassVar[str] = "fastestdet"
    task: ClassVar[str] = "detect"

    size: Size

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> FastestDet:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with a cell for each 16 pixels."""
        shape = only_shape(shapes)
        if shape is None or len(shape) != 4 or shape[1] < 6 or shape[2:] != grid.shape(size, STRIDE):
            return False
        return classes is None or classes == shape[1] - 5

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the channels."""
        shape = only_shape(shapes)
        return shape[1] - 5 if shape and len(shape) == 4 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: raw boxes (B, 4, H, W), scores (B, 1 + C, H, W), objectness first."""
        batch = self._batch(outputs)
        return {"boxes": batch[:, 1:5], "scores": np.concatenate((batch[:, :1], batch[:, 5:]), axis=1)}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. A cell counts for its best class only."""
        corners, _ = grid.cells(self.size, (STRIDE,))
        batch = self._batch(outputs)
        return [self._decode(image.reshape(image.shape[0], -1), corners, settings) for image in batch]

    def _batch(self, outputs: Outputs) -> NDArray[np.float32]:
        batch = only_output(self.name, EXPECTS, outputs, ndim=4)
        if batch.shape[1] < 6 or batch.shape[2:] != grid.shape(self.size, STRIDE):
            raise mismatch(self.name, EXPECTS, outputs)
        return batch

    def _decode(self, columns: NDArray[np.float32], corners: NDArray[np.float32], settings: Settings) -> Detections:
        scores = columns[0] ** OBJECT * columns[5:].max(axis=0) ** CLASS
        best = strongest(scores, settings.conf, settings.max_candidates)
        good = columns[:, best]
        height, width = self.size
        image = np.array([width, height], np.float32)
        centres = (np.tanh(good[1:3].T) + corners[best]) * (
            image / np.array(grid.shape(self.size, STRIDE)[::-1], np.float32)
        )
        sizes = image / (1 + np.exp(-good[3:5].T))
        boxes = xywh_to_xyxy(np.concatenate((centres, sizes), axis=1))
        return suppressed(boxes, scores[best], good[5:].argmax(axis=0), settings)
