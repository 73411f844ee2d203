"""depth: a distance for each place of the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch, only_shape
from edgekit.tasks.decoders.semantic import covers
from edgekit.tasks.predictions import DepthMap, Prediction, Settings

EXPECTS = "one output (batch, height, width) or (batch, 1, height, width)"


@dataclass(frozen=True)
class Depth:
    """(B, 1, h, w) or (B, h, w): metres with Ultralytics (nn/modules/head.py, Depth), else in the model's own unit."""

    name: ClassVar[str] = "depth"
    task: ClassVar[str] = "depth"

    size: Size

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Depth:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """One output of one channel, with the proportions of the input."""
        shape = only_shape(shapes)
        return shape is not None and covers(shape, size) and (len(shape) == 3 or shape[1] == 1)

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """There are no classes."""
        return None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: `depth` (B, h, w)."""
        arrays = list(outputs.values())
        if len(arrays) != 1 or not self.fits({"depth": arrays[0].shape}, self.size):
            raise mismatch(self.name, EXPECTS, outputs)
        (values,) = arrays
        return {"depth": values[:, 0] if values.ndim == 4 else values}

    @np.errstate(over="ignore", invalid="ignore")
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. What is not finite stays as it is: nothing is known of such a place."""
        return [DepthMap(image) for image in self.parts(outputs)["depth"].astype(np.float32, copy=False)]
