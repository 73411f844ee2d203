"""Concatenation: a model's separate outputs as one array, so that every detector can be read in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError


def concatenate(boxes: NDArray[Any], scores: NDArray[Any], labels: NDArray[Any], *extras: NDArray[Any]) -> NDArray[Any]:
    """Join a model's separate outputs into one array per detection.

    Args:
        boxes: (B, N, 4) float, x1 y1 x2 y2 in input pixels.
        scores: (B, N) float.
        labels: (B, N) int; exact in float32 up to 2**24 classes, in float16 up to 2**11.
        extras: (B, N, K) each: keypoints or mask coefficients.

    Returns:
        (B, N, 6 + sum of K), in the dtype of `boxes`.

    Raises:
        ModelError: B or N differ between the parts, or a part has other dimensions; the message names the output.
    """
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise ModelError(f"concatenation: boxes is {boxes.shape}, must be (batch, detections, 4)")
    if not np.issubdtype(boxes.dtype, np.floating):
        raise ModelError(f"concatenation: boxes is {boxes.dtype}: scores would not survive in it, must be floating")
    rows = boxes.shape[:2]
    for name, part in {"scores": scores, "labels": labels}.items():
        if part.shape != rows:
            raise ModelError(f"concatenation: {name} is {part.shape}, boxes {boxes.shape} ask for {rows}")
    for i, part in enumerate(extras):
        if part.ndim != 3 or part.shape[:2] != rows:
            raise ModelError(f"concatenation: extras[{i}] is {part.shape}, boxes {boxes.shape} ask for {(*rows, 'K')}")
    parts = (boxes, scores[..., None], labels[..., None], *extras)
    return np.concatenate([part.astype(boxes.dtype, copy=False) for part in parts], axis=2)


def concatenated(parts: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """What separate outputs are after concatenation: detect (B, N, 6), pose (B, N, 6 + 3K), segment (B, N, 6 + M).

    Args:
        parts: by meaning, as `edgekit.tasks.parts` sorts them out: boxes, scores, labels, extras, prototypes.

    Returns:
        `detections`, in the dtype of the boxes, and for segment `prototypes` as they came.

    Raises:
        ModelError: as for `concatenate`.
    """
    extras = [parts["extras"]] if "extras" in parts else []
    joined = {"detections": concatenate(parts["boxes"], parts["scores"], parts["labels"], *extras)}
    return {**joined, "prototypes": parts["prototypes"]} if "prototypes" in parts else joined
