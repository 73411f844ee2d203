"""Top-1 and top-5, counted by hand."""

from __future__ import annotations

import pytest

from edgekit.errors import UsageError
from edgekit.evaluation.classification import ClassificationMetric
from tests.evaluation.standin import classified, found


def test_top1_and_top5_are_parts_of_the_images() -> None:
    metric = ClassificationMetric()
    falling = classified(0.3, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05)
    for truth in (0, 0, 4, 5):
        metric.add(falling, truth)
    measured = metric.scores()
    assert measured.metrics == {"top1": 0.5, "top5": 0.75}
    assert [(s.class_id, s.count, s.metrics["top1"], s.metrics["top5"]) for s in measured.per_class] == [
        (0, 2, 1, 1),
        (4, 1, 0, 1),
        (5, 1, 0, 0),
    ]


def test_a_class_beyond_the_model_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"photo\.png has class 2, but the model knows 2"):
        ClassificationMetric().add(classified(0.5, 0.5), 2)


def test_a_result_without_probabilities_is_refused() -> None:
    with pytest.raises(UsageError, match="task detect has no probabilities"):
        ClassificationMetric().add(found(), 0)


def test_no_image_is_an_error_and_not_a_number() -> None:
    with pytest.raises(UsageError, match="no images"):
        ClassificationMetric().scores()
