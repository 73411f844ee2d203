"""Average precision, in cases that can be worked out by hand."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import DependencyError, UsageError
from edgekit.evaluation.datasets import Objects
from edgekit.evaluation.detection import DetectionMetric
from edgekit.evaluation.metric import Scores
from edgekit.runtime.result import Result
from tests.evaluation.standin import classified, found

Labelled = tuple[float, float, float, float, int]  # x1 y1 x2 y2 class


def labelled(*rows: Labelled, crowd: tuple[int, ...] = (), **more: Any) -> Objects:
    table = np.array(rows, np.float64).reshape(-1, 5)
    return Objects(table[:, :4], table[:, 4].astype(np.int64), np.isin(np.arange(len(table)), crowd), **more)


def scores(*images: tuple[Result, Objects]) -> Scores:
    metric = DetectionMetric()
    for result, truth in images:
        metric.add(result, truth)
    return metric.scores()


def test_everything_found_is_one() -> None:
    truth = labelled((10, 10, 50, 50, 0), (60, 20, 90, 40, 3))
    measured = scores((found((10, 10, 50, 50, 0.9, 0), (60, 20, 90, 40, 0.2, 3)), truth))
    assert measured.metrics == pytest.approx({"map50_95": 1, "map50": 1, "map75": 1})


def test_half_of_the_objects_found_is_half_of_the_recall_points() -> None:
    truth = labelled((10, 10, 50, 50, 0), (60, 20, 90, 40, 0))
    measured = scores((found((10, 10, 50, 50, 0.9, 0)), truth))
    # precision is 1 at recall 0, 0.01, ... 0.5, and 0 beyond
    assert measured.metrics["map50_95"] == pytest.approx(51 / 101)


def test_the_wrong_class_is_nothing() -> None:
    assert scores((found((10, 10, 50, 50, 0.9, 1)), labelled((10, 10, 50, 50, 0)))).metrics["map50"] == 0


def test_nothing_found_is_nothing() -> None:
    assert scores((found(), labelled((10, 10, 50, 50, 0)))).metrics["map50_95"] == 0


def test_a_box_counts_at_the_thresholds_that_its_overlap_reaches() -> None:
    # 62 of 100: reaches 0.5, 0.55 and 0.6 of the ten thresholds
    measured = scores((found((0, 0, 62, 10, 0.9, 0)), labelled((0, 0, 100, 10, 0))))
    assert measured.metrics == pytest.approx({"map50_95": 0.3, "map50": 1, "map75": 0})


def test_something_invented_with_a_better_score_halves_the_precision() -> None:
    measured = scores((found((100, 50, 150, 90, 0.9, 0), (10, 10, 50, 50, 0.8, 0)), labelled((10, 10, 50, 50, 0))))
    assert measured.metrics["map50"] == pytest.approx(0.5)


def test_an_empty_image_costs_what_is_invented_in_it() -> None:
    full = (found((10, 10, 50, 50, 0.8, 0)), labelled((10, 10, 50, 50, 0)))
    assert scores(full, (found(), labelled())).metrics["map50"] == pytest.approx(1)
    assert scores(full, (found((10, 10, 50, 50, 0.9, 0)), labelled())).metrics["map50"] == pytest.approx(0.5)


def test_what_is_found_in_a_crowd_counts_neither_way() -> None:
    truth = labelled((10, 10, 50, 50, 0), (100, 0, 200, 100, 0), crowd=(1,))
    in_crowd = [(100 + 10 * i, 10, 110 + 10 * i, 30, 0.9, 0) for i in range(3)]
    measured = scores((found(*in_crowd, (10, 10, 50, 50, 0.5, 0)), truth))
    assert measured.metrics["map50_95"] == pytest.approx(1)
    assert [score.count for score in measured.per_class] == [1]


def test_classes_are_averaged_over_those_with_labels() -> None:
    truth = labelled((10, 10, 50, 50, 2), (60, 20, 90, 40, 7))
    measured = scores((found((10, 10, 50, 50, 0.9, 2), (0, 0, 9, 9, 0.9, 5)), truth))
    assert [(s.class_id, s.count, round(s.metrics["map50"], 6)) for s in measured.per_class] == [(2, 1, 1), (7, 1, 0)]
    assert measured.metrics["map50"] == pytest.approx(0.5)


def test_relative_labels_are_those_of_the_image_as_it_is() -> None:
    truth = labelled((0.1, 0.1, 0.5, 0.5, 0), relative=True)
    measured = scores((found((20, 10, 100, 50, 0.9, 0), shape=(100, 200)), truth))
    assert measured.metrics["map50_95"] == pytest.approx(1)


def test_labels_for_another_size_are_refused() -> None:
    with pytest.raises(UsageError, match=r"photo\.png has 200x100 pixels, its labels are for 400x200"):
        scores((found(), labelled((10, 10, 50, 50, 0), shape=(200, 400))))


def test_no_label_at_all_is_an_error_and_not_a_number() -> None:
    with pytest.raises(UsageError, match="nothing to measure on"):
        scores((found((10, 10, 50, 50, 0.9, 0)), labelled()))


def test_a_result_without_boxes_is_refused() -> None:
    with pytest.raises(UsageError, match="task classify has no boxes"):
        scores((classified(0.5, 0.5), labelled()))


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    scores((found((10, 10, 50, 50, 0.9, 0)), labelled((10, 10, 50, 50, 0))))
    assert capfd.readouterr().out == ""


def test_without_pycocotools_the_line_to_type_comes_before_the_first_image(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("pycocotools"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DependencyError) as caught:
        DetectionMetric()
    assert caught.value.hint == 'pip install "edgekit[host]"'


rows = st.tuples(st.integers(0, 80), st.integers(0, 80), st.integers(1, 80), st.integers(1, 80), st.integers(0, 4)).map(
    lambda r: (r[0], r[1], r[0] + r[2], r[1] + r[3], r[4])
)
images = st.lists(st.lists(rows, max_size=6), min_size=1, max_size=4).filter(any)


@given(images)
def test_the_truth_itself_scores_one(truths: list[list[Labelled]]) -> None:
    pairs = [(found(*((*row[:4], 0.9, row[4]) for row in truth)), labelled(*truth)) for truth in truths]
    assert scores(*pairs).metrics == pytest.approx({"map50_95": 1, "map50": 1, "map75": 1})


@given(images, st.randoms())
def test_every_metric_is_between_nothing_and_one(truths: list[list[Labelled]], random: Any) -> None:
    others = [list(truth) for truth in truths]
    random.shuffle(others)
    pairs = [
        (found(*((*row[:4], random.random(), row[4]) for row in other)), labelled(*truth))
        for truth, other in zip(truths, others, strict=True)
    ]
    measured = scores(*pairs)
    assert all(0 <= value <= 1 + 1e-9 for value in measured.metrics.values())
    assert measured.metrics["map50"] >= measured.metrics["map50_95"] - 1e-9
