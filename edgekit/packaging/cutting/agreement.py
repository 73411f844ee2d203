"""Whether a model that ends before its selection still finds the same objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from edgekit.errors import ModelError
from edgekit.packaging.cutting.detections import SCORE, finished, strays
from edgekit.packaging.probe import Feed
from edgekit.runtime.model import Model
from edgekit.tasks.predictions import Detections, Settings

SLACK = 1e-2  # of a pixel
# a limit that is inside the original is its own: of its rows only the padding, which scores 0, is left out
AS_GIVEN: Mapping[str, Any] = {"conf": 1e-9, "max_detections": 2**31}


def agreement(original: Model, cut: Model, feeds: Iterable[Feed]) -> int:
    """How many objects the two models agree on, at the thresholds that were in the graph.

    The same object has the same class, an IoU of 0.99 or more and a score within 0.001. One whose score is so near to
    the lowest that is kept may be in one of them only. 0 says nothing: neither found an object.

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
            gone, new = (_clear(rest, both, settings) for rest, both in zip(strays(a, b, SLACK), (a, b), strict=True))
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


def _clear(rest: Detections, all_of_them: Detections, settings: Settings) -> int:
    """How many are no matter of rounding at the lowest score that is kept."""
    full = len(all_of_them) >= settings.max_detections
    lowest = float(all_of_them.scores.min()) if full else settings.conf
    return int(np.count_nonzero(np.abs(rest.scores - lowest) > SCORE))
