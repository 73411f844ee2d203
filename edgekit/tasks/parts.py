"""Detections that come in outputs of their own: which output is which, by name, then by shape and type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMED = ("boxes", "scores", "labels")
EXTRAS = ("keypoints", "coefficients", "mask_coefficients", "extras")
PROTOTYPES = ("prototypes", "protos", "proto")
COUNT = ("n_valid", "num_detections")


def sorted_out(outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
    """The outputs by meaning: boxes (B, N, 4), scores and labels (B, N), extras (B, N, K), prototypes, count (B, 1).

    None where they are others, or where neither names nor shapes and types tell two of them apart.

    >>> parts = {"a": np.zeros((1, 9), np.int32), "b": np.zeros((1, 9, 4)), "c": np.zeros((1, 9))}
    >>> list(sorted_out(parts))
    ['boxes', 'scores', 'labels']
    """
    found = _by_name(outputs) or _by_shape(outputs)
    return found if found and _consistent(found) else None


def _by_name(outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
    if not all(name in outputs for name in NAMED):
        return None
    found = {name: outputs[name] for name in NAMED}
    for meaning, names in {"extras": EXTRAS, "prototypes": PROTOTYPES, "count": COUNT}.items():
        if name := next((name for name in names if name in outputs), None):
            found[meaning] = outputs[name]
    return found if len(found) == len(outputs) else None


def _by_shape(outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]] | None:
    arrays = list(outputs.values())
    rows = {array.shape[1] for array in arrays if array.ndim == 3}
    if len(rows) != 1:
        return None
    flat = [array for array in arrays if array.ndim == 2 and array.shape[1] in rows]
    kinds = {
        "boxes": [array for array in arrays if array.ndim == 3 and array.shape[2] == 4],
        "scores": [array for array in flat if np.issubdtype(array.dtype, np.floating)],
        "labels": [array for array in flat if np.issubdtype(array.dtype, np.integer)],
        "extras": [array for array in arrays if array.ndim == 3 and array.shape[2] != 4],
        "prototypes": [array for array in arrays if array.ndim == 4],
        "count": [
            array for array in arrays if array.ndim < 3 and array.size == array.shape[0] and array.shape[-1] == 1
        ],
    }
    found = {meaning: same[0] for meaning, same in kinds.items() if len(same) == 1}
    return found if len(found) == len(arrays) and all(name in found for name in NAMED) else None


def _consistent(parts: Mapping[str, NDArray[Any]]) -> bool:
    boxes = parts["boxes"]
    if boxes.ndim != 3 or boxes.shape[2] != 4 or not parts["labels"].shape == parts["scores"].shape == boxes.shape[:2]:
        return False
    extras, prototypes = parts.get("extras"), parts.get("prototypes")
    if extras is not None and (extras.ndim != 3 or extras.shape[:2] != boxes.shape[:2]):
        return False
    return prototypes is None or (prototypes.ndim == 4 and extras is not None)
