from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.tasks.predictions import Settings
from edgekit.tasks.selection import filtered, strongest

scores = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 1.0, float("nan"), float("inf"), float("-inf")]))


@given(scores, st.integers(0, 10))
def test_the_strongest_are_finite_good_enough_and_in_stable_order(scores: list[float], limit: int) -> None:
    good = [i for i, score in enumerate(scores) if np.isfinite(score) and score >= 0.25]
    expected = sorted(good, key=lambda i: -scores[i])[:limit]
    assert strongest(np.array(scores, np.float32), 0.25, limit).tolist() == expected


@pytest.mark.filterwarnings("error")
def test_padding_does_not_take_the_place_of_a_detection() -> None:
    boxes = np.array([[np.nan] * 4, [0, 0, 1, 1], [1, 1, 2, 2], [2, 2, 3, 3]], np.float32)
    found = filtered(
        boxes,
        np.array([0.9, 0.8, 0.7, 0.6], np.float32),
        np.array([0, -1, np.nan, 5], np.float32),
        Settings(max_detections=1),
    )
    assert found.class_ids.tolist() == [5]
    assert found.boxes.tolist() == [[2, 2, 3, 3]]
