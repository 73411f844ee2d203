from __future__ import annotations

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.decoders.end2end import End2End
from edgekit.tasks.predictions import Settings


def decode(array, **settings):
    return End2End.build((64, 64), {})({"output0": array}, Settings(**settings))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rows_above_conf_come_out_best_first(dtype) -> None:
    array = np.zeros((2, 300, 6), dtype)
    array[0, 3] = [1, 2, 3, 4, 0.5, 7]
    array[0, 9] = [5, 6, 7, 8, 0.75, 79]
    array[1, 0] = [5, 6, 7, 8, 0.125, 1]
    found, none = decode(array)
    assert found.boxes.tolist() == [[5, 6, 7, 8], [1, 2, 3, 4]]
    assert found.scores.tolist() == [0.75, 0.5]
    assert found.class_ids.tolist() == [79, 7]
    assert (found.boxes.dtype, found.class_ids.dtype) == (np.float32, np.int64)
    assert len(none) == 0


def test_overlapping_boxes_stay_since_the_model_has_decided() -> None:
    array = np.tile(np.array([1, 2, 3, 4, 0.5, 7], np.float32), (1, 5, 1))
    assert len(decode(array)[0]) == 5
    assert len(decode(array, max_detections=2)[0]) == 2


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_dropped() -> None:
    array = np.tile(np.array([1, 2, 3, 4, 0.5, 7], np.float32), (1, 7, 1))
    for column in range(6):
        array[0, column, column] = np.nan if column % 2 else np.inf
    assert len(decode(array)[0]) == 1


def test_no_rows_give_no_detections() -> None:
    assert len(decode(np.zeros((1, 0, 6), np.float32))[0]) == 0


@pytest.mark.parametrize("shape", [(300, 6), (1, 300, 7), (1, 6, 300)])
def test_an_output_of_another_shape_is_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match=r"detections, 6.*output0 float32"):
        decode(np.zeros(shape, np.float32))
