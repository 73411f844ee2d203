"""semantic: a class for each place of the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_shape
from edgekit.tasks.predictions import ClassMap, Prediction, Settings

EXPECTS = "one output (batch, height, width) of class ids, or (batch, classes, height, width) of scores"
LOWEST = float(np.finfo(np.float32).min)


@dataclass(frozen=True)
class Semantic:
    """Class ids (B, h, w) or (B, 1, h, w), integer; or scores (B, C, h, w), where one channel is class 1 above 0.

    h and w may be a part of the input's height and width. Ultralytics' ONNX exports hold ids: nn/modules/head.py,
    SemanticSegment.
    """

    name: ClassVar[str] = "semantic"
    task: ClassVar[str] = "semantic"

    size: Size

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Semantic:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output with the proportions of the input."""
        shape = only_shape(shapes)
        if shape is None or not covers(shape, size):
            return False
        return len(shape) == 3 or classes is None or classes == shape[1] or shape[1] == 1

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, where there are scores for each class."""
        shape = only_shape(shapes)
        return shape[1] if shape and len(shape) == 4 and shape[1] > 1 else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: `labels` (B, h, w) or scores (B, C, h, w)."""
        arrays = list(outputs.values())
        if len(arrays) != 1 or not covers(arrays[0].shape, self.size):
            raise mismatch(self.name, EXPECTS, outputs)
        (values,) = arrays
        if values.ndim == 4 and values.shape[1] == 1 and np.issubdtype(values.dtype, np.integer):
            values = values[:, 0]
        return {"labels": values} if values.ndim == 3 else {"scores": values}

    @np.errstate(over="ignore", invalid="ignore")  # NaN counts as the lowest score, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. Ids that come as floats are rounded."""
        parts = self.parts(outputs)
        if "labels" in parts:
            ids = parts["labels"]
            whole = ids if np.issubdtype(ids.dtype, np.integer) else np.rint(np.nan_to_num(ids)).astype(np.int32)
            return [ClassMap(image) for image in whole]
        scores = parts["scores"].astype(np.float32, copy=False)
        return [ClassMap(np.nan_to_num(image, nan=LOWEST, neginf=LOWEST)) for image in scores]


def covers(shape: tuple[int, ...], size: Size) -> bool:
    """Whether the last two dimensions can be places of an input of this size."""
    if len(shape) not in (3, 4) or min(shape[-2:]) < 2:
        return False
    return shape[-2] * size[1] == shape[-1] * size[0]
