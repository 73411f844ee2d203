"""What every metric does: it takes results one by one and keeps little of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from edgekit.runtime.result import Result


@dataclass(frozen=True)
class ClassScore:
    """One class's part in a metric."""

    class_id: int
    count: int  # labelled objects, or images for classify
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Scores:
    """The metrics by name, best 1, and each class's that has labels, by class id."""

    metrics: Mapping[str, float]
    per_class: tuple[ClassScore, ...]


class Metric(Protocol):
    """Adds up results and their truth."""

    def add(self, result: Result, truth: Any) -> None:
        """Take one image's result; `truth` is its sample's.

        Raises:
            UsageError: the truth cannot be that of this image or this model.
        """

    def scores(self) -> Scores:
        """The metrics of what was added.

        Raises:
            UsageError: there is nothing to measure on.
        """
