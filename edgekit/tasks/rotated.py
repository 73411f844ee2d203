"""Rotated boxes as arrays: centre x, centre y, width, height, and the angle in radians, clockwise on the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import boxes as upright

_TINY = np.finfo(np.float64).tiny
_CORNERS = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])


def corners(boxes: NDArray[Any]) -> NDArray[np.float64]:
    """The corners, in order around the box.

    Args:
        boxes: (N, 5).

    Returns:
        (N, 4, 2) x y.

    >>> corners(np.array([[10, 20, 4, 2, 0]]))[0].tolist()
    [[8.0, 19.0], [12.0, 19.0], [12.0, 21.0], [8.0, 21.0]]
    """
    boxes = boxes.astype(np.float64)
    along = _CORNERS * boxes[:, None, 2:4]
    cos, sin = np.cos(boxes[:, 4])[:, None], np.sin(boxes[:, 4])[:, None]
    turned = (along[:, :, 0] * cos - along[:, :, 1] * sin, along[:, :, 0] * sin + along[:, :, 1] * cos)
    out: NDArray[np.float64] = np.stack(turned, axis=2) + boxes[:, None, :2]
    return out


def enclosing(boxes: NDArray[Any]) -> NDArray[np.float32]:
    """The smallest upright boxes around (N, 5): (N, 4) x1 y1 x2 y2."""
    points = corners(boxes)
    return np.concatenate((points.min(axis=1), points.max(axis=1)), axis=1).astype(np.float32)


def regular(boxes: NDArray[Any]) -> NDArray[np.float32]:
    """The same boxes (N, 5) with an angle in 0..pi/2: width and height change places where that needs it."""
    out = boxes.astype(np.float64)
    turned = out[:, 4] % np.pi >= np.pi / 2
    out[turned, 2:4] = out[turned, 3:1:-1]
    out[:, 4] %= np.pi / 2
    return out.astype(np.float32)


def iou(a: NDArray[Any], b: NDArray[Any]) -> NDArray[np.float64]:
    """Intersection over union of every box of `a` with every box of `b`, exact to rounding.

    A box without an area overlaps nothing, itself included.

    Args:
        a: (N, 5) finite.
        b: (M, 5), the same.

    Returns:
        (N, M), each in 0..1.
    """
    out = np.zeros((len(a), len(b)))
    near = upright.iou(enclosing(a), enclosing(b)) > 0
    first, second = np.nonzero(near)
    if len(first):
        overlap = _intersection(corners(a)[first], corners(b)[second])
        area_a, area_b = (np.prod(np.maximum(x[:, 2:4].astype(np.float64), 0), axis=1) for x in (a, b))
        union = area_a[first] + area_b[second] - overlap
        flat = (area_a[first] <= 0) | (area_b[second] <= 0)
        out[first, second] = np.where(flat, 0, np.clip(overlap / np.maximum(union, _TINY), 0, 1))
    return out


def _intersection(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """The common area of P pairs of convex quadrilaterals, (P, 4, 2) each.

    Its outline has its corners among those of one that lie in the other, and where edges cross.
    """
    centre = (a.mean(axis=1, keepdims=True) + b.mean(axis=1, keepdims=True)) / 2
    a, b = a - centre, b - centre  # near 0, where floats are finest
    crossings, cross = _crossings(a, b)
    points = np.concatenate((a, b, crossings), axis=1)  # (P, 24, 2)
    good = np.concatenate((_inside(a, b), _inside(b, a), cross), axis=1)
    count = good.sum(axis=1)
    middle = (points * good[:, :, None]).sum(axis=1) / np.maximum(count, 1)[:, None]
    # what is no corner goes to a corner that is one, where it adds no area
    first = np.take_along_axis(points, good.argmax(axis=1)[:, None, None], axis=1)
    around = np.where(good[:, :, None], points, first) - middle[:, None]
    order = np.argsort(np.arctan2(around[:, :, 1], around[:, :, 0]), axis=1)
    outline = np.take_along_axis(around, order[:, :, None], axis=1)
    following = np.roll(outline, -1, axis=1)
    area = (outline[:, :, 0] * following[:, :, 1] - outline[:, :, 1] * following[:, :, 0]).sum(axis=1) / 2
    return np.where(count >= 3, np.abs(area), 0)


def _inside(points: NDArray[np.float64], quad: NDArray[np.float64]) -> NDArray[np.bool_]:
    """(P, 4): which of the points (P, 4, 2) lie in the quadrilateral (P, 4, 2), its outline counted."""
    edges = np.roll(quad, -1, axis=1) - quad
    to = points[:, :, None] - quad[:, None]
    side = edges[:, None, :, 0] * to[..., 1] - edges[:, None, :, 1] * to[..., 0]
    slack = 1e-9 * np.abs(edges).max(axis=(1, 2))[:, None, None] ** 2
    return np.asarray((side >= -slack).all(axis=2) | (side <= slack).all(axis=2))


def _crossings(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(P, 16, 2) where each edge of `a` meets each one of `b`, and (P, 16) whether it does."""
    start, along = a[:, :, None], (np.roll(a, -1, axis=1) - a)[:, :, None]
    other, beside = b[:, None], (np.roll(b, -1, axis=1) - b)[:, None]
    gap = other - start
    parallel = along[..., 0] * beside[..., 1] - along[..., 1] * beside[..., 0]
    safe = np.where(parallel == 0, 1, parallel)
    t = (gap[..., 0] * beside[..., 1] - gap[..., 1] * beside[..., 0]) / safe
    u = (gap[..., 0] * along[..., 1] - gap[..., 1] * along[..., 0]) / safe
    meet = (parallel != 0) & (t >= 0) & (t <= 1) & (u >= 0) & (u <= 1)
    points = start + np.where(meet, t, 0)[..., None] * along
    return points.reshape(len(a), 16, 2), meet.reshape(len(a), 16)
