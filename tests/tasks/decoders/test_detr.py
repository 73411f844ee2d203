from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.concatenation import concatenate
from edgekit.tasks.decoders.detr import Detr
from edgekit.tasks.predictions import Settings

LABELS = np.array([[7, 3, 5]], np.int64)
BOXES = np.array([[[0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]], np.float32)
SCORES = np.array([[0.5, 0.125, 0.75]], np.float32)


def decode(outputs, **settings):
    return Detr.build((64, 64), {})(outputs, Settings(**settings))


def test_people_and_bus_are_found(run, stretched) -> None:
    size = np.array([[320, 320]], np.int64)
    outputs = run("deimv2_atto.onnx", "photos/bus.jpg", stretched, orig_target_sizes=size)
    (found,) = Detr.build((320, 320), {})(outputs, Settings())
    assert found.class_ids.tolist().count(5) == 1
    assert found.class_ids.tolist().count(0) >= 3
    bus = found.boxes[found.class_ids == 5][0]
    np.testing.assert_allclose(bus, [20, 70, 311, 200], atol=15)  # read off the stretched photo


@pytest.mark.parametrize("order", list(permutations(["labels", "boxes", "scores"])))
def test_outputs_are_found_by_name_in_any_order(order: tuple[str, ...]) -> None:
    # float labels, as some converters leave them, are told from scores by their name alone
    parts = {"labels": LABELS.astype(np.float32), "boxes": BOXES, "scores": SCORES}
    (found,) = decode({name: parts[name] for name in order})
    assert found.class_ids.tolist() == [5, 7]
    assert found.scores.tolist() == [0.75, 0.5]
    assert found.boxes.tolist() == [[4, 4, 5, 5], [0, 0, 1, 1]]


@pytest.mark.parametrize("order", list(permutations([LABELS.astype(np.int32), BOXES, SCORES])))
def test_outputs_without_such_names_are_found_by_shape_and_dtype(order) -> None:
    (found,) = decode(dict(zip(["1203", "1188", "1190"], order, strict=True)))
    assert found.class_ids.tolist() == [5, 7]
    assert found.boxes.tolist() == [[4, 4, 5, 5], [0, 0, 1, 1]]


def test_labels_and_scores_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(ModelError, match=r"so named or so typed.*a float32\[1, 3\].*c float32\[1, 3\]"):
        decode({"a": LABELS.astype(np.float32), "b": BOXES, "c": SCORES})


@pytest.mark.parametrize(
    "outputs",
    [
        {"labels": LABELS, "boxes": BOXES},
        {"labels": LABELS, "boxes": BOXES, "scores": SCORES[:, :2]},
        {"labels": LABELS, "boxes": BOXES[..., :3], "scores": SCORES},
        {"labels": LABELS, "boxes": BOXES[0], "scores": SCORES},
        {"labels": LABELS, "boxes": BOXES, "scores": SCORES, "count": LABELS},
    ],
    ids=["two", "another count", "three corners", "no batch", "four"],
)
def test_other_outputs_are_named(outputs) -> None:
    with pytest.raises(ModelError) as error:
        decode(outputs)
    assert all(name in str(error.value) for name in outputs)


@pytest.mark.filterwarnings("error")
def test_float16_is_brought_to_float32_and_what_is_not_finite_is_dropped() -> None:
    boxes, scores = BOXES.astype(np.float16), SCORES.astype(np.float16)
    boxes[0, 2, 1] = np.nan
    (found,) = decode({"labels": LABELS, "boxes": boxes, "scores": scores})
    assert found.class_ids.tolist() == [7]
    assert (found.boxes.dtype, found.scores.dtype) == (np.float32, np.float32)


def test_its_parts_can_be_concatenated() -> None:
    parts = Detr.build((64, 64), {}).parts({"x": SCORES, "y": LABELS, "z": BOXES})
    labels, boxes, scores = parts["labels"], parts["boxes"], parts["scores"]
    assert concatenate(boxes, scores, labels).tolist()[0][2] == [4, 4, 5, 5, 0.75, 5]
