from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from edgekit.tasks import nms
from edgekit.tasks.boxes import iou
from edgekit.tasks.nms import suppress
from edgekit.tasks.predictions import Settings

UNLIMITED = Settings(max_candidates=10**9, max_detections=10**9)


class Scene(NamedTuple):
    boxes: NDArray[np.float32]
    scores: NDArray[np.float32]
    class_ids: NDArray[np.int64]

    def of(self, which: NDArray[np.int64]) -> Scene:
        return Scene(*(part[which] for part in self))


def scene(boxes: list[list[float]], scores: list[float], class_ids: list[int]) -> Scene:
    return Scene(
        np.array(boxes, np.float32).reshape(-1, 4), np.array(scores, np.float32), np.array(class_ids, np.int64)
    )


@st.composite
def scenes(draw: st.DrawFn, *, distinct: bool = False) -> Scene:
    """Boxes at whole pixels, so that every area and every overlap is exact; some are empty or inside out."""
    count = draw(st.integers(0, 30))
    side = st.integers(0, 12)
    boxes = draw(st.lists(st.tuples(side, side, side, side), min_size=count, max_size=count))
    levels = st.integers(0, 1000) if distinct else st.integers(0, 5)
    scores = draw(st.lists(levels, min_size=count, max_size=count, unique=distinct))
    class_ids = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    return scene([list(box) for box in boxes], [s / 1000 for s in scores], class_ids)


@st.composite
def settings(draw: st.DrawFn) -> Settings:
    return replace(
        UNLIMITED, iou=draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), class_agnostic=draw(st.booleans())
    )


blocks = st.sampled_from([1, 2, 5, 128])


def by_the_book(scene: Scene, settings: Settings) -> list[int]:
    """Greedy NMS, one pair of boxes at a time."""

    def overlap(a: list[float], b: list[float]) -> float:
        width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        if width <= 0 or height <= 0:
            return 0
        both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
        return width * height / (both - width * height)

    boxes = scene.boxes.tolist()
    waiting = sorted(range(len(boxes)), key=lambda i: -scene.scores[i])[: settings.max_candidates]
    kept: list[int] = []
    for i in waiting:
        rivals = [k for k in kept if settings.class_agnostic or scene.class_ids[k] == scene.class_ids[i]]
        if all(overlap(boxes[k], boxes[i]) <= settings.iou for k in rivals):
            kept.append(i)
    return kept[: settings.max_detections]


@given(scenes(), settings(), blocks, st.integers(1, 40), st.integers(1, 40))
def test_it_agrees_with_nms_by_the_book(
    scene: Scene, settings: Settings, block: int, max_candidates: int, max_detections: int
) -> None:
    settings = replace(settings, max_candidates=max_candidates, max_detections=max_detections)
    with mock.patch.object(nms, "BLOCK", block):
        assert suppress(*scene, settings).tolist() == by_the_book(scene, settings)


@given(scenes(), settings(), blocks)
def test_kept_boxes_do_not_overlap_within_their_class(scene: Scene, settings: Settings, block: int) -> None:
    with mock.patch.object(nms, "BLOCK", block):
        kept = scene.of(suppress(*scene, settings))
    rivals = kept.class_ids[:, None] == kept.class_ids
    if settings.class_agnostic:
        rivals[:] = True
    np.fill_diagonal(rivals, False)
    assert not (rivals & (iou(kept.boxes, kept.boxes) > settings.iou)).any()


@given(scenes(), settings(), blocks)
def test_a_dropped_box_overlaps_a_better_kept_one_of_its_class(scene: Scene, settings: Settings, block: int) -> None:
    with mock.patch.object(nms, "BLOCK", block):
        kept = suppress(*scene, settings)
    for i in set(range(len(scene.scores))) - set(kept.tolist()):
        better = kept[scene.scores[kept] >= scene.scores[i]]
        if not settings.class_agnostic:
            better = better[scene.class_ids[better] == scene.class_ids[i]]
        assert (iou(scene.boxes[better], scene.boxes[[i]]) > settings.iou).any()


@given(scenes(), settings())
def test_what_it_keeps_is_given_once_each_best_first(scene: Scene, settings: Settings) -> None:
    kept = suppress(*scene, settings)
    assert len(set(kept.tolist())) == len(kept)
    assert (np.diff(scene.scores[kept]) <= 0).all()


@given(scenes(distinct=True), settings(), st.randoms(use_true_random=False))
def test_the_order_of_boxes_with_distinct_scores_does_not_matter(scene: Scene, settings: Settings, random) -> None:
    shuffled = list(range(len(scene.scores)))
    random.shuffle(shuffled)
    order = np.array(shuffled, np.int64)
    kept = suppress(*scene.of(order), settings)
    assert order[kept].tolist() == suppress(*scene, settings).tolist()


@given(scenes(), settings())
def test_keeping_again_what_was_kept_changes_nothing(scene: Scene, settings: Settings) -> None:
    kept = scene.of(suppress(*scene, settings))
    assert suppress(*kept, settings).tolist() == list(range(len(kept.scores)))


def test_the_same_box_of_two_classes_is_kept_twice_unless_class_agnostic() -> None:
    twins = scene([[0, 0, 10, 10], [0, 0, 10, 10]], [0.8, 0.9], [3, 4])
    assert suppress(*twins, UNLIMITED).tolist() == [1, 0]
    assert suppress(*twins, replace(UNLIMITED, class_agnostic=True)).tolist() == [1]


def test_classes_are_compared_and_not_moved_apart() -> None:
    # moved apart by class id times the largest coordinate, the second would lie on the third
    far = scene([[0, 0, 10, 10], [-100, 0, -90, 10], [0, 0, 10, 10]], [0.9, 0.8, 0.7], [0, 1, 0])
    assert suppress(*far, UNLIMITED).tolist() == [0, 1]


def test_of_equal_boxes_with_equal_scores_the_first_stays() -> None:
    same = scene([[0, 0, 10, 10]] * 5, [0.5] * 5, [0] * 5)
    assert suppress(*same, UNLIMITED).tolist() == [0]


@pytest.mark.filterwarnings("error")
def test_boxes_and_scores_that_are_not_finite_are_dropped() -> None:
    nan, inf = float("nan"), float("inf")
    broken = scene(
        [[0, 0, 10, 10], [nan, 0, 10, 10], [0, 0, inf, 10], [20, 0, 30, 10], [40, 0, 50, 10], [60, 0, 3e38, 3e38]],
        [0.5, 0.9, 0.9, nan, inf, 0.4],
        [0] * 6,
    )
    assert suppress(*broken, UNLIMITED).tolist() == [0, 5]


def test_no_boxes_give_no_indices() -> None:
    kept = suppress(*scene([], [], []), Settings())
    assert kept.shape == (0,)
    assert kept.dtype == np.int64


def test_only_the_best_candidates_are_looked_at_and_only_so_many_are_kept() -> None:
    row = scene([[20 * i, 0, 20 * i + 10, 10] for i in range(10)], [0.1 * i for i in range(10)], [0] * 10)
    assert suppress(*row, replace(UNLIMITED, max_candidates=3)).tolist() == [9, 8, 7]
    assert suppress(*row, replace(UNLIMITED, max_detections=2)).tolist() == [9, 8]
    assert suppress(*row, replace(UNLIMITED, max_detections=0)).tolist() == []
