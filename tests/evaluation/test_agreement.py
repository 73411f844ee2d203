"""Agreement of two models, in cases that can be worked out by hand."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.evaluation.agreement import (
    Agreement,
    ClassificationTally,
    DetectionTally,
    NoAgreement,
    agreement,
    partners,
)
from edgekit.runtime.result import Boxes, Result
from tests.evaluation.standin import StandIn, classified, found

CAT, DOG = (10, 10, 50, 50, 0.9, 0), (60, 20, 90, 40, 0.6, 1)


@pytest.fixture
def photos(tmp_path: Path) -> list[Path]:
    for i in range(3):
        cv2.imwrite(str(tmp_path / f"{i}.png"), np.zeros((100, 200, 3), np.uint8))
    return sorted(tmp_path.glob("*.png"))


def detections(*pairs: tuple[Result, Result]) -> Agreement:
    tally = DetectionTally()
    for reference, candidate in pairs:
        tally.add(reference, candidate)
    return tally.agreement()


def classes(*pairs: tuple[Result, Result]) -> Agreement:
    tally = ClassificationTally()
    for reference, candidate in pairs:
        tally.add(reference, candidate)
    return tally.agreement()


def boxes_of(result: Result) -> Boxes:
    assert result.boxes is not None
    return result.boxes


def test_the_same_detections_agree_wholly() -> None:
    agreed = detections((found(CAT, DOG), found(CAT, DOG)), (found(), found()))
    assert (agreed.score, agreed.images) == (pytest.approx(1), 2)
    assert agreed.terms == pytest.approx({"f1": 1, "iou": 1, "score_difference": 0, "map50_95": 1})


def test_a_missed_and_an_invented_object_count_alike() -> None:
    one, both = found(CAT), found(CAT, DOG)
    assert detections((both, one)).terms["f1"] == detections((one, both)).terms["f1"] == pytest.approx(2 / 3)


def test_partners_are_measured_by_overlap_and_score() -> None:
    moved = (0, 0, 80, 10, 0.7, 0)
    agreed = detections((found((0, 0, 100, 10, 0.9, 0)), found(moved)))
    assert agreed.terms["iou"] == pytest.approx(0.8)
    assert agreed.terms["score_difference"] == pytest.approx(0.2)
    assert agreed.score == pytest.approx(0.7)  # 0.8 reaches 0.5 to 0.8 of the ten thresholds


def test_another_class_is_another_object() -> None:
    agreed = detections((found(CAT), found((*CAT[:5], 1))))
    assert agreed.score == 0
    assert agreed.terms == {"f1": 0, "iou": None, "score_difference": None, "map50_95": 0}


def test_what_no_user_sees_is_no_truth_but_may_be_found() -> None:
    faint = (*CAT[:4], 0.2, 0)
    assert detections((found(faint, DOG), found(DOG))).score == pytest.approx(1)
    agreed = detections((found(CAT), found(faint)))
    assert (agreed.score, agreed.terms["f1"]) == (pytest.approx(1), 0)


def test_finding_what_the_reference_does_not_is_no_agreement_at_all() -> None:
    assert detections((found(), found(CAT))).score == 0


def test_nothing_found_by_either_is_said_and_not_scored() -> None:
    with pytest.raises(NoAgreement, match="neither model finds an object in the 1 images"):
        detections((found(), found((*CAT[:4], 0.1, 0))))


def test_the_best_overlap_is_paired_first() -> None:
    # the first of a overlaps both of b, the second only the first of b, better
    a = found((0, 0, 100, 10, 0.9, 0), (20, 0, 120, 10, 0.8, 0))
    b = found((15, 0, 115, 10, 0.9, 0), (0, 0, 70, 10, 0.8, 0))
    assert [(i, j) for i, j, _ in partners(boxes_of(a), boxes_of(b))] == [(1, 0), (0, 1)]


def test_top1_is_the_part_of_the_images_with_the_same_likeliest_class() -> None:
    agreed = classes(
        (classified(0.7, 0.2, 0.1), classified(0.6, 0.3, 0.1)), (classified(0.7, 0.2, 0.1), classified(0.4, 0.5, 0.1))
    )
    assert agreed.score == 0.5
    assert agreed.terms == pytest.approx({"top1": 0.5, "probability_difference": 0.2})


def test_other_numbers_of_classes_cannot_agree() -> None:
    with pytest.raises(NoAgreement, match="one model knows 2 classes, the other 3"):
        classes((classified(0.5, 0.5), classified(0.5, 0.3, 0.2)))


def test_both_models_see_every_image(photos: list[Path]) -> None:
    reference = StandIn({}, otherwise=found(CAT))
    candidate = StandIn({"1.png": found()}, otherwise=found(CAT))
    steps: list[tuple[str, int, int]] = []
    agreed = agreement(reference, candidate, photos, progress=lambda *step: steps.append(step))
    assert agreed.images == 3
    assert agreed.terms["f1"] == pytest.approx(2 * 2 / 5)
    assert reference.seen == candidate.seen == ["0.png", "1.png", "2.png"]
    assert steps[-1] == ("agreement", 3, 3)


def test_scores_below_those_of_use_count_as_in_evaluation(photos: list[Path]) -> None:
    models = [StandIn({}, otherwise=found(CAT)) for _ in range(2)]
    agreement(models[0], models[1], photos)
    assert [m.settings for m in models] == [{"conf": 0.001, "iou": 0.7, "max_detections": 300}] * 2


def test_models_of_different_tasks_are_refused(photos: list[Path]) -> None:
    with pytest.raises(UsageError, match=r"has task detect, .* has task classify"):
        agreement(StandIn({}), StandIn({}, task="classify"), photos)


def test_a_raw_model_has_no_terms_to_agree_in(photos: list[Path]) -> None:
    with pytest.raises(NoAgreement, match="task raw has no terms"):
        agreement(StandIn({}, task="raw"), StandIn({}, task="raw"), photos)


@pytest.mark.parametrize("task", ["detect", "classify"])
def test_no_image_is_no_agreement(task: str) -> None:
    with pytest.raises(NoAgreement):
        agreement(StandIn({}, task=task), StandIn({}, task=task), [])


rows = st.tuples(
    st.integers(0, 80),
    st.integers(0, 40),
    st.integers(1, 80),
    st.integers(1, 40),
    st.floats(0.25, 1),
    st.integers(0, 2),
).map(lambda r: (r[0], r[1], r[0] + r[2], r[1] + r[3], r[4], r[5]))
results = st.lists(rows, max_size=6, unique_by=lambda r: (r[:4], r[5])).map(lambda r: found(*r))


@given(results, results)
def test_every_term_is_between_nothing_and_one(a: Result, b: Result) -> None:
    if len(a) + len(b):
        agreed = detections((a, b))
        assert all(value is None or 0 <= value <= 1 + 1e-9 for value in (agreed.score, *agreed.terms.values()))


@given(results.filter(len))
def test_a_result_agrees_with_itself(result: Result) -> None:
    agreed = detections((result, result))
    assert agreed.score == pytest.approx(1)
    assert agreed.terms["f1"] == 1
