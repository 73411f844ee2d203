"""yolov8: boxes, class scores and a task's extras per anchor. YOLOv8, v9, YOLO11, YOLO12 and their kin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.decoders import tailed
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, mismatch
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import strongest, suppressed
from edgekit.tasks.tails import Angle, Coefficients, Keypoints, Nothing, Tail

# Decoding needs no strides, so heads with a finer grid (P2 models) and with fewer grids (small networks) fit too
HEADS: Sequence[grid.Strides] = (*grid.HEADS, (4, 8, 16, 32), (4, 8, 16), (8, 16), (16, 32), (8,), (16,))


@dataclass(frozen=True)
class YoloV8:
    """(B, 4 + C + E, N): centre x, centre y, width, height in input pixels, then C scores, then the tail's E extras."""

    name: ClassVar[str] = "yolov8"
    task: ClassVar[str] = "detect"
    kind: ClassVar[type[Tail]] = Nothing
    expects: ClassVar[str] = "one output (batch, 4 + classes, anchors)"

    tail: Tail = field(default_factory=Nothing)

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> YoloV8:
        """See `Decoder.build`. Options: the tail's."""
        return cls(tailed.build(cls.kind, cls.name, options))

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """An anchor per cell, for the cells of this size."""
        rows, extras = tailed.rows(cls.kind, shapes), tailed.extras(cls.kind, shapes)
        if rows is None or grid.strides_of(rows[2], size, HEADS) is None:
            return False
        if extras is None:
            return rows[1] > 4 + (classes or 1)
        return rows[1] >= 5 + extras and classes in (None, rows[1] - 4 - extras)

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, where the extras can be counted."""
        rows, extras = tailed.rows(cls.kind, shapes), tailed.extras(cls.kind, shapes)
        return rows[1] - 4 - extras if rows and extras is not None else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, 4, N), scores (B, C, N); `extras` (B, E, N) and `prototypes` with a tail."""
        batch, companion = self._batch(outputs)
        end = batch.shape[1] - self._width(companion)
        parts: dict[str, NDArray[Any]] = {"boxes": batch[:, :4], "scores": batch[:, 4:end]}
        if end < batch.shape[1]:
            parts["extras"] = batch[:, end:]
        return parts if companion is None else {**parts, "prototypes": companion}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. An anchor counts for its best class only."""
        batch, companion = self._batch(outputs)
        companions = [None] * len(batch) if companion is None else companion
        return [self._decode(*image, settings) for image in zip(batch, companions, strict=True)]

    def _decode(self, columns: NDArray[np.float32], companion: NDArray[Any] | None, settings: Settings) -> Detections:
        """The maximum runs along the rows as they lie in memory; only the few good columns are copied."""
        end = len(columns) - self._width(None if companion is None else companion[None])
        scores = columns[4:end].max(axis=0)
        best = strongest(scores, settings.conf, settings.max_candidates)
        good = columns[:, best]
        return suppressed(
            good[:4].T,
            scores[best],
            good[4:end].argmax(axis=0),
            settings,
            tail=self.tail,
            extras=good[end:].T,
            companion=companion,
            centred=True,
        )

    def _width(self, companion: NDArray[Any] | None) -> int:
        width = self.tail.width(None if companion is None else companion.shape)
        assert width is not None
        return width

    def _batch(self, outputs: Outputs) -> tuple[NDArray[np.float32], NDArray[Any] | None]:
        found = tailed.arrays(self.kind, outputs)
        if found is None:
            raise mismatch(self.name, self.expects, outputs)
        batch, companion = found
        if batch.shape[1] < 5 + self._width(companion):
            raise mismatch(self.name, self.expects, outputs)
        return batch, companion


@dataclass(frozen=True)
class YoloV8Segment(YoloV8):
    """The extras are M mask coefficients; a second output holds the prototypes, (B, M, h, w)."""

    name: ClassVar[str] = "yolov8_segment"
    task: ClassVar[str] = "segment"
    kind: ClassVar[type[Tail]] = Coefficients
    expects: ClassVar[str] = "two outputs: (batch, 4 + classes + M, anchors) and prototypes (batch, M, height, width)"


@dataclass(frozen=True)
class YoloV8Pose(YoloV8):
    """The extras are K keypoints of D values, by the option `kpt_shape`."""

    name: ClassVar[str] = "yolov8_pose"
    task: ClassVar[str] = "pose"
    kind: ClassVar[type[Tail]] = Keypoints
    expects: ClassVar[str] = "one output (batch, 4 + classes + the keypoints' values, anchors)"

    @classmethod
    def keypoint_values(cls, outputs: Outputs) -> int:
        """How many columns the classes and the keypoints have."""
        return int(next(iter(outputs.values())).shape[1]) - 4


@dataclass(frozen=True)
class YoloV8Obb(YoloV8):
    """The extra is the angle; width and height are those of the rotated box."""

    name: ClassVar[str] = "yolov8_obb"
    task: ClassVar[str] = "obb"
    kind: ClassVar[type[Tail]] = Angle
    expects: ClassVar[str] = "one output (batch, 4 + classes + 1, anchors)"
