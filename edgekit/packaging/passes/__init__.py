"""Changes to a model, each with what it needs and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import onnx


@dataclass(frozen=True)
class PassResult:
    """The model after a pass. The one that went in is not changed."""

    model: onnx.ModelProto
    changed: bool
    notes: tuple[str, ...] = ()


class Pass(Protocol):
    """One change to a model.

    `tolerance` is the largest difference of an output, as a share of its range, that the pass may cause: None where a
    difference is what the pass is for (a lower precision), which is then measured and reported.
    `optional`: where it fails or goes beyond its tolerance, packaging goes on without it and says so.
    """

    @property
    def tolerance(self) -> float | None: ...  # noqa: D102

    @property
    def optional(self) -> bool: ...  # noqa: D102

    def __call__(self, model: onnx.ModelProto) -> PassResult: ...  # noqa: D102


def copy(model: onnx.ModelProto) -> onnx.ModelProto:
    """A model of one's own to change."""
    out = onnx.ModelProto()
    out.CopyFrom(model)
    return out
