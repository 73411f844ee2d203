"""What tensors in front of a selection mean, found out by running what is behind them on made-up numbers.

Shapes do not tell: an Ultralytics export with nms=True has corners where one without has centres and sizes, in tensors
of the same shape (measured with ultralytics 8.4.190). Nor do names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit.errors import EdgekitError
from edgekit.packaging.cutting.detections import READERS, finished, strays
from edgekit.packaging.cutting.reading import Reading
from edgekit.packaging.cutting.tensors import Tensor
from edgekit.packaging.cutting.thresholds import Thresholds
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session as sessions
from edgekit.tasks import decoders, guess
from edgekit.tasks.decoders.decoder import Size
from edgekit.tasks.decoders.scored_boxes import CORNERS, ScoredBoxes
from edgekit.tasks.predictions import Detections, Settings

OBJECTS = 24  # made up in each image
KINDS = 8  # classes that they are of, at most
TWOFOLD = (4, 19)  # those that have two classes, the likeliest objects of both
LOWEST = 0.05  # without a threshold in the graph: nothing that is made up scores less
SEED = 5


def find(rest: onnx.ModelProto, ends: Sequence[Tensor], size: Size, thresholds: Thresholds) -> Reading | None:
    """The reading under which made-up objects come out as the rest of the graph has them; None if there is none.

    Args:
        rest: from `ends` to the outputs with finished detections.
        size: of the image.
    """
    starts = list(_starts(ends, size))
    if not starts:
        return None
    try:
        session = sessions.create(rest.SerializeToString(), name="the end of the model")
    except EdgekitError:  # operators that onnxruntime does not have
        return None
    settings = Settings(
        conf=max(thresholds.conf or 0.0, LOWEST),
        iou=thresholds.iou or 0.0,
        max_detections=thresholds.max_detections or Settings().max_detections,
    )
    # pixels first: a graph that clips relative boxes gives nothing for these, one in pixels gives something for both
    for start, scale in product(starts, (float(min(size)), 1.0)):
        made_up = _made_up(start, ends, size, scale, settings.conf)
        expected = _finished(session, ends, made_up, size, settings)
        for reading in _variants(start) if expected else ():
            found: Any = reading.build(size)(made_up, replace(settings, class_agnostic=reading.class_agnostic))
            if _equal(expected, found):
                return reading
    return None


def _starts(ends: Sequence[Tensor], size: Size) -> Iterator[Reading]:
    """The decoders to try."""
    if len(ends) == 2:
        yield Reading(ScoredBoxes.name, ("boxes", "scores"))
        return
    done = {reader.name for reader in READERS}
    for name in guess.candidates({"output0": ends[0].batched}, size, task="detect"):
        if name not in done:
            yield Reading(name, ("output0",))


def _variants(start: Reading) -> Iterator[Reading]:
    """The same decoder with all its options, the plainest first."""
    if start.decoder != ScoredBoxes.name:
        yield from (Reading(start.decoder, start.names, {}, agnostic) for agnostic in (False, True))
        return
    switches = (False, True)
    for nms, agnostic, several, relative, boxes, background in product(
        (True, False), switches, switches, switches, CORNERS, (None, 0)
    ):
        options = {"boxes": boxes, "relative": relative, "nms": nms, "multi_label": several}
        if background is not None:
            options["background"] = background
        if nms or not agnostic:
            yield Reading(start.decoder, start.names, options, agnostic)


def _made_up(
    start: Reading, ends: Sequence[Tensor], size: Size, scale: float, conf: float
) -> dict[str, NDArray[np.float32]]:
    """Outputs with a few objects, each of which tells two readings apart.

    Their boxes are boxes both as two corners and as centre and size. Two are the same but for the score, two but for
    score and class, and two have two classes each.
    """
    arrays = {name: np.zeros(end.batched, np.float32) for name, end in zip(start.names, ends, strict=True)}
    parts = start.build(size).parts(arrays)  # views: what is written there stands in the arrays
    boxes = parts["boxes"] if parts["boxes"].shape[2] == 4 else parts["boxes"].transpose(0, 2, 1)
    scores = parts["scores"] if parts["scores"].shape[1] == boxes.shape[1] else parts["scores"].transpose(0, 2, 1)
    classes = decoders.get(start.decoder).class_count({n: a.shape for n, a in arrays.items()}) or 1
    rows = np.unique(np.linspace(0, boxes.shape[1] - 1, OBJECTS).astype(int))
    made, kinds = _grid(len(rows)), np.arange(len(rows)) % min(classes, KINDS)
    made[1:2], kinds[1:2] = made[:1], kinds[:1]
    made[3:4] = made[2:3]
    first = scores.shape[2] - classes  # behind the objectness, where there is one
    scores[:, rows, :first] = 1
    strengths = np.linspace(0.9, 0.3, len(rows))
    for i in TWOFOLD:
        strengths[i : i + 1] = 0.99 - i / 1000
    for row, kind, strength in zip(rows, kinds, strengths, strict=True):
        scores[:, row, first + kind] = conf + (1 - conf) * strength
    for i in TWOFOLD if classes > 1 else ():
        for row, kind in zip(rows[i : i + 1], kinds[i : i + 1], strict=True):
            other = kind + 1 if kind + 1 < classes else kind - 1
            scores[:, row, first + other] = conf + (1 - conf) * (0.95 - i / 1000)
    boxes[:, rows] = made * scale
    return arrays


def _grid(count: int) -> NDArray[np.float64]:
    """Boxes in 0..1 that lie apart as corners, and are inside the image as centre and size too."""
    rng = np.random.Generator(np.random.PCG64(SEED))
    y, x = np.divmod(np.arange(count), 6)
    starts = np.stack((0.1 + 0.1 * x, 0.1 + 0.15 * y), axis=1) + rng.uniform(0, 0.02, (count, 2))
    return np.concatenate((starts, starts + rng.uniform(0.04, 0.08, (count, 2))), axis=1)


def _finished(
    session: Any, ends: Sequence[Tensor], made_up: Mapping[str, NDArray[Any]], size: Size, settings: Settings
) -> list[Detections] | None:
    """What the rest of the graph makes of the numbers; None where it fails, or no decoder reads it."""
    inputs, outputs, _ = interfaces.read(session)
    types = {spec.name: np.dtype(spec.dtype) for spec in inputs}
    feed = interfaces.grey_feed(inputs, size)
    for end, array in zip(ends, made_up.values(), strict=True):
        feed[end.name] = array.reshape(end.shape).astype(types[end.name])
    names = [spec.name for spec in outputs]
    try:
        values = session.run(names, feed)
    except Exception:  # onnxruntime raises plain ones; numbers of another scale may be impossible ones
        return None
    return finished(dict(zip(names, values, strict=True)), settings)


def _equal(expected: Sequence[Detections] | None, found: Sequence[Detections]) -> bool:
    """Whether these are the same objects, and any at all."""
    if not expected or len(expected) != len(found) or not all(len(image) for image in expected):
        return False
    return not any(len(rest) for pair in zip(expected, found, strict=True) for rest in strays(*pair))
