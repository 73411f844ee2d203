"""Real inputs that a model is run on after each step, to see that it still gives what it gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.manifest import TensorSpec
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.interface import grey_feed
from edgekit.runtime.model import Model

Feed = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Difference:
    """How far one output is from what it was."""

    max_abs: float
    relative: float  # max_abs as a share of the reference's range

    def to_dict(self) -> dict[str, float]:
        """Plain data, short: the digits behind are noise."""
        return {"max_abs": _short(self.max_abs), "relative": _short(self.relative)}


@dataclass(frozen=True)
class Probe:
    """Feeds, and what the original model makes of them."""

    feeds: tuple[Feed, ...]
    reference: tuple[dict[str, NDArray[Any]], ...]

    @classmethod
    def of(cls, model: onnx.ModelProto, feeds: Sequence[Feed]) -> Probe:
        """Record what `model` gives for `feeds`."""
        return cls(tuple(feeds), tuple(run(model, feeds)))

    def differences(self, model: onnx.ModelProto) -> dict[str, Difference]:
        """For each output, the largest difference over all feeds.

        Raises:
            ModelError: an output is gone or has another shape.
        """
        worst: dict[str, Difference] = {}
        for expected, found in zip(self.reference, run(model, self.feeds), strict=True):
            for name, reference in expected.items():
                if name not in found or found[name].shape != reference.shape:
                    raise ModelError(
                        f"output {name} was {reference.shape}, is {found[name].shape if name in found else 'gone'}"
                    )
                difference = compare(reference, found[name])
                if name not in worst or difference.max_abs > worst[name].max_abs:
                    worst[name] = difference
        return worst


def feeds_for(model: Model, images: Sequence[NDArray[np.uint8]], seed: int) -> list[Feed]:
    """What the model is given for these images; seeded numbers where it takes no image.

    Raises:
        ModelError: an input that is no image has a free dimension: no size for it can be guessed.
    """
    if model.interface.preprocess:
        return [{name: value.copy() for name, value in model.prepare(image)[0].items()} for image in images]
    for spec in model.interface.inputs:
        free = [d for d in spec.shape[1:] if not (isinstance(d, int) and d > 0)]
        if free:
            raise ModelError(
                f"input {spec.name} {list(spec.shape)} is no image and has free dimensions, which cannot be guessed",
                hint="export the model with fixed shapes",
            )
    rng = np.random.Generator(np.random.PCG64(seed))
    feed = grey_feed(model.interface.inputs, None)
    return [{name: _random(rng, value) for name, value in feed.items()}]


def _random(rng: np.random.Generator, like: NDArray[Any]) -> NDArray[Any]:
    if np.issubdtype(like.dtype, np.floating):
        return rng.standard_normal(like.shape).astype(like.dtype)
    return like  # ones: a number that is an index or a size as a rule


def run(model: onnx.ModelProto, feeds: Sequence[Feed]) -> list[dict[str, NDArray[Any]]]:
    """The outputs of a model for each feed, by name."""
    opened = session.create(model.SerializeToString(), name="the model")
    inputs, _, _ = interfaces.read(opened)
    names = [o.name for o in opened.get_outputs()]
    return [dict(zip(names, opened.run(names, as_declared(feed, inputs)), strict=True)) for feed in feeds]


def as_declared(feed: Feed, inputs: Sequence[TensorSpec]) -> dict[str, NDArray[Any]]:
    """What a feed is for a model whose inputs have other dtypes, or are fewer, than those that it was made for."""
    return {spec.name: feed[spec.name].astype(spec.dtype, copy=False) for spec in inputs}


def compare(reference: NDArray[Any], found: NDArray[Any]) -> Difference:
    """Largest difference of two arrays of one shape; NaN against a number is infinite."""
    if not np.issubdtype(reference.dtype, np.number):
        equal = bool(np.array_equal(reference, found))
        return Difference(0.0 if equal else np.inf, 0.0 if equal else np.inf)
    a, b = reference.astype(np.float64), found.astype(np.float64)
    if a.size == 0:
        return Difference(0.0, 0.0)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
    largest = float(np.where(np.isnan(gap), np.inf, gap).max())
    finite = a[np.isfinite(a)]
    span = float(finite.max() - finite.min()) if finite.size else 0.0
    return Difference(largest, largest / span if span else (0.0 if largest == 0 else largest))


def _short(value: float) -> float:
    return float(f"{value:.3g}")
