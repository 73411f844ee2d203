"""How far away each pixel of one image is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime import resampling
from edgekit.runtime.transform import Geometry
from edgekit.tasks.predictions import DepthMap


@dataclass(frozen=True, eq=False)
class Depths:
    """A distance for each pixel.

    data: (H, W) float32 of the image's size, in the model's unit (metres with Ultralytics); not finite where the
        model says nothing.
    """

    data: NDArray[np.float32]

    @classmethod
    def of(cls, prediction: DepthMap, geometry: Geometry) -> Depths:
        """Bring a map of the input to the image, between its places."""
        values, (height, width) = prediction.values, geometry.image
        places = geometry.places_in(values.shape, np.arange(height), np.arange(width))
        with np.errstate(invalid="ignore"):  # inf - inf: nothing is known between such places either
            return cls(resampling.linear(values, *places))

    def range(self) -> tuple[float, float, float] | None:
        """The nearest, the median and the farthest distance; None where nothing is finite."""
        known = self.data[np.isfinite(self.data)]
        return (float(known.min()), float(np.median(known)), float(known.max())) if known.size else None
