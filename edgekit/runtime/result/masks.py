"""Masks of one image's objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime import image as images
from edgekit.runtime import resampling
from edgekit.runtime.result import rle
from edgekit.runtime.transform import Geometry
from edgekit.tasks.predictions import Masks as Mixture

BAND = 256  # rows resampled at once: memory stays bounded on large photographs


@dataclass(frozen=True, eq=False)
class Crop:
    """The part of a mask inside its box; all else is false."""

    pixels: NDArray[np.bool_]  # (h, w)
    top: int
    left: int

    @property
    def area(self) -> int:
        """In pixels."""
        return int(np.count_nonzero(self.pixels))


@dataclass(frozen=True, eq=False)
class Masks:
    """One for each of the result's boxes, within that box, in pixels of the image."""

    crops: tuple[Crop, ...]
    shape: tuple[int, int]  # height, width of the image

    @classmethod
    def mixed(cls, mixture: Mixture, boxes: NDArray[np.float32], geometry: Geometry) -> Masks:
        """Mix the prototypes, bring the mixes to the image's pixels, and keep what is above 0 inside the boxes.

        Args:
            boxes: (N, 4) x1 y1 x2 y2 in pixels of the image.
        """
        prototypes = mixture.prototypes
        flat = prototypes.reshape(len(prototypes), -1).astype(np.float32, copy=False)
        crops = []
        for coefficients, box in zip(mixture.coefficients, boxes, strict=True):
            mix = (coefficients @ flat).reshape(prototypes.shape[1:])
            crops.append(_crop(np.nan_to_num(mix), box, geometry))
        return cls(tuple(crops), geometry.image)

    def __len__(self) -> int:
        return len(self.crops)

    def __iter__(self) -> Iterator[NDArray[np.bool_]]:
        """Each as (H, W) bool of the image's size."""
        for crop in self.crops:
            mask = np.zeros(self.shape, np.bool_)
            height, width = crop.pixels.shape
            mask[crop.top : crop.top + height, crop.left : crop.left + width] = crop.pixels
            yield mask

    @property
    def data(self) -> NDArray[np.bool_]:
        """(N, H, W), all at once."""
        return np.array(list(self), np.bool_).reshape(-1, *self.shape)

    def rle(self) -> list[dict[str, Any]]:
        """Each in COCO's compressed run lengths."""
        return [rle.encode(crop.pixels, (crop.top, crop.left), self.shape) for crop in self.crops]

    def polygons(self) -> list[list[NDArray[np.float32]]]:
        """The outlines of each, (K, 2) x y; several where it has several pieces, holes left out.

        They run through the middle of the border's pixels, as OpenCV's `findContours` draws them.

        Raises:
            DependencyError: OpenCV is not installed.
        """
        cv2 = images.opencv()
        if cv2 is None:
            raise images.missing_opencv("finding the outlines of masks")
        return [list(_outlines(cv2, crop)) for crop in self.crops]


def _crop(mix: NDArray[np.float32], box: NDArray[np.float32], geometry: Geometry) -> Crop:
    """Pixels belong to a box if their index does, as Ultralytics cuts masks (utils/ops.py, crop_mask)."""
    left, top, right, bottom = (int(side) for side in np.ceil(box))
    columns = np.arange(left, right)
    bands = []
    for start in range(top, bottom, BAND):
        rows = np.arange(start, min(start + BAND, bottom))
        bands.append(resampling.linear(mix, *geometry.places_in(mix.shape, rows, columns)) > 0)
    empty = np.zeros((0, max(0, right - left)), np.bool_)
    return Crop(np.concatenate([empty, *bands]), top, left)


def _outlines(cv2: Any, crop: Crop) -> Iterator[NDArray[np.float32]]:
    found, _ = cv2.findContours(crop.pixels.view(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in found:
        yield (outline.reshape(-1, 2) + np.array((crop.left + 0.5, crop.top + 0.5))).astype(np.float32)
