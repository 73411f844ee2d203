from __future__ import annotations

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.tasks.concatenation import concatenate


def parts(batch: int = 2, count: int = 5):
    rng = np.random.default_rng(0)
    boxes = rng.random((batch, count, 4), np.float32)
    scores = rng.random((batch, count), np.float32)
    labels = rng.integers(0, 80, (batch, count))
    return boxes, scores, labels


def test_parts_stand_side_by_side() -> None:
    boxes, scores, labels = parts()
    joined = concatenate(boxes, scores, labels)
    assert joined.shape == (2, 5, 6)
    np.testing.assert_array_equal(joined[..., :4], boxes)
    np.testing.assert_array_equal(joined[..., 4], scores)
    np.testing.assert_array_equal(joined[..., 5], labels)


def test_extras_follow_in_their_order() -> None:
    keypoints, coefficients = np.full((2, 5, 51), 2.0), np.full((2, 5, 32), 3.0)
    joined = concatenate(*parts(), keypoints, coefficients)
    assert joined.shape == (2, 5, 6 + 51 + 32)
    assert (joined[..., 6:57] == 2).all()
    assert (joined[..., 57:] == 3).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_result_has_the_dtype_of_the_boxes(dtype) -> None:
    boxes, scores, labels = parts()
    assert concatenate(boxes.astype(dtype), scores.astype(np.float64), labels.astype(np.int32)).dtype == dtype


def test_large_class_ids_are_exact_in_float32() -> None:
    boxes, scores, labels = parts()
    labels[:] = 2**24
    assert (concatenate(boxes, scores, labels)[..., 5] == 2**24).all()


def test_no_detections_are_joined_too() -> None:
    assert concatenate(*parts(count=0)).shape == (2, 0, 6)


@pytest.mark.parametrize("name", ["scores", "labels", "extras[0]", "extras[1]"])
@pytest.mark.parametrize("rows", [(1, 5), (2, 4)], ids=["another batch", "another count"])
def test_a_part_of_another_length_is_named(name: str, rows: tuple[int, int]) -> None:
    boxes, scores, labels = parts()
    given = {"scores": scores, "labels": labels, "extras[0]": np.zeros((2, 5, 3)), "extras[1]": np.zeros((2, 5, 7))}
    given[name] = np.zeros((*rows, *given[name].shape[2:]), given[name].dtype)
    with pytest.raises(ModelError) as error:
        concatenate(boxes, *given.values())
    assert name in str(error.value)


@pytest.mark.parametrize("boxes", [np.zeros((5, 4)), np.zeros((1, 5, 5)), np.zeros((1, 5, 4), np.int64)])
def test_boxes_that_are_none_are_named(boxes) -> None:
    with pytest.raises(ModelError, match="boxes"):
        concatenate(boxes, np.zeros((1, 5)), np.zeros((1, 5), np.int64))
