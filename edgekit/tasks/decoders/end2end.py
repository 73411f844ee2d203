"""end2end: finished detections, NMS already inside. YOLOv10, YOLO26, and Ultralytics exports with nms=True."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders import tailed
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, mismatch
from edgekit.tasks.predictions import Prediction, Settings
from edgekit.tasks.selection import filtered
from edgekit.tasks.tails import Angle, Coefficients, Keypoints, Nothing, Tail


@dataclass(frozen=True)
class End2End:
    """(B, N, 6 + E): x1 y1 x2 y2 in input pixels, score, class id, E extras."""

    name: ClassVar[str] = "end2end"
    task: ClassVar[str] = "detect"
    kind: ClassVar[type[Tail]] = Nothing
    expects: ClassVar[str] = "one output (batch, detections, 6)"

    tail: Tail = field(default_factory=Nothing)

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> End2End:
        """See `Decoder.build`. Options: the tail's."""
        return cls(tailed.build(cls.kind, cls.name, options))

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """So many columns; neither N nor the number of classes shows."""
        rows, extras = tailed.rows(cls.kind, shapes), tailed.extras(cls.kind, shapes)
        if rows is None:
            return False
        return rows[2] > 7 if extras is None else rows[2] == 6 + extras

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """Not in the shapes."""
        return None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, N, 4), scores and labels (B, N); `extras` and `prototypes` with a tail."""
        batch, companion = self._batch(outputs)
        parts = {"boxes": batch[:, :, :4], "scores": batch[:, :, 4], "labels": batch[:, :, 5]}
        if batch.shape[2] > 6:
            parts["extras"] = batch[:, :, 6:]
        return parts if companion is None else {**parts, "prototypes": companion}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. No NMS: `settings.iou` and `class_agnostic` have no effect."""
        batch, companion = self._batch(outputs)
        companions = [None] * len(batch) if companion is None else companion
        return [
            filtered(
                rows[:, :4], rows[:, 4], rows[:, 5], settings, tail=self.tail, extras=rows[:, 6:], companion=prototypes
            )
            for rows, prototypes in zip(batch, companions, strict=True)
        ]

    def _batch(self, outputs: Outputs) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        found = tailed.arrays(self.kind, outputs)
        if found is None:
            raise mismatch(self.name, self.expects, outputs)
        batch, companion = found
        width = self.tail.width(None if companion is None else companion.shape)
        if width is None or batch.shape[2] != 6 + width:
            raise mismatch(self.name, self.expects, outputs)
        return batch, companion


@dataclass(frozen=True)
class End2EndSegment(End2End):
    """The extras are M mask coefficients; a second output holds the prototypes, (B, M, h, w)."""

    name: ClassVar[str] = "end2end_segment"
    task: ClassVar[str] = "segment"
    kind: ClassVar[type[Tail]] = Coefficients
    expects: ClassVar[str] = "two outputs: (batch, detections, 6 + M) and prototypes (batch, M, height, width)"


@dataclass(frozen=True)
class End2EndPose(End2End):
    """The extras are K keypoints of D values, by the option `kpt_shape`."""

    name: ClassVar[str] = "end2end_pose"
    task: ClassVar[str] = "pose"
    kind: ClassVar[type[Tail]] = Keypoints
    expects: ClassVar[str] = "one output (batch, detections, 6 + the keypoints' values)"

    @classmethod
    def keypoint_values(cls, outputs: Outputs) -> int:
        """How many columns the keypoints have."""
        return int(next(iter(outputs.values())).shape[2]) - 6


@dataclass(frozen=True)
class End2EndObb(End2End):
    """(B, N, 7): centre x, centre y, width, height of the rotated box, score, class id, angle."""

    name: ClassVar[str] = "end2end_obb"
    task: ClassVar[str] = "obb"
    kind: ClassVar[type[Tail]] = Angle
    expects: ClassVar[str] = "one output (batch, detections, 7)"
