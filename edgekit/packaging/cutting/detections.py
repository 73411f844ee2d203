"""Finished detections: read from a model that ends with a selection, and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks.boxes import iou
from edgekit.tasks.decoders.decoder import Decoder
from edgekit.tasks.decoders.detr import Detr
from edgekit.tasks.decoders.end2end import End2End
from edgekit.tasks.predictions import Detections, Settings

OVERLAP = 0.99  # the least IoU of two boxes that are the same
SCORE = 1e-3  # by so much the scores of the same object may differ
READERS: tuple[type[Decoder], ...] = (End2End, Detr)


def finished(outputs: Mapping[str, NDArray[Any]], settings: Settings) -> list[Detections] | None:
    """What a model with its selection inside gives, for each image; None where no decoder reads it.

    Outputs without a batch, as torchvision's exports have them, count as a batch of one.
    """
    if all(array.ndim <= 2 for array in outputs.values()):
        outputs = {name: array[None] for name, array in outputs.items()}
    shapes = {name: array.shape for name, array in outputs.items()}
    for reader in READERS:
        if reader.fits(shapes, (0, 0)):
            try:
                return cast(list[Detections], reader.build((0, 0), {})(outputs, settings))
            except ModelError:  # labels and scores that cannot be told apart
                return None
    return None


def strays(a: Detections, b: Detections, slack: float = 0.0) -> tuple[Detections, Detections]:
    """The objects of each that the other does not have: same class, IoU of 0.99 or more, score within 0.001.

    Args:
        slack: boxes whose corners are within so many pixels are the same too, even without an area.
    """
    close = np.abs(a.scores[:, None] - b.scores) <= SCORE
    close &= a.class_ids[:, None] == b.class_ids
    near = np.abs(a.boxes[:, None] - b.boxes).max(axis=2, initial=0) <= slack if slack else np.False_
    close &= (iou(a.boxes, b.boxes) >= OVERLAP) | near
    partners: dict[int, int] = {}
    for i, row in enumerate(close):
        free = [j for j in np.flatnonzero(row).tolist() if j not in partners.values()]
        if free:
            partners[i] = free[0]
    return _without(a, set(partners)), _without(b, set(partners.values()))


def _without(detections: Detections, taken: set[int]) -> Detections:
    rest = [i for i in range(len(detections)) if i not in taken]
    return Detections(detections.boxes[rest], detections.scores[rest], detections.class_ids[rest])
