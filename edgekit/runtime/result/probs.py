"""Class probabilities of one image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Probs:
    """Class probabilities of one image: (C,) float32.

    >>> Probs(np.array([0.1, 0.7, 0.2], np.float32)).top5
    [1, 2, 0]
    """

    data: NDArray[np.float32]

    @property
    def top5(self) -> list[int]:
        """The five likeliest classes (fewer if there are fewer), likeliest first; the lower id where they tie."""
        return [int(i) for i in np.argsort(-self.data, kind="stable")[:5]]

    @property
    def top5conf(self) -> NDArray[np.float32]:
        """Their probabilities."""
        return self.data[self.top5]

    @property
    def top1(self) -> int:
        """The likeliest class."""
        return int(np.argmax(self.data))

    @property
    def top1conf(self) -> float:
        """Its probability."""
        return float(self.data[self.top1])
