"""How numbers leave a result as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# a hundredth of a pixel and 1e-5 are below what a model resolves, and keep JSON short
PIXEL_DECIMALS = 2
SCORE_DECIMALS = 5


def pixels(values: NDArray[Any]) -> list[float]:
    """Coordinates and lengths, one after another."""
    return [round(float(value), PIXEL_DECIMALS) for value in np.ravel(values)]


def score(value: Any) -> float:
    """A score, a share or an angle."""
    return round(float(value), SCORE_DECIMALS)
