"""Lines of text on a panel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.drawing import labels
from edgekit.runtime.drawing import painter as painters
from edgekit.runtime.drawing.colors import WHITE, Color


def draw_lines(
    image: NDArray[np.uint8], lines: Sequence[str], colors: Sequence[Color] | None = None
) -> NDArray[np.uint8]:
    """A copy of a BGR image with lines of text on a dark panel at the top left.

    Args:
        colors: of a square before each line, for a key.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    height, width = image.shape[:2]
    size = min(labels.text_size(image), (height - 4) // max(1, len(lines)) * 2 // 3)
    margin = max(2, size // 2)
    left = margin if colors is None else 2 * margin + size
    painter = painters.on(image)
    wide = width - left - margin
    fitted = [labels.fitted(painter, text, size, wide) for text in lines] if size >= labels.SMALLEST else []
    if not any(fitted):
        return painter.picture()
    step = size * 3 // 2
    right = min(width, left + margin + max(painter.text_width(text, size) for text in fitted))
    bottom = min(height, margin + step * len(fitted) + margin // 2)
    dark = image.copy()
    dark[:bottom, :right] //= 4
    painter = painters.on(dark)
    for i, text in enumerate(fitted):
        top = margin + i * step
        if colors is not None:
            painter.rectangle((margin, top, margin + size, top + size), colors[i], width=-1)
        painter.text((left, top), text, WHITE, size)
    return painter.picture()
