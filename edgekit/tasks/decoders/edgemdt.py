"""edgemdt: finished detections in outputs of their own, as Sony's EdgeMDT NMS gives them; Ultralytics' imx exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders import tailed
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, mismatch
from edgekit.tasks.parts import NAMED, sorted_out
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import filtered
from edgekit.tasks.tails import Coefficients, Keypoints, Nothing, Tail


@dataclass(frozen=True)
class EdgeMdt:
    """boxes (B, N, 4) x1 y1 x2 y2 in input pixels, scores (B, N), labels (B, N), and how many rows count (B, 1).

    They are told apart by name, else by shape and type, never by their order.
    """

    name: ClassVar[str] = "edgemdt"
    task: ClassVar[str] = "detect"
    kind: ClassVar[type[Tail]] = Nothing
    expects: ClassVar[str] = "boxes (batch, N, 4), scores (batch, N), labels (batch, N) int and a count (batch, 1)"
    wanted: ClassVar[frozenset[str]] = frozenset({*NAMED, "count"})

    tail: Tail = field(default_factory=Nothing)

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> EdgeMdt:
        """See `Decoder.build`. Options: the tail's."""
        return cls(tailed.build(cls.kind, cls.name, options))

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Such outputs; of the types, which are not known here, those that make it possible."""
        integers = (np.float32, np.int32)
        # of outputs of one shape, which is scores and which is labels does not matter here
        seen: dict[tuple[int, ...], int] = {}
        outputs = {}
        for name, shape in shapes.items():
            outputs[name] = np.broadcast_to(np.zeros((), integers[seen.get(shape, 0) % 2]), shape)
            seen[shape] = seen.get(shape, 0) + 1
        parts = sorted_out(outputs)
        return parts is not None and cls._complete(parts)

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """Not in the shapes."""
        return None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes, scores, labels, with a tail `extras` and `prototypes`, maybe `count`."""
        parts = sorted_out(outputs)
        if parts is None or not self._complete(parts):
            raise mismatch(self.name, self.expects, outputs)
        width = self.tail.width(parts["prototypes"].shape if "prototypes" in parts else None)
        if width != (parts["extras"].shape[2] if "extras" in parts else 0):
            raise mismatch(self.name, self.expects, outputs)
        return parts

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. No NMS: `settings.iou` and `class_agnostic` have no effect."""
        parts = self.parts(outputs)
        return [
            self._decode({name: part[i] for name, part in parts.items()}, settings) for i in range(len(parts["boxes"]))
        ]

    def _decode(self, parts: Mapping[str, NDArray[Any]], settings: Settings) -> Detections:
        rows = slice(int(parts["count"].max(initial=0)) if "count" in parts else None)
        boxes, scores = (parts[name][rows].astype(np.float32, copy=False) for name in ("boxes", "scores"))
        extras = parts["extras"][rows].astype(np.float32, copy=False) if "extras" in parts else None
        companion = parts.get("prototypes")
        return filtered(
            boxes, scores, parts["labels"][rows], settings, tail=self.tail, extras=extras, companion=companion
        )

    @classmethod
    def _complete(cls, parts: Mapping[str, NDArray[Any]]) -> bool:
        return cls.wanted <= set(parts) <= cls.wanted | {"count"}


@dataclass(frozen=True)
class EdgeMdtSegment(EdgeMdt):
    """With mask coefficients (B, N, M) and prototypes (B, M, h, w); the count may be missing."""

    name: ClassVar[str] = "edgemdt_segment"
    task: ClassVar[str] = "segment"
    kind: ClassVar[type[Tail]] = Coefficients
    expects: ClassVar[str] = (
        "boxes (batch, N, 4), scores (batch, N), labels (batch, N) int, coefficients (batch, N, M) and prototypes "
        "(batch, M, height, width)"
    )
    wanted: ClassVar[frozenset[str]] = frozenset({*NAMED, "extras", "prototypes"})


@dataclass(frozen=True)
class EdgeMdtPose(EdgeMdt):
    """With keypoints (B, N, the option `kpt_shape` as one); the count may be missing."""

    name: ClassVar[str] = "edgemdt_pose"
    task: ClassVar[str] = "pose"
    kind: ClassVar[type[Tail]] = Keypoints
    expects: ClassVar[str] = "boxes (batch, N, 4), scores (batch, N), labels (batch, N) int and keypoints (batch, N, K)"
    wanted: ClassVar[frozenset[str]] = frozenset({*NAMED, "extras"})

    @classmethod
    def keypoint_values(cls, outputs: Outputs) -> int:
        """How many columns the keypoints have."""
        parts = sorted_out(outputs) or {}
        return parts["extras"].shape[2] if "extras" in parts else 0
