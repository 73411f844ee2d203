"""Which candidates are good enough, in which order, as what a decoder returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.nms import suppress
from edgekit.tasks.predictions import Detections, Settings


def strongest(scores: NDArray[Any], conf: float, limit: int) -> NDArray[np.int64]:
    """Indices of the finite scores of at least `conf`, at most `limit` of them, best first; ties keep their order.

    >>> strongest(np.array([0.5, np.nan, 0.1, 0.9, 0.5]), 0.2, 2)
    array([3, 0])
    """
    good = np.flatnonzero(scores >= conf)  # false for NaN
    good = good[np.isfinite(scores[good])]
    best: NDArray[np.int64] = good[np.argsort(-scores[good], kind="stable")[:limit]]
    return best


def suppressed(boxes: NDArray[Any], scores: NDArray[Any], class_ids: NDArray[Any], settings: Settings) -> Detections:
    """What NMS leaves of candidates that passed `settings.conf`."""
    kept = suppress(boxes, scores, class_ids, settings)
    return _detections(boxes[kept], scores[kept], class_ids[kept])


def filtered(boxes: NDArray[Any], scores: NDArray[Any], labels: NDArray[Any], settings: Settings) -> Detections:
    """The best of what a model with NMS inside gives; rows with a NaN, or with a negative label, are padding.

    Args:
        boxes: (N, 4) x1 y1 x2 y2.
        scores: (N,).
        labels: (N,) class ids, int or float.
    """
    usable = np.flatnonzero(np.isfinite(boxes).all(axis=1) & np.isfinite(labels) & (labels >= 0))
    kept = usable[strongest(scores[usable], settings.conf, settings.max_detections)]
    return _detections(boxes[kept], scores[kept], np.rint(labels[kept]))


def _detections(boxes: NDArray[Any], scores: NDArray[Any], class_ids: NDArray[Any]) -> Detections:
    return Detections(
        boxes.astype(np.float32, copy=False),
        scores.astype(np.float32, copy=False),
        class_ids.astype(np.int64, copy=False),
    )
