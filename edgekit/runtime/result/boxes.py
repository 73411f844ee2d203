"""Boxes of one image's objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of one image, best score first.

    xyxy: (N, 4) float32, x1 y1 x2 y2 in pixels of the image.
    conf: (N,) float32 in 0..1.
    cls: (N,) int64.
    shape: height, width of the image.
    """

    xyxy: NDArray[np.float32]
    conf: NDArray[np.float32]
    cls: NDArray[np.int64]
    shape: tuple[int, int]

    def __len__(self) -> int:
        return len(self.conf)

    @property
    def xywh(self) -> NDArray[np.float32]:
        """(N, 4): centre x, centre y, width, height in pixels."""
        low, high = self.xyxy[:, :2], self.xyxy[:, 2:]
        return np.concatenate(((low + high) / 2, high - low), axis=1)

    @property
    def xyxyn(self) -> NDArray[np.float32]:
        """`xyxy` as parts of the image's width and height."""
        return self.xyxy / self._sides

    @property
    def xywhn(self) -> NDArray[np.float32]:
        """`xywh` as parts of the image's width and height."""
        return self.xywh / self._sides

    @property
    def _sides(self) -> NDArray[np.float32]:
        height, width = self.shape
        return np.array((width, height, width, height), np.float32)
