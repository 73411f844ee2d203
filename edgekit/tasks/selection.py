"""Which candidates are good enough, in which order, as what a decoder returns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.nms import suppress
from edgekit.tasks.predictions import Detections, Settings
from edgekit.tasks.tails import Nothing, Tail

Array = NDArray[Any]
_ALONE = Nothing()


def strongest(scores: NDArray[Any], conf: float, limit: int) -> NDArray[np.int64]:
    """Indices of the finite scores of at least `conf`, at most `limit` of them, best first; ties keep their order.

    >>> strongest(np.array([0.5, np.nan, 0.1, 0.9, 0.5]), 0.2, 2)
    array([3, 0])
    """
    good = np.flatnonzero(scores >= conf)  # false for NaN
    good = good[np.isfinite(scores[good])]
    best: NDArray[np.int64] = good[np.argsort(-scores[good], kind="stable")[:limit]]
    return best


def suppressed(
    boxes: Array,
    scores: Array,
    class_ids: Array,
    settings: Settings,
    *,
    tail: Tail = _ALONE,
    extras: Array | None = None,
    companion: Array | None = None,
    centred: bool = False,
) -> Detections:
    """What NMS leaves of candidates that passed `settings.conf`.

    Args:
        boxes: (N, 4), centre and size if `centred`, else corners.
        extras: (N, K), what `tail` reads; a candidate with a value that is not finite is dropped.
        companion: one image's prototypes, where the tail has some.
    """
    extras = np.zeros((len(boxes), 0), np.float32) if extras is None else extras
    shaped = tail.shaped(boxes, extras, centred=centred)
    usable = np.where(np.isfinite(extras).all(axis=1), scores, np.nan)
    kept = suppress(shaped, usable, class_ids, settings, overlap=tail.overlap)
    return tail.attached(shaped[kept], scores[kept], class_ids[kept], extras[kept], companion)


def filtered(
    boxes: Array,
    scores: Array,
    labels: Array,
    settings: Settings,
    *,
    tail: Tail = _ALONE,
    extras: Array | None = None,
    companion: Array | None = None,
) -> Detections:
    """The best of what a model with NMS inside gives; rows with a NaN, or with a negative label, are padding.

    Args:
        boxes: (N, 4), corners.
        scores: (N,).
        labels: (N,) class ids, int or float.
        extras, companion: as for `suppressed`.
    """
    extras = np.zeros((len(boxes), 0), np.float32) if extras is None else extras
    finite = np.isfinite(boxes).all(axis=1) & np.isfinite(extras).all(axis=1) & np.isfinite(labels)
    usable = np.flatnonzero(finite & (labels >= 0))
    kept = usable[strongest(scores[usable], settings.conf, settings.max_detections)]
    shaped = tail.shaped(boxes[kept], extras[kept], centred=False)
    return tail.attached(shaped, scores[kept], np.rint(labels[kept]), extras[kept], companion)
