"""Top-1 and top-5 accuracy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from edgekit.errors import UsageError
from edgekit.evaluation.metric import ClassScore, Scores

if TYPE_CHECKING:
    from edgekit.runtime.result import Result


@dataclass
class ClassificationMetric:
    """The part of the images whose class is the likeliest (top1), or among the five likeliest (top5)."""

    images: Counter[int] = field(default_factory=Counter)  # by true class
    first: Counter[int] = field(default_factory=Counter)
    among_five: Counter[int] = field(default_factory=Counter)

    def add(self, result: Result, truth: int) -> None:
        """See `Metric.add`."""
        if result.probs is None:
            raise UsageError(f"a result of task {result.task} has no probabilities to compare with the labels")
        if truth >= len(result.probs.data):
            raise UsageError(f"{result.source} has class {truth}, but the model knows {len(result.probs.data)}")
        likeliest = result.probs.top5
        self.images[truth] += 1
        self.first[truth] += likeliest[0] == truth
        self.among_five[truth] += truth in likeliest

    def scores(self) -> Scores:
        """See `Metric.scores`."""
        total = self.images.total()
        if not total:
            raise UsageError("there are no images to measure on")
        per_class = tuple(
            ClassScore(i, n, {"top1": self.first[i] / n, "top5": self.among_five[i] / n})
            for i, n in sorted(self.images.items())
        )
        return Scores({"top1": self.first.total() / total, "top5": self.among_five.total() / total}, per_class)
