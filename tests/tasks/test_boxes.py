from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgekit.tasks.boxes import iou, xywh_to_xyxy

shapes = st.tuples(st.integers(0, 6), st.just(4))
any_boxes = arrays(np.float32, shapes, elements=st.floats(allow_nan=False, allow_infinity=False, width=32))
whole_pixels = arrays(np.float32, shapes, elements=st.integers(-50, 50).map(float))


def test_centre_and_size_become_corners() -> None:
    boxes = np.array([[10, 20, 4, 6], [0, 0, 0, 0]], np.float32)
    assert xywh_to_xyxy(boxes).tolist() == [[8, 17, 12, 23], [0, 0, 0, 0]]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_conversion_keeps_the_dtype(dtype) -> None:
    assert xywh_to_xyxy(np.ones((3, 4), dtype)).dtype == dtype


@given(whole_pixels)
def test_corners_give_back_centre_and_size(boxes) -> None:
    x1, y1, x2, y2 = xywh_to_xyxy(boxes).T
    np.testing.assert_array_equal(np.stack([(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1], axis=1), boxes)


def test_overlap_of_boxes_worked_out_by_hand() -> None:
    a = np.array([[0, 0, 10, 10]])
    b = np.array([[0, 0, 10, 10], [5, 0, 15, 10], [10, 0, 20, 10], [2, 2, 4, 4], [-5, -5, 20, 20]])
    np.testing.assert_allclose(iou(a, b), [[1, 50 / 150, 0, 4 / 100, 100 / 625]])


@pytest.mark.parametrize(
    "box", [[5, 5, 5, 5], [0, 5, 10, 5], [10, 10, 0, 0], [10, 0, 0, 10]], ids=["point", "line", "inside out", "flipped"]
)
def test_a_box_without_an_area_overlaps_nothing(box: list[int]) -> None:
    assert iou(np.array([box]), np.array([box, [0, 0, 10, 10]])).tolist() == [[0, 0]]


@pytest.mark.filterwarnings("error")
@given(any_boxes, any_boxes)
def test_overlap_is_symmetric_and_within_0_and_1_for_every_finite_box(a, b) -> None:
    overlap = iou(a, b)
    assert overlap.shape == (len(a), len(b))
    assert ((overlap >= 0) & (overlap <= 1)).all()
    np.testing.assert_array_equal(overlap, iou(b, a).T)


@given(any_boxes)
def test_a_box_with_an_area_overlaps_itself_wholly(boxes) -> None:
    solid = boxes[(boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])]
    np.testing.assert_allclose(np.diag(iou(solid, solid)), 1)
