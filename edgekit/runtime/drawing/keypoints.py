"""Points of objects, and the limbs between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.drawing import labels
from edgekit.runtime.drawing import painter as painters
from edgekit.runtime.drawing.colors import BLACK, Color

SEEN = 0.25  # points of a lower confidence are not drawn
LEFT: Color = (80, 220, 80)
RIGHT: Color = (60, 140, 255)
MIDDLE: Color = (235, 200, 60)
# The joints of COCO's 17 keypoints (cocodataset.org, person_keypoints: skeleton, counted from 0).
LIMBS = (
    *((15, 13), (13, 11), (16, 14), (14, 12), (11, 12), (5, 11), (6, 12), (5, 6), (5, 7), (6, 8), (7, 9), (8, 10)),
    *((1, 2), (0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 6)),
)


def draw_keypoints(
    image: NDArray[np.uint8], points: NDArray[Any], conf: NDArray[Any] | None = None
) -> NDArray[np.uint8]:
    """A copy of a BGR image with keypoints, and with limbs where there are COCO's 17.

    Args:
        points: (N, K, 2) x y; those that are not finite are left out.
        conf: (N, K) in 0..1; those below 0.25 are left out.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    painter, width = painters.on(image), labels.line_width(image)
    seen = np.isfinite(points).all(axis=2) & (True if conf is None else conf >= SEEN)
    height, wide = image.shape[:2]
    whole = np.clip(np.round(np.nan_to_num(points)), 0, (wide - 1, height - 1)).astype(int).tolist()
    for joints, shown in zip(whole, seen, strict=True):
        at = [(x, y) for x, y in joints]
        for start, end in LIMBS if len(at) == 17 else ():
            if shown[start] and shown[end]:
                painter.line(at[start], at[end], _side(start, end), width=width)
        for i in np.flatnonzero(shown).tolist():
            painter.disc(at[i], width + 2, BLACK)
            painter.disc(at[i], width + 1, _side(i, i) if len(at) == 17 else MIDDLE)
    return painter.picture()


def _side(start: int, end: int) -> Color:
    """COCO's odd points are on the person's left, even ones on the right, the nose is neither."""
    if start % 2 != end % 2 or 0 in (start, end):
        return MIDDLE
    return LEFT if start % 2 else RIGHT
