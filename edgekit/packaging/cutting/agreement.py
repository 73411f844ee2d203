"""Whether a model that ends before its selection still finds the same objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.packaging.cutting.detections import SCORE, finished, strays
from edgekit.packaging.probe import Feed
from edgekit.runtime.model import Model
from edgekit.tasks.boxes import iou
from edgekit.tasks.predictions import Detections, Settings

SLACK = 1e-2  # of a pixel
OVERLAP = 1e-3  # of an IoU: what the slack is to a box of some tens of pixels
# a limit that is inside the original is its own: of its rows only the padding, which scores 0, is left out
AS_GIVEN: Mapping[str, Any] = {"conf": 1e-9, "max_detections": 2**31}


def agreement(original: Model, cut: Model, feeds: Iterable[Feed]) -> int:
    """How many objects the two models agree on, at the thresholds that were in the graph.

    The same object has the same class, an IoU of 0.99 or more and a score within 0.001. One whose score is so near to
    the lowest that is kept, or whose overlap with another is so near to what NMS allows, may be in one of them only. 0
    says nothing: neither found an object.

    Args:
        original: the model whose selection is inside.
        cut: the model without it; its interface has the decoder and the defaults of the cut.
        feeds: for the original; the cut model takes what it still reads.

    Raises:
        ModelError: they do not agree, or the original's outputs cannot be read.
    """
    settings = cut.settings()
    inside = {key: value for key, value in AS_GIVEN.items() if key in cut.interface.postprocess}
    as_given = replace(settings, **inside)
    agreed = 0
    for number, feed in enumerate(feeds, 1):
        ours = _detections(original, feed, as_given)
        theirs = _detections(cut, feed, settings)
        for a, b in zip(ours, theirs, strict=True):
            gone, new = _clear(a, b, settings)
            if gone or new:
                raise ModelError(
                    f"without the selection in its graph the model finds other objects in image {number}: "
                    f"{gone} of {len(a)} are gone or changed, {new} of {len(b)} are new or changed"
                )
            agreed += len(a)
    return agreed


def _detections(model: Model, feed: Feed, settings: Settings) -> list[Detections]:
    outputs = model.raw({spec.name: feed[spec.name].astype(spec.dtype, copy=False) for spec in model.interface.inputs})
    if model.interface.decoder is not None:
        return cast(list[Detections], model.decode(outputs, settings))
    found = finished(outputs, settings)
    if found is None:
        raise ModelError(f"the outputs of {model.path} cannot be read: whether a cut changes results cannot be told")
    return found


def _clear(ours: Detections, theirs: Detections, settings: Settings) -> tuple[int, int]:
    """How many objects of each the other does not have, where rounding explains none of it.

    It may decide at the lowest score that is kept and at the overlap that NMS allows, and what then stays in one of
    them takes the place of others.
    """
    gone, new = strays(ours, theirs, SLACK)
    spared_gone, spared_new = (_on_the_edge(rest, (ours, theirs), settings) for rest in (gone, new))
    rivals = iou(gone.boxes, new.boxes) >= settings.iou - OVERLAP
    for _ in range(len(gone) + len(new)):  # each round may excuse what the last one's objects displaced
        spared_gone |= (rivals & spared_new).any(axis=1)
        spared_new |= (rivals.T & spared_gone).any(axis=1)
    return int(np.count_nonzero(~spared_gone)), int(np.count_nonzero(~spared_new))


def _on_the_edge(rest: Detections, found: tuple[Detections, Detections], settings: Settings) -> NDArray[np.bool_]:
    """Which of `rest` are as good as at a threshold."""
    lowest = [float(f.scores.min()) if len(f) >= settings.max_detections else settings.conf for f in found]
    faint = np.abs(rest.scores[:, None] - lowest).min(axis=1) <= SCORE
    overlaps = np.concatenate([iou(rest.boxes, f.boxes) for f in found], axis=1)
    edge: NDArray[np.bool_] = faint | (np.abs(overlaps - settings.iou) <= OVERLAP).any(axis=1)
    return edge
