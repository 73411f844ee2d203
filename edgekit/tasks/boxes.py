"""Boxes as arrays: conversion and overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_TINY = np.finfo(np.float64).tiny  # a union of 0 has an intersection of 0: the quotient is then 0, not NaN


def xywh_to_xyxy(boxes: NDArray[Any]) -> NDArray[Any]:
    """Corners from centre and size.

    Args:
        boxes: (N, 4) float, centre x, centre y, width, height.

    Returns:
        (N, 4) x1 y1 x2 y2, in the dtype of `boxes`.
    """
    half = boxes[:, 2:] / 2
    return np.concatenate((boxes[:, :2] - half, boxes[:, :2] + half), axis=1)


def iou(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Intersection over union of every box of `a` with every box of `b`.

    Computed in float64, where the area of a float32 box neither overflows nor vanishes. A box without an area
    (zero or negative width or height) overlaps nothing, itself included.

    Args:
        a: (N, 4) finite, x1 y1 x2 y2.
        b: (M, 4), the same.

    Returns:
        (N, M), each in 0..1.
    """
    ax1, ay1, ax2, ay2 = a.T.astype(np.float64)[:, :, None]
    bx1, by1, bx2, by2 = b.T.astype(np.float64)
    width = np.minimum(ax2, bx2) - np.maximum(ax1, bx1)
    height = np.minimum(ay2, by2) - np.maximum(ay1, by1)
    overlap = np.maximum(width, 0) * np.maximum(height, 0)
    area_a = np.maximum(ax2 - ax1, 0) * np.maximum(ay2 - ay1, 0)
    area_b = np.maximum(bx2 - bx1, 0) * np.maximum(by2 - by1, 0)
    union = area_a + area_b - overlap
    ratio: NDArray[np.float64] = overlap / np.maximum(union, _TINY)
    return ratio
