"""Where to cut a distribution so that its quantized form tells the most of it: least relative entropy."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

ROUNDS = 4  # of moving one end, then the other; they agree after two as a rule


def kept_bins(counts: NDArray[np.int64], zero: int | None, levels: int, most: float = 1.0) -> tuple[int, int]:
    """The bins [first, end) that lose the least when only they are quantized.

    The upper end is moved with the lower one at rest, then the other way round, until neither moves. As many bins as
    levels are kept at least: what happens inside a bin is not known.

    Args:
        counts: values in each bin.
        zero: the bin that holds 0. It stays inside, and does not count by itself: quantization has a code for exactly
            zero, and the zeros of a ReLU would outweigh all else.
        levels: codes of the quantized type.
        most: share of the values that may be cut off at each end.
    """
    bins = len(counts)
    if bins <= levels:
        return 0, bins
    weights = counts.astype(np.float64)
    if zero is not None:
        neighbours = [b for b in (zero - 1, zero + 1) if 0 <= b < bins]
        weights[zero] = weights[neighbours].mean()
    stride = max(1, bins // levels)
    latest, earliest = _limits(counts, most)
    if zero is not None:
        latest, earliest = min(latest, zero), max(earliest, zero + 1)
    first, end = 0, bins
    for _ in range(ROUNDS):
        before = first, end
        ends = range(bins, max(first + levels, earliest) - 1, -stride)
        end = _best([(first, e) for e in ends], weights, levels)[1]
        firsts = range(0, min(end - levels, latest) + 1, stride)
        first = _best([(f, end) for f in firsts], weights, levels)[0]
        if (first, end) == before:
            break
    return first, end


def divergence(weights: NDArray[np.float64], first: int, end: int, levels: int) -> float:
    """Relative entropy of the distribution, its tails moved to the ends kept, to its form in `levels` levels.

    The tails are in the first of the two only, so that cutting them off costs something.
    """
    kept = weights[first:end]
    mass, total = kept.sum(), weights.sum()
    if mass == 0:
        return np.inf
    clipped = kept.copy()
    clipped[0] += weights[:first].sum()
    clipped[-1] += weights[end:].sum()
    starts = -(-np.arange(levels) * len(kept) // levels)  # rounded up
    filled = kept > 0
    shared = np.add.reduceat(kept, starts) / np.maximum(np.add.reduceat(filled, starts, dtype=np.int64), 1)
    quantized = np.repeat(shared, np.diff(starts, append=len(kept))) * filled
    # half a value where there is none: a tail may end in an empty bin
    ratio = (clipped / total) / (np.maximum(quantized, 0.5) / mass)
    some = clipped > 0
    return float((clipped[some] / total * np.log(ratio[some])).sum())


def _limits(counts: NDArray[np.int64], most: float) -> tuple[int, int]:
    """The last bin to begin at and the first to end at, with no more than this share of the values beyond each."""
    allowed = most * counts.sum()
    below, above = (int(np.searchsorted(np.cumsum(c), allowed, side="right")) for c in (counts, counts[::-1]))
    return below, len(counts) - above


def _best(candidates: Iterable[tuple[int, int]], weights: NDArray[np.float64], levels: int) -> tuple[int, int]:
    """The candidate with the least divergence; the first of those that are equal."""
    return min(candidates, key=lambda bins: divergence(weights, bins[0], bins[1], levels))
