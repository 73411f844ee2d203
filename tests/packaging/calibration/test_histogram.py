"""Streamed histograms are those of all values together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from edgekit.packaging.calibration import Percentile
from edgekit.packaging.calibration import histogram as histograms
from edgekit.packaging.calibration.histogram import Histogram

values = arrays.arrays(
    np.float32, st.integers(2, 200), elements=st.floats(-1e6, 1e6, width=32, allow_subnormal=False)
).filter(lambda array: array.min() < array.max())


def counted(*parts: np.ndarray, bins: int = 64) -> Histogram:
    low, high = min(float(p.min()) for p in parts if p.size), max(float(p.max()) for p in parts if p.size)
    histogram = Histogram.over(low, high, bins)
    for part in parts:
        histogram.add(part)
    return histogram


@given(values, st.data())
def test_parts_give_the_counts_of_the_whole(array: np.ndarray, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, array.size))
    assert np.array_equal(counted(array[:cut], array[cut:]).counts, counted(array).counts)


@given(values)
def test_counts_are_those_of_numpy(array: np.ndarray) -> None:
    mine = counted(array)
    exact = array.astype(np.float64)
    slack = (mine.high - mine.low) * 1e-9  # a value on an edge may fall to either side
    for edge, below in zip(map(mine.edge, range(65)), np.cumsum([0, *mine.counts]), strict=True):
        assert (exact < edge - slack).sum() <= below <= (exact <= edge + slack).sum()


@given(arrays.arrays(np.float32, st.integers(0, 300), elements=st.integers(0, 64)))
def test_counts_of_whole_numbers_are_exactly_those_of_numpy(array: np.ndarray) -> None:
    array = np.append(array, np.array([0, 64], np.float32))
    assert np.array_equal(counted(array).counts, np.histogram(array, 64, (0, 64))[0])


def test_counts_do_not_depend_on_the_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(1).normal(size=(10, 1000)).astype(np.float32)
    whole = counted(array)
    monkeypatch.setattr(histograms, "CHUNK", 7)
    assert np.array_equal(counted(array).counts, whole.counts)


def test_values_beyond_the_ends_count_at_the_ends() -> None:
    histogram = Histogram.over(0.0, 4.0, bins=4)
    histogram.add(np.array([-7.0, 9.0, 9.0]))
    assert histogram.counts.tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(("value", "index"), [(-1.0, 0), (-0.1, 1), (0.0, 2), (0.99, 3), (1.0, 3), (1.1, None)])
def test_a_value_is_in_the_bin_that_counts_it(value: float, index: int | None) -> None:
    assert Histogram.over(-1.0, 1.0, bins=4).bin_of(value) == index


@given(values, st.floats(1, 100))
def test_percentile_leaves_out_no_more_than_its_share(array: np.ndarray, percentile: float) -> None:
    found = Percentile(percentile).of(counted(array))
    most = array.size * (100 - percentile) / 200
    slack = float(array.max() - array.min()) * 1e-9
    assert (array.astype(np.float64) < found.low - slack).sum() <= most
    assert (array.astype(np.float64) > found.high + slack).sum() <= most


@pytest.mark.parametrize("percentile", [50, 99, 99.9, 99.99])
def test_percentile_is_that_of_numpy_to_within_a_bin(percentile: float) -> None:
    array = np.random.default_rng(2).normal(size=99_999).astype(np.float32)
    histogram = counted(array, bins=2048)
    cut = (100 - percentile) / 2
    low, high = np.percentile(array, [cut, 100 - cut], method="inverted_cdf")
    found, width = Percentile(percentile).of(histogram), histogram.edge(1) - histogram.edge(0)
    assert found.low == pytest.approx(low, abs=width)
    assert found.high == pytest.approx(high, abs=width)
