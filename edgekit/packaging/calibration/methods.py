"""How the range of a tensor follows from what was seen of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgekit.errors import UsageError
from edgekit.packaging.calibration.entropy import kept_bins
from edgekit.packaging.calibration.extremes import Extremes
from edgekit.packaging.calibration.histogram import Histogram
from edgekit.packaging.calibration.range import Range


@dataclass(frozen=True)
class MinMax:
    """All that was seen. One pass."""

    def of(self, seen: Extremes) -> Range:
        """From the lowest value of all images to the highest."""
        return Range(seen.low, seen.high)


@dataclass(frozen=True)
class Average:
    """What an image reaches on average: one strange image does not widen the range. One pass.

    The plain mean, not a moving one, which would depend on the order of the images and remember the first for long.
    """

    def of(self, seen: Extremes) -> Range:
        """From the mean of each image's lowest value to the mean of each one's highest."""
        return Range(seen.lows / seen.images, seen.highs / seen.images)


@dataclass(frozen=True)
class Percentile:
    """All but the rarest values. Two passes.

    Law: of n values, at most n * (100 - percentile) / 200 lie below the range, and as many above. An end is that of
    the bin that the percentile falls into, so it is at most one bin too far out.
    """

    percentile: float = 99.99

    def __post_init__(self) -> None:
        if not 0 < self.percentile <= 100:
            raise UsageError(f"percentile {self.percentile:g} must be above 0 and at most 100")

    def of(self, seen: Histogram) -> Range:
        """Cut the same share off at both ends."""
        most = seen.counts.sum() * (100 - self.percentile) / 200
        below = np.searchsorted(np.cumsum(seen.counts), most, side="right")
        above = np.searchsorted(np.cumsum(seen.counts[::-1]), most, side="right")
        return Range(seen.edge(int(below)), seen.edge(len(seen.counts) - int(above)))


@dataclass(frozen=True)
class Entropy:
    """The range whose quantized distribution is nearest to the one seen. Two passes.

    Entropy counts how many values are cut off, not how far they are moved, which costs models with SiLU dearly: hence
    the limit.
    """

    levels: int = 256
    most: float = 1e-4  # share of the values that may be cut off at each end

    def of(self, seen: Histogram) -> Range:
        """Cut where the divergence is least, at both ends apart."""
        first, end = kept_bins(seen.counts, seen.bin_of(0.0), self.levels, self.most)
        return Range(seen.edge(first), seen.edge(end))


OnePass = MinMax | Average
TwoPasses = Percentile | Entropy
Method = OnePass | TwoPasses
METHODS: Mapping[str, Method] = {
    "minmax": MinMax(),
    "average": Average(),
    "percentile": Percentile(),
    "entropy": Entropy(),
}


def get(name: str) -> Method:
    """A method with its usual parameters.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in METHODS:
        raise UsageError(f"there is no calibration method {name!r}", hint=f"one of {', '.join(METHODS)}")
    return METHODS[name]
