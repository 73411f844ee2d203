"""The cells that a detector predicts from: one grid per stride, row by row, the finest first."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

Strides = tuple[int, ...]
Size = tuple[int, int]  # height, width

HEADS: Sequence[Strides] = ((8, 16, 32), (8, 16, 32, 64))  # the usual heads, and those of the 1280-pixel models


def shape(size: Size, stride: int) -> tuple[int, int]:
    """Rows and columns of one grid; a cell that the image's edge cuts counts."""
    return -(-size[0] // stride), -(-size[1] // stride)


def count(size: Size, strides: Strides) -> int:
    """Cells in all grids together.

    >>> count((640, 640), (8, 16, 32))
    8400
    """
    return sum(prod(shape(size, stride)) for stride in strides)


def strides_of(cells: int, size: Size, heads: Sequence[Strides] = HEADS) -> Strides | None:
    """The strides whose grids have this many cells, or None.

    >>> strides_of(3549, (416, 416))
    (8, 16, 32)
    """
    return next((strides for strides in heads if cells == count(size, strides)), None)


@lru_cache(maxsize=8)
def cells(size: Size, strides: Strides) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Column and row of each cell (N, 2), and its stride (N, 1). Shared between callers, so not writable."""
    shapes = [shape(size, stride) for stride in strides]
    corners = np.concatenate([np.indices(sides)[::-1].reshape(2, -1).T for sides in shapes]).astype(np.float32)
    steps = np.repeat(np.array(strides, np.float32), [h * w for h, w in shapes])[:, None]
    for array in (corners, steps):
        array.setflags(write=False)
    return corners, steps
