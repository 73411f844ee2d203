"""How good a model is on labelled images."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgekit.errors import UsageError
from edgekit.evaluation.classification import ClassificationMetric
from edgekit.evaluation.datasets import Dataset
from edgekit.evaluation.detection import DetectionMetric
from edgekit.evaluation.metric import ClassScore, Metric

if TYPE_CHECKING:
    from edgekit.runtime.model import Model

METRICS: Mapping[str, Callable[[], Metric]] = {"detect": DetectionMetric, "classify": ClassificationMetric}

Progress = Callable[[str, int, int], None]  # step, done, total


@dataclass(frozen=True)
class Evaluation:
    """What was measured, on how many images."""

    task: str
    images: int
    metrics: Mapping[str, float]  # map50_95, map50, map75, or top1, top5
    per_class: tuple[ClassScore, ...]
    inference_ms: float  # median over the images, without pre- and post-processing


def evaluate(
    model: Model,
    dataset: Dataset,
    *,
    conf: float = 0.001,
    iou: float = 0.7,
    max_det: int = 300,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Run the model on each image and compare with the labels. Of the results only the detections are kept.

    Args:
        conf, iou, max_det: post-processing for detect. They are not the package's own: average precision looks at
            all scores, so a threshold meant for use would cut it short.
        limit: measure this many images, evenly spread over the data set.
        progress: called with what is being done, how many images are done, and how many there are.

    Raises:
        UsageError: the task has no metric or is not the data set's, or an image cannot be read.
        DependencyError: the metric's library is not installed.
    """
    task = model.interface.task
    if task not in METRICS:
        raise UsageError(f"{model.path} has task {task}, which has no metric: {' and '.join(METRICS)} have")
    if task != dataset.task:
        raise UsageError(f"{model.path} has task {task}, the labels of {dataset.path} are for {dataset.task}")
    if limit is not None:
        dataset = dataset.spread(limit)
    metric = METRICS[task]()
    results = model.stream((s.path for s in dataset.samples), conf=conf, iou=iou, max_detections=max_det)
    times = []
    for done, (sample, result) in enumerate(zip(dataset.samples, results, strict=True), 1):
        metric.add(result, sample.truth)
        times.append(result.speed["inference"])
        if progress:
            progress(sample.path.name, done, len(dataset))
    scores = metric.scores()
    return Evaluation(task, len(dataset), scores.metrics, scores.per_class, statistics.median(times))
