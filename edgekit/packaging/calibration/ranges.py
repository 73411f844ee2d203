"""From a model and data to the range of each activation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Protocol

import onnx

from edgekit.errors import UsageError
from edgekit.packaging.calibration import methods
from edgekit.packaging.calibration.extremes import Extremes, measure
from edgekit.packaging.calibration.graph import activations
from edgekit.packaging.calibration.histogram import Histogram
from edgekit.packaging.calibration.methods import Method
from edgekit.packaging.calibration.pieces import Pieces
from edgekit.packaging.calibration.range import Range
from edgekit.packaging.probe import Feed

LIMIT = 64 << 20  # bytes of activations outside the graph at once
Progress = Callable[[int, int], None]


class Feeds(Protocol):
    """Inputs that can be gone through more than once, each good until the next."""

    def __iter__(self) -> Iterator[Feed]: ...

    def __len__(self) -> int: ...


def calibrate(
    model: onnx.ModelProto,
    tensors: Collection[str] | None,
    data: Feeds,
    method: Method | str = "minmax",
    *,
    limit: int = LIMIT,
    progress: Progress | None = None,
) -> dict[str, Range]:
    """Measure the range of each activation.

    The extremes are reduced inside the graph; methods that look at the distribution go over the data again and count
    each tensor as it passes by. Neither keeps anything of an image, so memory depends on the model alone, and the
    same data give the same ranges.

    Args:
        model: with its weights inside.
        tensors: names of float32 activations; all of them, the graph's float32 inputs included, if not given.
        data: what the model is fed. A feed may hold inputs that the model no longer has.
        method: one of `METHODS`, or its name.
        limit: bytes of activations that may be outside the graph at once.
        progress: told of (images done, images in all passes).

    Returns:
        A range for each tensor, in the graph's order. One that was empty on every image has none.

    Raises:
        UsageError: there is no data, or no such method.
        ModelError: a tensor is not there, or is NaN or infinite; the message names it.
    """
    chosen = methods.get(method) if isinstance(method, str) else method
    names = activations(model, tensors)
    if not len(data):
        raise UsageError("there is nothing to calibrate on: no images were given")
    one = isinstance(chosen, methods.OnePass)
    step = _counted(progress, len(data) * (1 if one else 2))
    seen = measure(model, names, data, step)
    if isinstance(chosen, methods.OnePass):
        return {name: chosen.of(extremes) for name, extremes in seen.items()}
    counted = _histograms(model, seen, data, limit, step)
    return {
        name: chosen.of(counted[name]) if name in counted else Range(extremes.low, extremes.high)
        for name, extremes in seen.items()
    }


def _histograms(
    model: onnx.ModelProto, seen: Mapping[str, Extremes], data: Iterable[Feed], limit: int, step: Callable[[], None]
) -> dict[str, Histogram]:
    """The distribution of each tensor that has one: not those that never change."""
    histograms = {name: Histogram.over(e.low, e.high) for name, e in seen.items() if e.low < e.high}
    pieces = Pieces.of(model, {name: seen[name].size * 4 for name in histograms}, limit)
    for feed in data:
        for name, values in pieces.run(feed):
            histograms[name].add(values)
        step()
    return histograms


def _counted(progress: Progress | None, total: int) -> Callable[[], None]:
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress:
            progress(done, total)

    return step
