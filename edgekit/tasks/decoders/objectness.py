"""Rows of box, objectness and class scores: the layout that yolov5 and yolox share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, mismatch, only_output
from edgekit.tasks.predictions import Settings
from edgekit.tasks.selection import strongest


def rows_of(decoder: str, expects: str, outputs: Outputs) -> NDArray[np.float32]:
    """The single output (B, N, 5 + C).

    Raises:
        ModelError: the outputs are others.
    """
    batch = only_output(decoder, expects, outputs, ndim=3)
    if batch.shape[2] < 6:
        raise mismatch(decoder, expects, outputs)
    return batch


def parts_of(batch: NDArray[np.float32]) -> Mapping[str, NDArray[Any]]:
    """Boxes (B, N, 4) and scores (B, N, 1 + C), objectness first."""
    return {"boxes": batch[:, :, :4], "scores": batch[:, :, 4:]}


def best_rows(
    rows: NDArray[np.float32], settings: Settings
) -> tuple[NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]:
    """The rows good enough for NMS: their indices, scores and class ids, best first.

    A score is objectness times the best class score. Class scores are at most 1, so a row whose objectness alone
    is too low is never looked at again.

    Args:
        rows: (N, 5 + C), objectness in column 4.
    """
    likely = np.flatnonzero(rows[:, 4] >= settings.conf)
    good = rows[likely]
    scores = good[:, 4] * good[:, 5:].max(axis=1)
    best = strongest(scores, settings.conf, settings.max_candidates)
    return likely[best], scores[best], good[best, 5:].argmax(axis=1)
