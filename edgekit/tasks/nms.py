"""Greedy non-maximum suppression: of boxes that overlap, the best stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.boxes import iou
from edgekit.tasks.predictions import Settings

# candidates compared at once: fewer pay numpy's price per call, more compare boxes that have already lost
BLOCK = 128


def suppress(
    boxes: NDArray[Any],
    scores: NDArray[Any],
    class_ids: NDArray[Any],
    settings: Settings,
    *,
    overlap: Callable[[NDArray[Any], NDArray[Any]], NDArray[np.float64]] = iou,
) -> NDArray[np.int64]:
    """Choose the boxes to keep.

    Law: a kept box overlaps no better kept box of its class by more than `settings.iou`; a dropped one does, or is
    beyond `max_candidates` or `max_detections`, or is not finite. With `class_agnostic`, all boxes are of one class.
    Of equal scores the first counts as the better. `settings.conf` is not looked at.

    Args:
        boxes: (N, 4) float, x1 y1 x2 y2.
        scores: (N,) float.
        class_ids: (N,) int.
        overlap: of every box of the first argument with every box of the second; for others than upright boxes.

    Returns:
        Indices into the arguments, best score first.
    """
    finite = np.flatnonzero(np.isfinite(scores) & np.isfinite(boxes).all(axis=1))
    order = finite[np.argsort(-scores[finite], kind="stable")[: settings.max_candidates]]
    boxes, class_ids = boxes[order], class_ids[order]

    def rivals(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.bool_]:
        close = overlap(boxes[a], boxes[b]) > settings.iou
        return close if settings.class_agnostic else close & (class_ids[a][:, None] == class_ids[b])

    kept = np.zeros(0, np.int64)  # positions in `order`
    for start in range(0, len(order), BLOCK):
        block = np.arange(start, min(start + BLOCK, len(order)))
        if len(kept):
            block = block[~rivals(kept, block).any(axis=0)]
        kept = np.concatenate((kept, block[_undefeated(rivals(block, block))]))
        if len(kept) >= settings.max_detections:
            break
    return order[kept[: settings.max_detections]]


def _undefeated(rivals: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of some boxes, best first, have no rival among the undefeated ones before them."""
    beats = np.triu(rivals, 1)
    standing = np.ones(len(beats), np.bool_)
    for i in np.flatnonzero(beats.any(axis=1)):
        if standing[i]:
            standing[beats[i]] = False
    return standing
