"""Areas of a picture in colour: masks of objects, a class for each pixel, depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.drawing.colors import color_of
from edgekit.runtime.drawing.lines import draw_lines

# near to far: blue, green, red of five colours, between which the others lie; lightness falls all the way
NEAR_TO_FAR = np.array([(120, 240, 255), (60, 150, 250), (110, 60, 215), (130, 30, 110), (60, 15, 20)], np.float32)


def blend_masks(
    image: NDArray[np.uint8],
    crops: Sequence[tuple[NDArray[np.bool_], int, int]],
    class_ids: Sequence[int] | NDArray[Any],
) -> NDArray[np.uint8]:
    """A copy of a BGR image with masks in the colours of their classes, half transparent. The first is on top.

    Args:
        crops: of each mask a part (h, w) outside of which it is false, and the row and column of its first pixel.
    """
    out = image.copy()
    for (mask, top, left), class_id in reversed(list(zip(crops, class_ids, strict=True))):
        part = (slice(top, top + mask.shape[0]), slice(left, left + mask.shape[1]))
        out[part][mask] = image[part][mask] // 2 + np.array(color_of(int(class_id)), np.uint8) // 2
    return out


def draw_classes(image: NDArray[np.uint8], classes: NDArray[Any], names: Mapping[int, str]) -> NDArray[np.uint8]:
    """A copy of a BGR image with each class in its colour, half transparent, and a key to the colours.

    Args:
        classes: (H, W) class ids.
        names: the lines of the key.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    out = image // 2
    colors = {class_id: color_of(class_id) for class_id in names}
    for class_id, color in colors.items():
        out[classes == class_id] += np.array(color, np.uint8) // 2
    return draw_lines(out, list(names.values()), list(colors.values()))


def draw_depth(depths: NDArray[np.float32], legend: str) -> NDArray[np.uint8]:
    """(H, W) distances as a BGR picture: the nearest light, the farthest dark, what is not finite black.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    known = np.isfinite(depths)
    out = np.zeros((*depths.shape, 3), np.uint8)
    if known.any():
        low, high = float(depths[known].min()), float(depths[known].max())
        share = (depths[known] - low) / (high - low or 1.0)
        at = np.linspace(0, 1, len(NEAR_TO_FAR))
        out[known] = np.stack([np.interp(share, at, channel) for channel in NEAR_TO_FAR.T], axis=1)
    return draw_lines(out, [legend])
