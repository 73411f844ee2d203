"""What a decoder makes of a model's outputs, for one image, in the pixels of the model's input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Settings:
    """Which detections are kept. The defaults are those of Ultralytics' `predict`."""

    conf: float = 0.25  # lowest score kept
    iou: float = 0.7  # NMS drops a box that overlaps a better one by more than this
    max_detections: int = 300
    max_candidates: int = 3000  # best-scored boxes that go into NMS; it is quadratic in them
    class_agnostic: bool = False  # NMS across classes


@dataclass(frozen=True)
class Masks:
    """How the masks of one image's detections are mixed from prototypes; a pixel belongs where the mix is above 0.

    coefficients: (N, M) float32.
    prototypes: (M, h, w), which cover the model's whole input.
    """

    coefficients: NDArray[np.float32]
    prototypes: NDArray[Any]


@dataclass(frozen=True)
class Detections:
    """Boxes of one image, best score first, and what the task has besides.

    boxes: (N, 4) float32, x1 y1 x2 y2 in pixels of the model's input.
    scores: (N,) float32 in 0..1.
    class_ids: (N,) int64.
    keypoints: (N, K, 2 or 3) float32, x y in pixels of the model's input, and how sure each is, in 0..1, where it
        is said.
    rotated: (N, 5) float32, centre x, centre y, width, height, and the angle in radians, clockwise on the picture;
        `boxes` then enclose them.
    masks: for segment.
    """

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int64]
    keypoints: NDArray[np.float32] | None = None
    rotated: NDArray[np.float32] | None = None
    masks: Masks | None = None

    def __len__(self) -> int:
        return len(self.scores)

    @classmethod
    def empty(cls) -> Detections:
        """No objects."""
        return cls(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int64))


@dataclass(frozen=True)
class Probabilities:
    """Class probabilities of one image: (C,) float32, summing to 1."""

    values: NDArray[np.float32]


@dataclass(frozen=True)
class ClassMap:
    """A class for each place of the model's input: ids (h, w), integer, or scores (C, h, w); the highest counts.

    One channel of scores tells class 1 (above 0) from class 0.
    """

    values: NDArray[Any]


@dataclass(frozen=True)
class DepthMap:
    """A distance for each place of the model's input: (h, w) float32, in the model's unit (metres with Ultralytics)."""

    values: NDArray[np.float32]


Prediction = Detections | Probabilities | ClassMap | DepthMap
