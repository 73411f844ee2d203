"""What each pixel of one image shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime import resampling
from edgekit.runtime.result import rle
from edgekit.runtime.transform import Geometry
from edgekit.tasks.predictions import ClassMap

BAND = 64  # rows whose scores are held at once


@dataclass(frozen=True, eq=False)
class ClassAreas:
    """A class for each pixel.

    data: (H, W) of the image's size, integer class ids.
    """

    data: NDArray[Any]

    @classmethod
    def of(cls, prediction: ClassMap, geometry: Geometry) -> ClassAreas:
        """Bring a map of the input to the image: ids by the nearest place, scores between places, then the best."""
        values, (height, width) = prediction.values, geometry.image
        grid = (values.shape[-2], values.shape[-1])
        columns = np.arange(width)
        if values.ndim == 2:
            return cls(resampling.nearest(values, *geometry.places_in(grid, np.arange(height), columns)))
        out = np.empty((height, width), np.uint8 if len(values) <= 256 else np.int32)
        for start in range(0, height, BAND):
            rows = np.arange(start, min(start + BAND, height))
            scores = resampling.linear(values, *geometry.places_in(grid, rows, columns))
            out[rows] = scores[0] > 0 if len(scores) == 1 else scores.argmax(axis=0)
        return cls(out)

    def shares(self) -> dict[int, float]:
        """How much of the image each class has, largest first; classes that have none are left out."""
        ids, counts = np.unique(self.data, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return {int(ids[i]): float(counts[i]) / self.data.size for i in order}

    def rle(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Each class id and where it is, in COCO's compressed run lengths."""
        for class_id in self.shares():
            yield class_id, rle.encode(self.data == class_id, (0, 0), self.data.shape)
