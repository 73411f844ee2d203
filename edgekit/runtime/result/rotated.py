"""Rotated boxes of one image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import rotated


@dataclass(frozen=True, eq=False)
class RotatedBoxes:
    """One for each of the result's boxes, which enclose them.

    xywhr: (N, 5) float32, centre x, centre y, width and height in pixels of the image, and the angle in radians from
        the x axis to the width, clockwise on the picture, 0..pi/2.
    """

    xywhr: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.xywhr)

    @property
    def xyxyxyxy(self) -> NDArray[np.float32]:
        """(N, 4, 2): the corners, in order around the box."""
        return rotated.corners(self.xywhr).astype(np.float32)
