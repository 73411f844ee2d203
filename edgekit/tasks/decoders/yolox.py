"""yolox: the raw grid, one anchor per cell, boxes still in units of their cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_shape
from edgekit.tasks.decoders.objectness import best_rows, parts_of, rows_of
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import suppressed


@dataclass(frozen=True)
class YoloX:
    """(B, N, 5 + C): offset x, offset y, log width, log height, then objectness and C scores, both already sigmoid.

    The centre is (offset + cell) * stride, the size exp(log size) * stride.
    """

    name: ClassVar[str] = "yolox"
    task: ClassVar[str] = "detect"

    size: Size

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> YoloX:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with a row per cell of this size."""
        shape = only_shape(shapes)
        if shape is None or len(shape) != 3 or shape[2] < 6 or grid.strides_of(shape[1], size) is None:
            return False
        return classes is None or classes == shape[2] - 5

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the last dimension."""
        shape = only_shape(shapes)
        return shape[2] - 5 if shape and len(shape) == 3 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: raw boxes (B, N, 4), scores (B, N, 1 + C), objectness first."""
        return parts_of(rows_of(self.name, self._expects, outputs))

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. An anchor counts for its best class only."""
        batch = rows_of(self.name, self._expects, outputs)
        strides = grid.strides_of(batch.shape[1], self.size)
        if strides is None:
            raise mismatch(self.name, self._expects, outputs)
        corners, steps = grid.cells(self.size, strides)
        return [_decode(rows, corners, steps, settings) for rows in batch]

    @property
    def _expects(self) -> str:
        return f"one output (batch, cells, 5 + classes) with the cells of a {self.size[0]}x{self.size[1]} input"


def _decode(
    rows: NDArray[np.float32], corners: NDArray[np.float32], steps: NDArray[np.float32], settings: Settings
) -> Detections:
    best, scores, class_ids = best_rows(rows, settings)
    raw, corners, steps = rows[best, :4], corners[best], steps[best]
    boxes = np.concatenate(((raw[:, :2] + corners) * steps, np.exp(raw[:, 2:]) * steps), axis=1)
    return suppressed(xywh_to_xyxy(boxes), scores, class_ids, settings)
