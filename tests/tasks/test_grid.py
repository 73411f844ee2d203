from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.tasks import grid

sizes = st.tuples(st.integers(1, 700), st.integers(1, 700))


@pytest.mark.parametrize(
    ("size", "cells", "strides"),
    [
        ((640, 640), 8400, (8, 16, 32)),
        ((416, 416), 3549, (8, 16, 32)),
        ((480, 640), 6300, (8, 16, 32)),
        ((1280, 1280), 34000, (8, 16, 32, 64)),
        ((240, 320), 1580, (8, 16, 32)),  # 240 is no multiple of 32: the last row of cells is cut
    ],
)
def test_cells_tell_the_strides(size: tuple[int, int], cells: int, strides: tuple[int, ...]) -> None:
    assert grid.strides_of(cells, size) == strides


def test_no_strides_have_the_cells_of_another_size() -> None:
    assert grid.strides_of(8400, (416, 416)) is None


@given(sizes, st.sampled_from(grid.HEADS))
def test_there_are_as_many_cells_as_counted(size: tuple[int, int], strides: grid.Strides) -> None:
    corners, steps = grid.cells(size, strides)
    assert len(corners) == len(steps) == grid.count(size, strides)


def test_cells_go_row_by_row_the_finest_grid_first() -> None:
    corners, steps = grid.cells((16, 24), (8, 16))
    assert corners.tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1], [0, 0], [1, 0]]
    assert steps.ravel().tolist() == [8] * 6 + [16] * 2


def test_cells_are_computed_once_and_cannot_be_changed() -> None:
    corners, steps = grid.cells((64, 64), (8, 16, 32))
    assert grid.cells((64, 64), (8, 16, 32))[0] is corners
    for array in (corners, steps):
        with pytest.raises(ValueError, match="read-only"):
            array += np.float32(1)
