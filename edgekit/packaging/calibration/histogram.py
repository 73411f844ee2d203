"""How the values of a tensor are distributed, counted as they pass by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 2048
CHUNK = 1 << 16  # values at once: they stay in the processor's cache, and doubles of them all are never made


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of values in bins of one width between `low` and `high`.

    Law: however the values are handed over, in one array or in many, the counts are the same.

    >>> histogram = Histogram.over(0.0, 4.0, bins=4)
    >>> histogram.add(np.array([0.0, 0.5, 3.0, 4.0]))
    >>> histogram.counts.tolist()
    [2, 0, 0, 2]
    """

    low: float
    high: float
    counts: NDArray[np.int64]

    @classmethod
    def over(cls, low: float, high: float, bins: int = BINS) -> Histogram:
        """An empty one; `low` is less than `high`."""
        return cls(low, high, np.zeros(bins, np.int64))

    def add(self, values: NDArray[Any]) -> None:
        """Count the values of an array of any shape; one beyond the ends counts in the bin at that end."""
        flat, bins = values.reshape(-1), len(self.counts)
        scale = bins / (self.high - self.low)
        for start in range(0, flat.size, CHUNK):
            place = flat[start : start + CHUNK].astype(np.float64)
            place -= self.low
            place *= scale
            np.clip(place, 0, bins - 1, out=place)
            np.add(self.counts, np.bincount(place.astype(np.intp), minlength=bins), out=self.counts)

    def edge(self, index: int) -> float:
        """Where bin `index` begins and the one before it ends; the last edge is `high` itself."""
        bins = len(self.counts)
        return self.high if index == bins else self.low + (self.high - self.low) * (index / bins)

    def bin_of(self, value: float) -> int | None:
        """The bin that a value falls into; None beyond the ends."""
        if not self.low <= value <= self.high:
            return None
        bins = len(self.counts)
        return min(bins - 1, int((value - self.low) * (bins / (self.high - self.low))))
