"""Evaluation runs the model over the images and keeps the score."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from edgekit import runtime
from edgekit.errors import UsageError
from edgekit.evaluation import Dataset, evaluate, open_dataset
from edgekit.runtime import Model
from tests.evaluation.standin import StandIn, classified, found

BOX = (20, 10, 100, 50)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    """Six images of 200 by 100 with a light rectangle of class 0 each, labelled in YOLO's form."""
    image = np.full((100, 200, 3), 60, np.uint8)
    cv2.rectangle(image, BOX[:2], (BOX[2] - 1, BOX[3] - 1), (200, 200, 200), -1)
    for i in range(6):
        cv2.imwrite(str(tmp_path / f"{i}.png"), image)
        (tmp_path / f"{i}.txt").write_text("0 0.3 0.3 0.4 0.4\n")
    return open_dataset(tmp_path, task="detect", names={})


def test_a_model_that_finds_everything_scores_one(data: Dataset) -> None:
    measured = evaluate(StandIn({}, otherwise=found((*BOX, 0.9, 0))), data)
    assert measured.metrics == pytest.approx({"map50_95": 1, "map50": 1, "map75": 1})
    assert (measured.task, measured.images, measured.inference_ms) == ("detect", 6, 1.0)
    assert [(score.class_id, score.count) for score in measured.per_class] == [(0, 6)]


def test_a_model_that_finds_half_scores_half(data: Dataset) -> None:
    answers = {f"{i}.png": found((*BOX, 0.9, 0)) for i in range(3)}
    assert evaluate(StandIn(answers, otherwise=found()), data).metrics["map50"] == pytest.approx(51 / 101)


def test_the_settings_are_those_of_evaluation_unless_said(data: Dataset) -> None:
    model = StandIn({}, otherwise=found())
    evaluate(model, data)
    assert model.settings == {"conf": 0.001, "iou": 0.7, "max_detections": 300}
    evaluate(model, data, conf=0.25, iou=0.5, max_det=10)
    assert model.settings == {"conf": 0.25, "iou": 0.5, "max_detections": 10}


def test_a_limit_is_spread_over_the_images(data: Dataset) -> None:
    model = StandIn({}, otherwise=found())
    assert evaluate(model, data, limit=3).images == 3
    assert model.seen == ["0.png", "2.png", "4.png"]
    assert evaluate(model, data, limit=100).images == 6


def test_progress_is_told_image_by_image(data: Dataset) -> None:
    steps: list[tuple[str, int, int]] = []
    evaluate(StandIn({}, otherwise=found()), data, limit=2, progress=lambda *step: steps.append(step))
    assert steps == [("0.png", 1, 2), ("3.png", 2, 2)]


def test_an_image_that_cannot_be_read_is_named(data: Dataset) -> None:
    (data.path / "4.png").write_text("no image")
    with pytest.raises(UsageError, match=r"4\.png is not an image"):
        evaluate(StandIn({}, otherwise=found()), data)


def test_a_task_without_metric_is_refused_before_the_first_image(data: Dataset) -> None:
    model = StandIn({}, task="raw")
    with pytest.raises(UsageError, match=r"stand-in\.onnx has task raw, which has no metric: detect and classify have"):
        evaluate(model, data)
    assert model.seen == []


def test_labels_of_another_task_are_refused(data: Dataset) -> None:
    with pytest.raises(UsageError, match=r"task classify, the labels of .* are for detect"):
        evaluate(StandIn({}, task="classify", otherwise=classified(1)), data)


def test_a_real_detector_scores_what_it_should(zoo: Path) -> None:
    model: Model = runtime.load(zoo / "models" / "yolov8n.onnx")
    data = open_dataset(zoo / "images" / "coco128", task="detect", names=model.names)
    assert (len(data), sum(len(sample.truth) for sample in data.samples)) == (128, 929)
    measured = evaluate(model, data, limit=8)
    assert measured.images == 8
    assert 0.3 < measured.metrics["map50_95"] < measured.metrics["map50"] < 1
