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
from edgekit.packaging.cutting.objects import Objects
from edgekit.packaging.cutting.reading import Reading
from edgekit.packaging.cutting.tensors import Tensor
from edgekit.packaging.cutting.thresholds import Thresholds
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session as sessions
from edgekit.tasks import decoders, guess
from edgekit.tasks.decoders.decoder import Size
from edgekit.tasks.decoders.scored_boxes import CORNERS, ScoredBoxes
from edgekit.tasks.predictions import Detections, Settings

LOWEST = 0.05  # the threshold to read with where the graph has none
LEAST = 1e-9  # what a graph pads with scores 0


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
        conf=LOWEST if thresholds.conf is None else thresholds.conf,
        iou=thresholds.iou or 0.0,
        max_detections=thresholds.max_detections or Settings().max_detections,
    )
    as_given = settings if thresholds.conf is None else replace(settings, conf=LEAST)
    # pixels first: a graph that clips relative boxes gives nothing for these, one in pixels gives something for both
    for start, scale in product(starts, (float(min(size)), 1.0)):
        made_up = _made_up(start, ends, size, scale, settings.conf)
        expected = _finished(session, ends, made_up, size, as_given)
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
    """Outputs with a few objects, in the places where the decoder looks for them."""
    arrays = {name: np.zeros(end.batched, np.float32) for name, end in zip(start.names, ends, strict=True)}
    parts = start.build(size).parts(arrays)  # views: what is written there stands in the arrays
    boxes = parts["boxes"] if parts["boxes"].shape[2] == 4 else parts["boxes"].transpose(0, 2, 1)
    scores = parts["scores"] if parts["scores"].shape[1] == boxes.shape[1] else parts["scores"].transpose(0, 2, 1)
    classes = decoders.get(start.decoder).class_count({n: a.shape for n, a in arrays.items()}) or 1
    objects = Objects.made_up(boxes.shape[1], classes, conf)
    rows = np.linspace(0, boxes.shape[1] - 1, len(objects.boxes)).astype(int)
    boxes[:, rows] = objects.boxes * scale
    scores[:, rows, :-classes] = 1  # the objectness, where there is one
    scores[:, rows, -classes:] = objects.scores
    return arrays


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
