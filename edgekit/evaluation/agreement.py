"""How far two models agree on the same images, in their task's terms: for images that nobody has labelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import UsageError
from edgekit.evaluation.datasets import Objects
from edgekit.evaluation.detection import DetectionMetric
from edgekit.evaluation.evaluation import Progress
from edgekit.runtime.result import Boxes
from edgekit.tasks.boxes import iou

if TYPE_CHECKING:
    from edgekit.runtime.model import Model
    from edgekit.runtime.result import Result

CONFIDENT = 0.25  # the lowest score of what a user sees
OVERLAP = 0.5  # the least IoU of two boxes that are the same object
# evaluation's own: average precision looks at all scores
SETTINGS: Mapping[str, Any] = {"conf": 0.001, "iou": 0.7, "max_detections": 300}


class NoAgreement(UsageError):
    """Nothing can be said of how far two models agree; the message is why."""


@dataclass(frozen=True)
class Agreement:
    """How far a candidate agrees with a reference.

    Law: `score` is in 0..1, and 1 for a model with itself.

    detect: `score` is the candidate's map50_95 with the reference's confident detections as truth. The terms, over the
    confident detections of both: f1 (of those with a partner of the same class in the other model), iou and
    score_difference (means over the partners; none where there are no partners).
    classify: `score` is top1, the part of the images with the same likeliest class. The other term is
    probability_difference, the mean over the images for the class that is the reference's likeliest.
    """

    task: str
    images: int
    score: float
    terms: Mapping[str, float | None]


def agreement(
    reference: Model, candidate: Model, images: Sequence[Any], *, progress: Progress | None = None
) -> Agreement:
    """Run both models on each image. Of the results little is kept.

    Args:
        images: paths or arrays, as a model takes them.
        progress: called with what is being done, how many images are done, and how many there are.

    Raises:
        NoAgreement: the task has no terms, there are no images, or neither model finds anything in them.
        UsageError: the models have different tasks, or an image cannot be read.
        DependencyError: the metric's library is not installed.
    """
    task = reference.interface.task
    if candidate.interface.task != task:
        raise UsageError(f"{reference.path} has task {task}, {candidate.path} has task {candidate.interface.task}")
    if task not in TALLIES:
        raise NoAgreement(f"task {task} has no terms to agree in: {' and '.join(TALLIES)} have")
    tally = TALLIES[task]()
    pairs = zip(reference.stream(images, **SETTINGS), candidate.stream(images, **SETTINGS), strict=True)
    for done, (expected, found) in enumerate(pairs, 1):
        tally.add(expected, found)
        if progress:
            progress("agreement", done, len(images))
    return tally.agreement()


class Tally(Protocol):
    """Takes pairs of results one by one and keeps little of each."""

    def add(self, reference: Result, candidate: Result) -> None:
        """What the two models give for one image."""

    def agreement(self) -> Agreement:
        """How far they agree on what was added.

        Raises:
            NoAgreement: it says nothing about them.
        """


@dataclass
class DetectionTally:
    """Pairs up the confident detections, and measures all of the candidate's with the reference's as truth."""

    metric: DetectionMetric = field(default_factory=DetectionMetric)
    images: int = 0
    reference: int = 0  # confident detections
    candidate: int = 0
    overlaps: list[float] = field(default_factory=list)  # of the partners, and their scores' differences
    differences: list[float] = field(default_factory=list)

    def add(self, reference: Result, candidate: Result) -> None:
        """See `Tally.add`."""
        if reference.boxes is None or candidate.boxes is None:
            raise UsageError(f"a result of task {reference.task} has no boxes to compare")
        ours, theirs = _confident(reference.boxes), _confident(candidate.boxes)
        self.images += 1
        self.reference += len(ours)
        self.candidate += len(theirs)
        for i, j, overlap in partners(ours, theirs):
            self.overlaps.append(overlap)
            self.differences.append(abs(float(ours.conf[i]) - float(theirs.conf[j])))
        truth = Objects(ours.xyxy.astype(np.float64), ours.cls, np.zeros(len(ours), np.bool_))
        self.metric.add(candidate, truth)

    def agreement(self) -> Agreement:
        """See `Tally.agreement`."""
        if not self.reference + self.candidate:
            raise NoAgreement(f"neither model finds an object in the {self.images} images (confidence {CONFIDENT})")
        score = self.metric.scores().metrics["map50_95"] if self.reference else 0.0
        terms = {
            "f1": 2 * len(self.overlaps) / (self.reference + self.candidate),
            "iou": _mean(self.overlaps),
            "score_difference": _mean(self.differences),
            "map50_95": score,
        }
        return Agreement("detect", self.images, score, terms)


@dataclass
class ClassificationTally:
    """Counts the images with the same likeliest class."""

    same: list[bool] = field(default_factory=list)
    differences: list[float] = field(default_factory=list)

    def add(self, reference: Result, candidate: Result) -> None:
        """See `Tally.add`."""
        if reference.probs is None or candidate.probs is None:
            raise UsageError(f"a result of task {reference.task} has no probabilities to compare")
        ours, theirs = reference.probs.data, candidate.probs.data
        if len(ours) != len(theirs):
            raise NoAgreement(f"one model knows {len(ours)} classes, the other {len(theirs)}")
        likeliest = reference.probs.top1
        self.same.append(candidate.probs.top1 == likeliest)
        self.differences.append(abs(float(ours[likeliest]) - float(theirs[likeliest])))

    def agreement(self) -> Agreement:
        """See `Tally.agreement`."""
        if not self.same:
            raise NoAgreement("there are no images to agree on")
        score = sum(self.same) / len(self.same)
        terms = {"top1": score, "probability_difference": _mean(self.differences)}
        return Agreement("classify", len(self.same), score, terms)


TALLIES: Mapping[str, Callable[[], Tally]] = {"detect": DetectionTally, "classify": ClassificationTally}


def partners(a: Boxes, b: Boxes) -> list[tuple[int, int, float]]:
    """Which box of `b` is which of `a`, and their overlap: the same class, an IoU of 0.5 or more, each at most once.

    The best overlap is paired first, so that it does not matter which of the two comes first.
    """
    overlaps = np.where(a.cls[:, None] == b.cls[None, :], iou(a.xyxy, b.xyxy), 0.0)
    candidates = np.argwhere(overlaps >= OVERLAP)
    best_first = candidates[np.argsort(-overlaps[overlaps >= OVERLAP], kind="stable")]
    pairs: list[tuple[int, int, float]] = []
    taken_a: set[int] = set()
    taken_b: set[int] = set()
    for i, j in best_first.tolist():
        if i not in taken_a and j not in taken_b:
            taken_a.add(i)
            taken_b.add(j)
            pairs.append((i, j, float(overlaps[i, j])))
    return pairs


def _confident(boxes: Boxes) -> Boxes:
    kept: NDArray[np.bool_] = boxes.conf >= CONFIDENT
    return Boxes(boxes.xyxy[kept], boxes.conf[kept], boxes.cls[kept], boxes.shape)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
