"""classify: one score per class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_shape
from edgekit.tasks.predictions import Prediction, Probabilities, Settings

EXPECTS = "one output (batch, classes) or (batch, classes, 1, 1)"


@dataclass(frozen=True)
class Classify:
    """(B, C) or (B, C, 1, 1): probabilities, or logits with the option `softmax`."""

    name: ClassVar[str] = "classify"
    task: ClassVar[str] = "classify"

    softmax: bool = False

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Classify:
        """See `Decoder.build`. Option: softmax, true where the outputs are still logits."""
        check_options(cls.name, options, ("softmax",))
        softmax = options.get("softmax", False)
        if not isinstance(softmax, bool):
            raise ModelError(f"decoder classify: softmax is {softmax!r}, must be true or false")
        return cls(softmax)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with a score per class, for two classes or more."""
        shape = only_shape(shapes)
        if shape is None or not _per_class(shape) or shape[1] < 2:
            return False
        return classes is None or classes == shape[1]

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the second dimension."""
        shape = only_shape(shapes)
        return shape[1] if shape and len(shape) > 1 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: scores (B, C), as the model gives them."""
        arrays = list(outputs.values())
        if len(arrays) != 1 or not _per_class(arrays[0].shape):
            raise mismatch(self.name, EXPECTS, outputs)
        return {"scores": arrays[0].reshape(arrays[0].shape[:2])}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. A value that is not finite becomes probability 0."""
        batch = self.parts(outputs)["scores"].astype(np.float64)
        values = _softmax(batch) if self.softmax else np.where(np.isfinite(batch), batch, 0)
        return [Probabilities(row) for row in values.astype(np.float32)]


def _per_class(shape: tuple[int, ...]) -> bool:
    return len(shape) == 2 or (len(shape) == 4 and shape[2:] == (1, 1))


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    finite = np.isfinite(logits)
    highest = np.max(logits, axis=1, keepdims=True, initial=np.finfo(np.float64).min, where=finite)
    weights = np.where(finite, np.exp(logits - highest), 0)
    total = np.maximum(weights.sum(axis=1, keepdims=True), 1)  # at least 1 where anything is finite
    probabilities: NDArray[np.float64] = weights / total
    return probabilities
