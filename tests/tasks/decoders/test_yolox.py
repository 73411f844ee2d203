from __future__ import annotations

from math import log

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.decoders.yolox import YoloX
from edgekit.tasks.predictions import Settings

SIZE = (64, 96)  # grids of 8x12, 4x6 and 2x3 cells: 96, 24 and 6 rows


def decode(array, **settings):
    return YoloX.build(SIZE, {})({"output": array}, Settings(**settings))


def rows(classes: int = 3):
    return np.zeros((1, 126, 5 + classes), np.float32)


def test_people_and_bus_are_found(run, at_the_top_left) -> None:
    outputs = run("yolox_nano.onnx", "photos/bus.jpg", at_the_top_left)
    (found,) = YoloX.build((416, 416), {})(outputs, Settings())
    assert found.class_ids.tolist().count(5) == 1
    assert found.class_ids.tolist().count(0) >= 3


@pytest.mark.parametrize(
    ("row", "stride", "column", "line"),
    [
        (0, 8, 0, 0),
        (1, 8, 1, 0),  # along a line first
        (12, 8, 0, 1),
        (95, 8, 11, 7),
        (96, 16, 0, 0),
        (96 + 8, 16, 2, 1),
        (120, 32, 0, 0),
        (125, 32, 2, 1),
    ],
)
def test_a_row_is_decoded_in_its_cell(row: int, stride: int, column: int, line: int) -> None:
    array = rows()
    array[0, row] = [0.5, 0.25, log(2), log(3), 0.5, 0.125, 0.25, 0.75]
    (found,) = decode(array)
    x, y, width, height = (0.5 + column) * stride, (0.25 + line) * stride, 2 * stride, 3 * stride
    np.testing.assert_allclose(
        found.boxes, [[x - width / 2, y - height / 2, x + width / 2, y + height / 2]], rtol=1e-6, atol=1e-5
    )
    assert found.scores.tolist() == [0.375]
    assert found.class_ids.tolist() == [2]


def test_four_strides_are_told_by_the_number_of_rows() -> None:
    array = np.zeros((1, 64 + 16 + 4 + 1, 6), np.float32)
    array[0, -1] = [0.5, 0.5, 0, 0, 1, 1]
    (found,) = YoloX.build((64, 64), {})({"output": array}, Settings())
    assert found.boxes.tolist() == [[0, 0, 64, 64]]


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_dropped() -> None:
    array = rows()
    array[0, 0] = [0, 0, 0, 0, 0.9, 0.9, 0, 0]
    array[0, 40] = [0, 0, 500, 0, 0.9, 0.9, 0, 0]  # exp overflows
    array[0, 41] = [np.nan, 0, 0, 0, 0.9, 0.9, 0, 0]
    array[0, 42] = [0, 0, 0, 0, np.inf, 0, 0, 0]
    (found,) = decode(array)
    assert found.boxes.tolist() == [[-4, -4, 4, 4]]


def test_float16_is_brought_to_float32() -> None:
    array = rows().astype(np.float16)
    array[0, 125] = [0.5, 0.5, 0, 0, 1, 1, 0, 0]
    (found,) = decode(array)
    assert found.boxes.dtype == np.float32
    assert found.boxes.tolist() == [[64, 32, 96, 64]]


@pytest.mark.parametrize("shape", [(126, 8), (1, 126, 5), (1, 127, 8), (1, 84, 8)])
def test_an_output_of_another_shape_is_named_with_the_size_that_it_does_not_fit(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match=r"64x96 input.*output float32"):
        decode(np.zeros(shape, np.float32))


def test_classes_are_counted_from_the_shape() -> None:
    assert YoloX.class_count({"output": (1, 3549, 85)}) == 80
