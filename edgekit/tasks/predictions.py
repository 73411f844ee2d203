"""What a decoder makes of a model's outputs, for one image, in the pixels of the model's input."""

from __future__ import annotations

from dataclasses import dataclass

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
class Detections:
    """Boxes of one image, best score first.

    boxes: (N, 4) float32, x1 y1 x2 y2 in pixels of the model's input.
    scores: (N,) float32 in 0..1.
    class_ids: (N,) int64.
    """

    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int64]

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


Prediction = Detections | Probabilities
