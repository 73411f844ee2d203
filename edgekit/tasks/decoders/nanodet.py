"""nanodet: a class map and a map of distances for each stride."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.tasks import grid
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import strongest, suppressed

EXPECTS = "for each stride, scores (batch, cells, classes) and distances (batch, cells, 4 * bins)"
STRIDES = (8, 16, 32, 64, 128)
SIDES = 4  # left, top, right, bottom
# cls_pred_stride_8 and dis_pred_stride_8 in NanoDet's own exports, and what else the two may be called
SCORES, DISTANCES = re.compile(r"cls|class|score|conf", re.IGNORECASE), re.compile(r"dis|reg|box", re.IGNORECASE)


@dataclass(frozen=True)
class NanoDet:
    """Scores (B, cells, C), already sigmoid, and for each side of a box the distribution of its distance, by stride.

    A distance is the expectation of the softmax over its bins, times the stride, from the cell's centre at
    (column + 0.5) * stride: Generalized Focal Loss, arXiv:2006.04388.
    """

    name: ClassVar[str] = "nanodet"
    task: ClassVar[str] = "detect"

    size: Size

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> NanoDet:
        """See `Decoder.build`. There are no options."""
        check_options(cls.name, options)
        return cls(size)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Two such outputs for each of at least two strides, told apart by their names, else by their widths."""
        pairs = _pairs(shapes, size)
        return pairs is not None and (classes is None or classes == shapes[next(iter(pairs.values()))[0]][2])

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, from the last dimension of the scores."""
        widths = _widths(shapes)
        return widths[0] if widths else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: scores (B, N, C), boxes as raw distances (B, N, 4 * bins), the finest stride first."""
        scores, distances, _ = self._joined(outputs)
        return {"boxes": distances, "scores": scores}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. A cell counts for its best class only."""
        scores, distances, strides = self._joined(outputs)
        corners, steps = grid.cells(self.size, strides)
        return [_decode(*image, corners, steps, settings) for image in zip(scores, distances, strict=True)]

    def _joined(self, outputs: Outputs) -> tuple[NDArray[np.float32], NDArray[np.float32], grid.Strides]:
        pairs = _pairs({name: array.shape for name, array in outputs.items()}, self.size)
        if pairs is None:
            raise mismatch(self.name, EXPECTS, outputs)
        scores, distances = (
            np.concatenate([outputs[pair[part]] for pair in pairs.values()], axis=1).astype(np.float32, copy=False)
            for part in (0, 1)
        )
        return scores, distances, tuple(pairs)


def _decode(
    scores: NDArray[np.float32],
    distances: NDArray[np.float32],
    corners: NDArray[np.float32],
    steps: NDArray[np.float32],
    settings: Settings,
) -> Detections:
    highest = scores.max(axis=1)
    best = strongest(highest, settings.conf, settings.max_candidates)
    sides = _expected(distances[best].reshape(len(best), SIDES, -1)) * steps[best]
    centres = (corners[best] + np.float32(0.5)) * steps[best]
    boxes = np.concatenate((centres - sides[:, :2], centres + sides[:, 2:]), axis=1)
    return suppressed(boxes, highest[best], scores[best].argmax(axis=1), settings)


def _expected(bins: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of each distribution (N, 4) over its bins (N, 4, R), given as logits."""
    weights = np.exp(bins - bins.max(axis=2, keepdims=True))
    mean: NDArray[np.float32] = weights @ np.arange(bins.shape[2], dtype=np.float32) / weights.sum(axis=2)
    return mean


def _pairs(shapes: Shapes, size: Size) -> dict[int, tuple[str, str]] | None:
    """Names of scores and distances by stride, the finest first; None where these are other outputs."""
    widths = _widths(shapes)
    if widths is None:
        return None
    pairs = {}
    for stride in STRIDES:
        cells = grid.count(size, (stride,))
        scores, distances = ([n for n, shape in shapes.items() if shape[1:] == (cells, w)] for w in widths)
        if widths[0] == widths[1]:
            scores = [name for name in scores if SCORES.search(name)]
            distances = [name for name in distances if DISTANCES.search(name)]
        if len(scores) == len(distances) == 1:
            pairs[stride] = (scores[0], distances[0])
    return pairs if len(pairs) > 1 and 2 * len(pairs) == len(shapes) else None


def _widths(shapes: Shapes) -> tuple[int, int] | None:
    """The last dimension of scores and of distances: by the outputs' names, else by what four sides can have."""
    if len(shapes) < 4 or len(shapes) % 2 or any(len(shape) != 3 for shape in shapes.values()):
        return None
    named = [
        {shape[2] for name, shape in shapes.items() if kind.search(name) and not other.search(name)}
        for kind, other in ((SCORES, DISTANCES), (DISTANCES, SCORES))
    ]
    if all(len(widths) == 1 for widths in named):
        scores, distances = (next(iter(widths)) for widths in named)
    else:
        widths = {shape[2] for shape in shapes.values()}
        sides = [width for width in widths if width % SIDES == 0 and width >= 2 * SIDES]
        if len(widths) != 2 or len(sides) != 1:
            return None
        distances, scores = sides[0], next(iter(widths - set(sides)))
    return (scores, distances) if distances % SIDES == 0 and distances >= 2 * SIDES else None
