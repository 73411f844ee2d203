from __future__ import annotations

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.decoders.yolov8 import YoloV8
from edgekit.tasks.predictions import Settings


def decode(array, **settings):
    return YoloV8.build((64, 64), {})({"output0": array}, Settings(**settings))


def empty(batch: int = 1, classes: int = 3):
    """Outputs for a 64x64 input in which nothing is found."""
    return np.zeros((batch, 4 + classes, 84), np.float32)


def put(array, image: int, anchor: int, box, scores) -> None:
    array[image, :4, anchor] = box
    array[image, 4:, anchor] = scores


def test_people_and_bus_are_found(run, letterboxed) -> None:
    outputs = run("yolov8n.onnx", "photos/bus.jpg", letterboxed)
    (found,) = YoloV8.build((640, 640), {})(outputs, Settings(conf=0.25))
    assert sorted(found.class_ids.tolist()) == [0, 0, 0, 0, 5]
    bus = found.boxes[found.class_ids == 5][0]
    np.testing.assert_allclose(bus, [103, 138, 553, 440], atol=20)  # read off the letterboxed photo


def test_scores_that_collapsed_to_0_give_nothing(run, letterboxed) -> None:
    outputs = run("yolov8n_collapsed_int8.onnx", "photos/bus.jpg", letterboxed)
    (found,) = YoloV8.build((640, 640), {})(outputs, Settings(conf=0.001))
    assert len(found) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_box_comes_out_as_corners_in_float32(dtype) -> None:
    array = empty()
    put(array, 0, 17, [20, 30, 10, 20], [0.125, 0.75, 0.5])
    (found,) = decode(array.astype(dtype))
    assert found.boxes.tolist() == [[15, 20, 25, 40]]
    assert found.scores.tolist() == [0.75]
    assert found.class_ids.tolist() == [1]
    assert (found.boxes.dtype, found.scores.dtype, found.class_ids.dtype) == (np.float32, np.float32, np.int64)


def test_each_image_of_a_batch_has_its_own_detections() -> None:
    array = empty(batch=3)
    put(array, 0, 5, [10, 10, 4, 4], [0.9, 0, 0])
    put(array, 2, 6, [30, 30, 4, 4], [0, 0, 0.8])
    put(array, 2, 9, [50, 30, 4, 4], [0, 0.9, 0])
    found = decode(array)
    assert [len(image) for image in found] == [1, 0, 2]
    assert found[2].class_ids.tolist() == [1, 2]


def test_overlapping_boxes_of_a_class_become_one() -> None:
    array = empty()
    for anchor, score in enumerate([0.6, 0.9, 0.7]):
        put(array, 0, anchor, [20, 20 + 0.1 * anchor, 10, 10], [score, 0, 0])
    (found,) = decode(array)
    assert found.scores.tolist() == [np.float32(0.9)]


def test_a_score_equal_to_conf_is_kept() -> None:
    array = empty()
    put(array, 0, 0, [20, 20, 10, 10], [0.25, 0, 0])
    assert len(decode(array, conf=0.25)[0]) == 1
    assert len(decode(array, conf=0.26)[0]) == 0


@pytest.mark.filterwarnings("error")
def test_what_is_not_finite_is_dropped() -> None:
    array = empty()
    put(array, 0, 0, [20, 20, 10, 10], [0.9, 0, 0])
    put(array, 0, 1, [40, 20, 10, 10], [np.nan, 0.9, 0])
    put(array, 0, 2, [40, 20, 10, 10], [np.inf, 0, 0])
    put(array, 0, 3, [np.nan, 20, 10, 10], [0.9, 0, 0])
    put(array, 0, 4, [40, 20, np.inf, 10], [0.9, 0, 0])
    put(array, 0, 5, [3e38, 20, 3e38, 10], [0.9, 0, 0])
    (found,) = decode(array)
    assert found.boxes.tolist() == [[15, 15, 25, 25]]


def test_decoding_leaves_the_outputs_as_they_were() -> None:
    array = np.random.default_rng(0).random((1, 7, 84), np.float32)
    before = array.copy()
    decode(array, conf=0.001)
    np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("shape", [(7, 84), (1, 4, 84), (1, 7, 8, 8)])
def test_an_output_of_another_shape_is_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match="output0 float32") as error:
        decode(np.zeros(shape, np.float32))
    assert "(batch, 4 + classes, anchors)" in str(error.value)
    assert error.value.hint


def test_a_second_output_is_named() -> None:
    outputs = {"output0": np.zeros((1, 116, 84), np.float32), "prototypes": np.zeros((1, 32, 16, 16), np.float32)}
    with pytest.raises(ModelError, match=r"prototypes float32\[1, 32, 16, 16\]"):
        YoloV8.build((64, 64), {})(outputs, Settings())


def test_classes_are_counted_from_the_shape() -> None:
    assert YoloV8.class_count({"output0": (1, 84, 8400)}) == 80
