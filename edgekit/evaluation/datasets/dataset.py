"""Labelled images: where each one is, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import UsageError


class NoLabels(UsageError):
    """Images that can be read, and nothing that says what is on them."""


@dataclass(frozen=True, eq=False)
class Objects:
    """The labelled objects of one image.

    boxes: (N, 4) float64, x1 y1 x2 y2, in pixels of the image or, if `relative`, in parts of its width and height.
    class_ids: (N,) int64, the model's.
    crowd: (N,) bool, a region of many objects: what is found in it counts neither for nor against.
    shape: height and width that the labels were made for, where they say so.
    """

    boxes: NDArray[np.float64]
    class_ids: NDArray[np.int64]
    crowd: NDArray[np.bool_]
    relative: bool = False
    shape: tuple[int, int] | None = None

    def __len__(self) -> int:
        return len(self.class_ids)

    def in_pixels(self, shape: tuple[int, int], *, name: str) -> NDArray[np.float64]:
        """The boxes in pixels of an image of this height and width; relative ones need no look at it before.

        Raises:
            UsageError: the labels are for an image of another size; the message calls it `name`.
        """
        if self.shape is not None and self.shape != shape:
            raise UsageError(
                f"{name} has {shape[1]}x{shape[0]} pixels, its labels are for {self.shape[1]}x{self.shape[0]}"
            )
        height, width = shape
        sides = (width, height, width, height) if self.relative else (1, 1, 1, 1)
        scaled: NDArray[np.float64] = self.boxes * np.array(sides, np.float64)
        return scaled


@dataclass(frozen=True)
class Sample:
    """One image and its truth: its objects for detect, its class id for classify."""

    path: Path
    truth: Objects | int


@dataclass(frozen=True)
class Dataset:
    """Labelled images in a fixed order. All labels are read when it is opened, each image when it is its turn."""

    path: Path
    task: str
    samples: tuple[Sample, ...]
    notices: tuple[str, ...] = ()  # what was guessed or left out, a sentence each

    def __len__(self) -> int:
        return len(self.samples)

    def spread(self, count: int) -> Dataset:
        """`count` of the images, evenly spread: the first ones of a sorted folder may all be of one class.

        >>> ten = Dataset(Path(), "classify", tuple(Sample(Path(), i) for i in range(10)))
        >>> [sample.truth for sample in ten.spread(4).samples]
        [0, 2, 5, 7]
        """
        if count >= len(self):
            return self
        return replace(self, samples=tuple(self.samples[i * len(self) // count] for i in range(count)))
