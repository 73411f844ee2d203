"""Changes to a model, each with what it needs and what it promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import onnx


@dataclass(frozen=True)
class PassResult:
    """The model after a pass. The one that went in is not changed."""

    model: onnx.ModelProto
    changed: bool
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # further figures, for report.json


class Pass(Protocol):
    """One change to a model."""

    @property
    def tolerance(self) -> float | None:
        """The largest difference of an output, as a share of its range, that the pass may cause.

        None where a difference is what the pass is for (a lower precision): it is then measured and reported.
        """

    @property
    def optional(self) -> bool:
        """Whether packaging goes on without the pass where it fails or goes beyond its tolerance, and says so."""

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Change a copy of the model."""


def copy(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model of one's own to change."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    return out
