"""Entropy cuts what is rare and far, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from edgekit.packaging.calibration.entropy import divergence, kept_bins

BINS, LEVELS = 64, 8
counts = arrays.arrays(np.int64, BINS, elements=st.integers(0, 1000))


def test_an_even_distribution_is_kept_whole() -> None:
    assert kept_bins(np.full(BINS, 100), None, LEVELS) == (0, BINS)


@pytest.mark.parametrize("reverse", [False, True])
def test_a_far_value_is_cut_off_at_either_end(reverse: bool) -> None:
    lonely = np.zeros(BINS, np.int64)
    lonely[:16] = 1000, 1100, 1300, 1600, 2000, 2400, 2700, 3000, 3000, 2700, 2400, 2000, 1600, 1300, 1100, 1000
    lonely[-1] = 1
    first, end = kept_bins(lonely[::-1] if reverse else lonely, None, LEVELS)
    assert (BINS - end, BINS - first) == (0, 16) if reverse else (first, end) == (0, 16)


def test_many_far_values_are_kept() -> None:
    heavy = np.zeros(BINS, np.int64)
    heavy[:16], heavy[-1] = 1000, 4000
    assert kept_bins(heavy, None, LEVELS)[1] == BINS


def test_the_zeros_of_a_relu_do_not_decide() -> None:
    smooth = (10_000 * np.exp(-np.arange(BINS) / 16)).astype(np.int64)
    spiked = smooth.copy()
    spiked[0] = 10**9
    assert kept_bins(spiked, 0, LEVELS) == kept_bins(np.array([smooth[1], *smooth[1:]]), 0, LEVELS)


def test_fewer_bins_than_levels_are_kept_whole() -> None:
    assert kept_bins(np.array([5, 0, 0, 1]), None, 256) == (0, 4)


@given(counts, st.integers(0, BINS - 1) | st.none())
def test_zero_stays_inside_and_as_many_bins_as_levels(array: np.ndarray, zero: int | None) -> None:
    first, end = kept_bins(array, zero, LEVELS)
    assert 0 <= first <= end - LEVELS <= BINS - LEVELS
    assert zero is None or first <= zero < end


@given(counts, st.sampled_from([0.0, 0.01, 0.2]))
def test_no_more_than_the_limit_is_cut_off_at_an_end(array: np.ndarray, most: float) -> None:
    first, end = kept_bins(array, None, LEVELS, most)
    assert max(array[:first].sum(), array[end:].sum()) <= most * array.sum()


@given(counts)
def test_the_range_that_is_kept_loses_no_more_than_the_whole(array: np.ndarray) -> None:
    weights = array.astype(np.float64)
    first, end = kept_bins(array, None, LEVELS)
    assert divergence(weights, first, end, LEVELS) <= divergence(weights, 0, BINS, LEVELS)


def test_divergence_of_a_hand_worked_case() -> None:
    # two levels of two bins: 3 1 | 2 2 becomes 2 2 | 2 2
    expected = 3 / 8 * np.log(3 / 2) + 1 / 8 * np.log(1 / 2)
    assert divergence(np.array([3.0, 1, 2, 2]), 0, 4, 2) == pytest.approx(expected)
    # the last one cut off: 3 1 4 against 3 1 2 in levels of one bin, of 6 values
    expected = 3 / 8 * np.log(6 / 8) + 1 / 8 * np.log(6 / 8) + 4 / 8 * np.log(4 / 8 * 6 / 2)
    assert divergence(np.array([3.0, 1, 2, 2]), 0, 3, 3) == pytest.approx(expected)
