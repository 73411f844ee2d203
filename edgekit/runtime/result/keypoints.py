"""Keypoints of one image's objects."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Keypoints:
    """K points for each of the result's boxes.

    xy: (N, K, 2) float32, pixels of the image, clipped to it.
    conf: (N, K) float32, how sure the model is that each can be seen, 0..1; None where it does not say.
    """

    xy: NDArray[np.float32]
    conf: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.xy)

    @property
    def data(self) -> NDArray[np.float32]:
        """(N, K, 2 or 3): x, y and, where there is one, the confidence."""
        return self.xy if self.conf is None else np.concatenate((self.xy, self.conf[:, :, None]), axis=2)
