"""Run lengths of a mask as COCO writes them: pycocotools reads the text (its format: cocoapi, common/maskApi.c)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


def encode(crop: NDArray[np.bool_], at: tuple[int, int], shape: tuple[int, int]) -> dict[str, Any]:
    """A mask that is false outside of a crop.

    Args:
        crop: (h, w).
        at: row and column of the crop's first pixel.
        shape: height and width of the whole mask.

    Returns:
        `size`: height and width; `counts`: text.

    >>> encode(np.ones((2, 1), np.bool_), (1, 1), (4, 3))
    {'size': [4, 3], 'counts': '525'}
    """
    return {"size": [*shape], "counts": "".join(map(_text, _differences(_runs(crop, at, shape))))}


def _runs(crop: NDArray[np.bool_], at: tuple[int, int], shape: tuple[int, int]) -> list[int]:
    """How many pixels are off, on, off, ... down the columns."""
    height, width = shape
    columns = np.zeros((crop.shape[1], height), np.bool_)  # those of the crop, each in full
    columns[:, at[0] : at[0] + crop.shape[0]] = crop.T
    steps = np.diff(columns.ravel(), prepend=False, append=False)
    changes = np.flatnonzero(steps) + at[1] * height
    edges = [0, *changes.tolist(), height * width]
    runs = [after - before for before, after in pairwise(edges)]
    return runs[:-1] if len(runs) > 1 and runs[-1] == 0 else runs


def _differences(runs: list[int]) -> list[int]:
    """From the fourth run on, how much longer each is than the one before the last."""
    return [run - runs[i - 2] if i > 2 else run for i, run in enumerate(runs)]


def _text(value: int) -> str:
    """Groups of five bits, lowest first; a sixth bit says that more follow; the last group's top is the sign."""
    out = ""
    while True:
        group, value = value & 31, value >> 5
        done = value == (-1 if group & 16 else 0)
        out += chr(48 + (group if done else group | 32))
        if done:
            return out
