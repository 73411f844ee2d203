"""Made-up objects, each of which tells two readings of boxes and scores apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST = 24
FEWEST = 8  # of fewer, all are plain
KINDS = 8  # classes that they are of, at most
ACROSS = 6  # side by side
SEED = 5


@dataclass(frozen=True)
class Objects:
    """Boxes in 0..1 and their class scores, in no order.

    The boxes lie apart as corners, and are inside the image as centre and size too. 0 and 1 are the same but for the
    score, 2 and 3 but for score and class: NMS, of a class or across them, leaves one. 4 and the one before the last
    four have a second class, whose best they are. The last one scores just above the threshold, the one before it
    below.
    """

    boxes: NDArray[np.float64]  # (N, 4)
    scores: NDArray[np.float64]  # (N, C)

    @classmethod
    def made_up(cls, count: int, classes: int, conf: float) -> Objects:
        """So many objects, or MOST, for a selection with this score threshold."""
        count = min(count, MOST)
        boxes, kinds = _grid(count), np.arange(count) % min(classes, KINDS)
        strengths = np.linspace(0.9, 0.3, count)
        scores = np.zeros((count, classes))
        if count >= FEWEST:
            twofold = [4, count - 5]
            boxes[1], kinds[1], boxes[3] = boxes[0], kinds[0], boxes[2]
            strengths[twofold] = 0.99, 0.98
            strengths[-1] = min(0.05, conf / 5)
            second = np.where(kinds + 1 < classes, kinds + 1, kinds - 1)[twofold]
            if classes > 1:
                scores[twofold, second] = conf + (1 - conf) * np.array([0.95, 0.94])
        scores[np.arange(count), kinds] = conf + (1 - conf) * strengths
        if count >= FEWEST:
            scores[-2, kinds[-2]] = conf * 0.8
        return cls(boxes, scores)


def _grid(count: int) -> NDArray[np.float64]:
    rng = np.random.Generator(np.random.PCG64(SEED))
    y, x = np.divmod(np.arange(count), ACROSS)
    starts = np.stack((0.1 + 0.1 * x, 0.1 + 0.15 * y), axis=1) + rng.uniform(0, 0.02, (count, 2))
    return np.concatenate((starts, starts + rng.uniform(0.04, 0.08, (count, 2))), axis=1)
