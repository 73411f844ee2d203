"""Values of a map between its places."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def linear(values: NDArray[np.float32], rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.float32]:
    """Bilinear.

    Args:
        values: (..., h, w).
        rows, columns: indices in 0..h-1 and 0..w-1, between places too.

    Returns:
        (..., len(rows), len(columns)) float32.
    """
    y0, y1, dy = _around(rows, values.shape[-2])
    x0, x1, dx = _around(columns, values.shape[-1])
    upper, lower = values.take(y0, axis=-2), values.take(y1, axis=-2)
    between = upper + (lower - upper) * dy[:, None]
    left, right = between.take(x0, axis=-1), between.take(x1, axis=-1)
    out: NDArray[np.float32] = left + (right - left) * dx
    return out


def nearest(values: NDArray[Any], rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """The nearest place's value; as `linear`, in the dtype of `values`."""
    y, x = (np.floor(at + 0.5).astype(np.intp) for at in (rows, columns))
    return values.take(y, axis=-2).take(x, axis=-1)


def _around(at: NDArray[Any], count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    first = np.floor(at).astype(np.intp)
    return first, np.minimum(first + 1, count - 1), (at - first).astype(np.float32)
