"""A stand-in for a model: it answers each image with what it was told to find there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from edgekit.runtime import image
from edgekit.runtime.result import Boxes, Probs, Result

Found = tuple[float, float, float, float, float, int]  # x1 y1 x2 y2 score class


def found(*rows: Found, shape: tuple[int, int] = (100, 200)) -> Result:
    """A detector's result."""
    table = np.array(rows, np.float64).reshape(-1, 6)
    boxes = Boxes(table[:, :4].astype(np.float32), table[:, 4].astype(np.float32), table[:, 5].astype(np.int64), shape)
    return Result("photo.png", shape, "detect", boxes=boxes, speed={"inference": 1.0})


def classified(*probabilities: float) -> Result:
    """A classifier's result."""
    probs = Probs(np.array(probabilities, np.float32))
    return Result("photo.png", (100, 200), "classify", probs=probs, speed={"inference": 1.0})


@dataclass
class StandIn:
    """Has of `edgekit.runtime.Model` what evaluation uses. `answers` by image name; others get `otherwise`."""

    answers: Mapping[str, Result]
    task: str = "detect"
    names: Mapping[int, str] = field(default_factory=dict)
    otherwise: Result | None = None
    path: Path = Path("stand-in.onnx")
    settings: dict[str, Any] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)

    @property
    def interface(self) -> SimpleNamespace:
        return SimpleNamespace(task=self.task)

    def stream(self, sources: Iterable[Path], **settings: Any) -> Iterator[Result]:
        self.settings = settings
        for source in sources:
            image.read(source)  # as the model does: an image that cannot be read is an error
            self.seen.append(source.name)
            result = self.answers.get(source.name, self.otherwise)
            assert result is not None, f"the stand-in was not told what is in {source}"
            yield result
