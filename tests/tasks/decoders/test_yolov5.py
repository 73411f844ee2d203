from __future__ import annotations

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.decoders.yolov5 import YoloV5
from edgekit.tasks.predictions import Settings


def decode(array, **settings):
    return YoloV5.build((64, 64), {})({"output": array}, Settings(**settings))


def test_people_and_bus_are_found(run, letterboxed) -> None:
    outputs = run("yolov5n.onnx", "photos/bus.jpg", letterboxed)
    (found,) = YoloV5.build((640, 640), {})(outputs, Settings())
    assert found.class_ids.tolist().count(5) == 1
    assert found.class_ids.tolist().count(0) >= 3


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_score_is_objectness_times_the_best_class(dtype) -> None:
    array = np.zeros((2, 252, 8), dtype)
    array[1, 100] = [20, 30, 10, 20, 0.5, 0.25, 0.75, 0.5]
    none, found = decode(array)
    assert len(none) == 0
    assert found.boxes.tolist() == [[15, 20, 25, 40]]
    assert found.scores.tolist() == [0.375]
    assert found.class_ids.tolist() == [1]
    assert found.boxes.dtype == np.float32


def test_good_objectness_with_a_poor_class_is_not_enough() -> None:
    array = np.zeros((1, 252, 8), np.float32)
    array[0, 0] = [20, 30, 10, 20, 0.9, 0.2, 0.1, 0]
    assert len(decode(array)[0]) == 0


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_dropped() -> None:
    array = np.zeros((1, 252, 8), np.float32)
    array[0, 0] = [20, 20, 10, 10, 0.9, 0.9, 0, 0]
    array[0, 1] = [40, 20, 10, 10, np.nan, 0.9, 0, 0]
    array[0, 2] = [40, 20, 10, 10, np.inf, 0, 0, 0]
    array[0, 3] = [40, 20, 10, 10, 0.9, np.nan, 0, 0.9]
    array[0, 4] = [np.nan, 20, 10, 10, 0.9, 0.9, 0, 0]
    (found,) = decode(array)
    assert found.boxes.tolist() == [[15, 15, 25, 25]]


@pytest.mark.parametrize("shape", [(252, 8), (1, 252, 5), (1, 3, 8, 8, 8)])
def test_an_output_of_another_shape_is_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match=r"5 \+ classes.*output float32"):
        decode(np.zeros(shape, np.float32))


def test_classes_are_counted_from_the_shape() -> None:
    assert YoloV5.class_count({"output": (1, 25200, 85)}) == 80
