"""What follows the scores of a detection: mask coefficients, keypoints or an angle; and what the task makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks import boxes as upright
from edgekit.tasks import rotated
from edgekit.tasks.predictions import Detections, Masks

Array = NDArray[Any]
Shape = tuple[int, ...]


class Tail(Protocol):
    """Frozen, so one instance serves a model for its lifetime."""

    task: ClassVar[str]
    option: ClassVar[str | None]  # the decoder's option that `build` takes

    @classmethod
    def build(cls, value: Any) -> Tail:
        """The tail of a model; `value` is its option's, None where the package has none.

        Raises:
            ModelError: it is not one.
        """

    def width(self, companion: Shape | None) -> int | None:
        """How many columns it has; None where that is not known. `companion` is the shape of the prototypes."""

    def shaped(self, boxes: Array, extras: Array, *, centred: bool) -> Array:
        """The boxes as NMS compares them.

        Args:
            boxes: (N, 4), centre and size if `centred`, else corners.
            extras: (N, width).
        """

    @staticmethod
    def overlap(a: Array, b: Array) -> NDArray[np.float64]:
        """IoU of each of `a` with each of `b`: boxes as `shaped` gives them, (N, K) and (M, K) to (N, M)."""

    def attached(
        self, boxes: Array, scores: Array, class_ids: Array, extras: Array, companion: Array | None
    ) -> Detections:
        """The detections, of boxes as `shaped` gives them; `companion` is one image's prototypes."""


@dataclass(frozen=True)
class Nothing:
    """detect: boxes alone."""

    task: ClassVar[str] = "detect"
    option: ClassVar[str | None] = None

    @classmethod
    def build(cls, value: Any) -> Nothing:
        """See `Tail.build`."""
        return cls()

    def width(self, companion: Shape | None) -> int | None:
        """See `Tail.width`."""
        return 0

    def shaped(self, boxes: Array, extras: Array, *, centred: bool) -> Array:
        """See `Tail.shaped`: (N, 4) corners."""
        return upright.xywh_to_xyxy(boxes) if centred else boxes

    @staticmethod
    def overlap(a: Array, b: Array) -> NDArray[np.float64]:
        """See `Tail.overlap`."""
        return upright.iou(a, b)

    def attached(
        self, boxes: Array, scores: Array, class_ids: Array, extras: Array, companion: Array | None
    ) -> Detections:
        """See `Tail.attached`."""
        return _detections(boxes, scores, class_ids)


@dataclass(frozen=True)
class Coefficients(Nothing):
    """segment: how much of each prototype a mask takes."""

    task: ClassVar[str] = "segment"

    @classmethod
    def build(cls, value: Any) -> Coefficients:
        """See `Tail.build`."""
        return cls()

    def width(self, companion: Shape | None) -> int | None:
        """See `Tail.width`: as many as there are prototypes."""
        return companion[1] if companion else None

    def attached(
        self, boxes: Array, scores: Array, class_ids: Array, extras: Array, companion: Array | None
    ) -> Detections:
        """See `Tail.attached`."""
        assert companion is not None
        masks = Masks(_float(extras), companion)
        return _detections(boxes, scores, class_ids, masks=masks)


@dataclass(frozen=True)
class Keypoints(Nothing):
    """pose: x, y and, with three values a point, how sure it is."""

    task: ClassVar[str] = "pose"
    option: ClassVar[str | None] = "kpt_shape"

    shape: tuple[int, int]  # points, values of each

    @classmethod
    def build(cls, value: Any) -> Keypoints:
        """See `Tail.build`: `kpt_shape` as Ultralytics has it, such as [17, 3]."""
        whole = isinstance(value, (list, tuple)) and all(isinstance(v, int) and v > 0 for v in value)
        if not whole or len(value) != 2 or value[1] not in (2, 3):
            raise ModelError(
                f"kpt_shape is {value!r}, must be the number of keypoints and of values of each, such as [17, 3]"
            )
        return cls((value[0], value[1]))

    def width(self, companion: Shape | None) -> int | None:
        """See `Tail.width`."""
        return self.shape[0] * self.shape[1]

    def attached(
        self, boxes: Array, scores: Array, class_ids: Array, extras: Array, companion: Array | None
    ) -> Detections:
        """See `Tail.attached`."""
        return _detections(boxes, scores, class_ids, keypoints=_float(extras).reshape(-1, *self.shape))


@dataclass(frozen=True)
class Angle:
    """obb: radians, clockwise on the picture; the box is then centre and size along its own sides."""

    task: ClassVar[str] = "obb"
    option: ClassVar[str | None] = None

    @classmethod
    def build(cls, value: Any) -> Angle:
        """See `Tail.build`."""
        return cls()

    def width(self, companion: Shape | None) -> int | None:
        """See `Tail.width`."""
        return 1

    def shaped(self, boxes: Array, extras: Array, *, centred: bool) -> Array:
        """See `Tail.shaped`: (N, 5). Rotated boxes are always centred."""
        return np.concatenate((boxes, extras), axis=1)

    @staticmethod
    def overlap(a: Array, b: Array) -> NDArray[np.float64]:
        """See `Tail.overlap`."""
        return rotated.iou(a, b)

    def attached(
        self, boxes: Array, scores: Array, class_ids: Array, extras: Array, companion: Array | None
    ) -> Detections:
        """See `Tail.attached`."""
        return _detections(rotated.enclosing(boxes), scores, class_ids, rotated=rotated.regular(boxes))


def _float(values: Array) -> NDArray[np.float32]:
    return values.astype(np.float32, copy=False)


def _detections(boxes: Array, scores: Array, class_ids: Array, **more: Any) -> Detections:
    return Detections(_float(boxes), _float(scores), class_ids.astype(np.int64, copy=False), **more)
