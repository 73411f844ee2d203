"""How a scene of any size becomes the square that the network takes, and how boxes find their way back."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

PAD = 114


@dataclass(frozen=True)
class Letterbox:
    """A picture scaled to fit a square of `side`, centred, the rest filled with PAD.

    Law: `box.to_image(box.to_input(boxes))` is `boxes`, up to rounding.

    >>> fit = Letterbox.around(np.zeros((240, 320, 3), np.uint8), 192)
    >>> fit.pixels.shape, fit.scale, fit.left, fit.top
    ((192, 192, 3), 0.6, 0, 24)
    """

    pixels: NDArray  # (side, side, 3) uint8, channels as they came
    scale: float
    left: int
    top: int

    @classmethod
    def around(cls, image: NDArray, side: int) -> Letterbox:
        """Fit `image` (H, W, 3)."""
        height, width = image.shape[:2]
        scale = side / max(height, width)
        inner = (round(width * scale), round(height * scale))
        left, top = (round((side - length) / 2 - 0.1) for length in inner)
        pixels = np.full((side, side, 3), PAD, np.uint8)
        pixels[top : top + inner[1], left : left + inner[0]] = cv2.resize(image, inner)
        return cls(pixels, scale, left, top)

    def to_input(self, boxes: NDArray) -> NDArray:
        """(N, 4) x1 y1 x2 y2 of the picture, in pixels of the square."""
        return boxes * self.scale + np.tile((self.left, self.top), 2).astype(np.float32)

    def to_image(self, boxes: NDArray) -> NDArray:
        """(N, 4) x1 y1 x2 y2 of the square, in pixels of the picture."""
        return (boxes - np.tile((self.left, self.top), 2).astype(np.float32)) / self.scale
