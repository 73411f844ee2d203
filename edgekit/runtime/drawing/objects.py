"""Labelled outlines of objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.drawing import labels as text
from edgekit.runtime.drawing import painter as painters
from edgekit.runtime.drawing.colors import color_of


def draw_boxes(
    image: NDArray[np.uint8], boxes: NDArray[Any], labels: Sequence[str], class_ids: Sequence[int] | NDArray[Any]
) -> NDArray[np.uint8]:
    """A copy of a BGR image with labelled boxes, a colour for each class. The first box ends up on top.

    Args:
        boxes: (N, 4) x1 y1 x2 y2.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    painter, width = painters.on(image), text.line_width(image)
    for (x1, y1, x2, y2), class_id in reversed(list(zip(_inside(boxes, image), class_ids, strict=True))):
        painter.rectangle((x1, y1, x2, y2), color_of(int(class_id)), width=width)
    _label(painter, image, _inside(boxes, image), labels, class_ids)
    return painter.picture()


def draw_rotated(
    image: NDArray[np.uint8], corners: NDArray[Any], labels: Sequence[str], class_ids: Sequence[int] | NDArray[Any]
) -> NDArray[np.uint8]:
    """As `draw_boxes`, for rotated boxes.

    Args:
        corners: (N, 4, 2) x y, in order around each box.
    """
    painter, width = painters.on(image), text.line_width(image)
    outlines = np.round(corners).astype(int).tolist()
    for outline, class_id in reversed(list(zip(outlines, class_ids, strict=True))):
        painter.polygon([(x, y) for x, y in outline], color_of(int(class_id)), width=width)
    around = np.concatenate((corners.min(axis=1), corners.max(axis=1)), axis=1)
    _label(painter, image, _inside(around, image), labels, class_ids)
    return painter.picture()


def _label(
    painter: painters.Painter,
    image: NDArray[np.uint8],
    boxes: list[list[int]],
    labels: Sequence[str],
    class_ids: Sequence[int] | NDArray[Any],
) -> None:
    """After all lines, so that none crosses a label."""
    size, shape = text.text_size(image), (image.shape[0], image.shape[1])
    for (left, top, _, _), label, class_id in reversed(list(zip(boxes, labels, class_ids, strict=True))):
        text.draw(painter, (left, top), label, color_of(int(class_id)), size, shape)


def _inside(boxes: NDArray[Any], image: NDArray[np.uint8]) -> list[list[int]]:
    height, width = image.shape[:2]
    corners: list[list[int]] = (
        np.clip(np.round(boxes), 0, (width - 1, height - 1, width - 1, height - 1)).astype(int).tolist()
    )
    return corners
