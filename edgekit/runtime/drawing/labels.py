"""Text on a picture, as large as suits it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.drawing.colors import Color, text_color_on
from edgekit.runtime.drawing.painter import Painter

SMALLEST = 9  # pixels; below, letters run together


def draw(
    painter: Painter, corner: tuple[int, int], label: str, color: Color, size: int, image: tuple[int, int]
) -> None:
    """Above a box's top left corner; inside where there is no room above; never across the picture's border."""
    height, width = image
    margin = max(2, size // 4)
    tall = size + 2 * margin
    text = fitted(painter, label, size, width - 2 * margin)
    if not text or tall > height:
        return
    wide = painter.text_width(text, size) + 2 * margin
    left = max(0, min(corner[0] - _line_width_of(size) // 2, width - wide))
    top = corner[1] - tall if corner[1] >= tall else min(corner[1], height - tall)
    painter.rectangle((left, top, left + wide - 1, top + tall - 1), color, width=-1)
    painter.text((left + margin, top + margin), text, text_color_on(color), size)


def fitted(painter: Painter, text: str, size: int, width: int) -> str:
    """The text in one line, or as much of its start as fits; empty where that is less than three letters."""
    text = "".join(c if c.isprintable() else " " for c in text)
    if painter.text_width(text, size) <= width:
        return text
    for end in range(len(text) - 1, 2, -1):
        if painter.text_width(text[:end] + "..", size) <= width:
            return text[:end] + ".."
    return ""


def text_size(image: NDArray[np.uint8]) -> int:
    """Pixels from the line above to the line below."""
    return max(SMALLEST + 2, round(0.02 * math.sqrt(image.shape[0] * image.shape[1])))


def line_width(image: NDArray[np.uint8]) -> int:
    """What goes with the text, in pixels."""
    return _line_width_of(text_size(image))


def _line_width_of(size: int) -> int:
    return max(1, round(size / 7))
