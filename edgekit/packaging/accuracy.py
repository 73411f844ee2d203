"""How good a model still is: by labels where there are any, else by agreement with the float model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import onnx

from edgekit.errors import UsageError
from edgekit.evaluation import Dataset, evaluate
from edgekit.evaluation.agreement import agreement
from edgekit.manifest import Interface
from edgekit.runtime import session
from edgekit.runtime.model import Model


class Judge(Protocol):
    """Gives a model a score; more is better."""

    @property
    def what(self) -> str:
        """What the score is, for the report."""

    def __call__(self, model: Model) -> float:
        """The score, 0..1."""

    @property
    def paths(self) -> list[Path]:
        """The images that are looked at."""

    def halves(self) -> tuple[Judge, Judge]:
        """Two judges who share no image: one to choose by, one to report."""


@dataclass(frozen=True)
class ByLabels:
    """The task's own metric, on labelled images."""

    data: Dataset

    @property
    def what(self) -> str:
        """The metric and the data."""
        metric = "mAP50-95" if self.data.task == "detect" else "top-1"
        return f"{metric} on {len(self.data)} labelled images of {self.data.path.name}"

    def __call__(self, model: Model) -> float:
        """mAP50-95 or top-1."""
        return next(iter(evaluate(model, self.data).metrics.values()))

    @property
    def paths(self) -> list[Path]:
        """The labelled images."""
        return [sample.path for sample in self.data.samples]

    def halves(self) -> tuple[Judge, Judge]:
        """Every other image."""
        samples = self.data.samples
        return (
            ByLabels(replace(self.data, samples=samples[::2])),
            ByLabels(replace(self.data, samples=samples[1::2])),
        )


@dataclass(frozen=True)
class ByAgreement:
    """How far a model agrees with the float one, where there are no labels."""

    reference: Model
    images: Sequence[Path]

    @property
    def what(self) -> str:
        """What stands in for the metric."""
        return f"agreement with the float model on {len(self.images)} images without labels"

    def __call__(self, model: Model) -> float:
        """1 where both find the same."""
        return agreement(self.reference, model, self.images).score

    @property
    def paths(self) -> list[Path]:
        """The images without labels."""
        return list(self.images)

    def halves(self) -> tuple[Judge, Judge]:
        """Every other image."""
        return ByAgreement(self.reference, self.images[::2]), ByAgreement(self.reference, self.images[1::2])


@dataclass(frozen=True)
class Budget:
    """How much of a score quantization may cost.

    Law: `max_drop` is 0 or more.
    """

    judge: Judge
    max_drop: float

    def __post_init__(self) -> None:
        if not self.max_drop >= 0:
            raise UsageError(f"--max-drop is {self.max_drop}, must be 0 or more")


def opened(model: onnx.ModelProto, interface: Interface, name: str = "the quantized model") -> Model:
    """A model in memory, ready to be judged."""
    ready = session.create(model.SerializeToString(), name=name)
    return Model(ready, interface, path=Path(name))
