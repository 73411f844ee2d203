"""A better recipe by measurement: candidates are timed on this machine and judged, float is one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import onnx

from edgekit.evaluation import latency
from edgekit.packaging.accuracy import Judge
from edgekit.packaging.probe import Feed
from edgekit.packaging.recipe import Recipe
from edgekit.runtime import session
from edgekit.runtime.model import Model

PAYS = 1.1  # below, int8 is not worth what it costs
MARGIN = 0.5  # of what may be lost: a score on half the images flatters the best of many candidates
ROUNDS = 15
THREADS = 1

# What is added to the weighted operators, step by step: each pays only if what is before it does
ACTIVATIONS = ("Sigmoid", "Mul", "Relu", "Clip", "HardSwish", "LeakyRelu")
MOVES = ("Split", "Concat")
SUMS = ("Add", "Resize", "MaxPool", "AveragePool", "GlobalAveragePool")
FLOATS = ((False, 0), (True, 0), (False, 1), (True, 1), (True, 2), (True, 4))  # last blocks float, first blocks float
METHODS = ("average", "minmax", "percentile")


@dataclass(frozen=True)
class Candidate:
    """A recipe, how fast it is against float, and how good."""

    recipe: Recipe
    speed: float  # float time over int8 time, one thread, median of turns
    spread: float  # how noisy that was: of the middle half of the turns
    score: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the report."""
        return {
            "recipe": self.recipe.to_dict(),
            "speed": round(self.speed, 2),
            "spread": round(self.spread, 2),
            "score": round(self.score, 5),
        }


@dataclass(frozen=True)
class Tuned:
    """What was chosen (none: float is best), among what, and by whose score."""

    chosen: Candidate | None
    candidates: tuple[Candidate, ...]
    float_score: float
    judged_by: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the report."""
        return {
            "judged_by": self.judged_by,
            "float_score": round(self.float_score, 5),
            "chosen": self.chosen.to_dict() if self.chosen else "float: no candidate was fast enough and good enough",
            "candidates": [candidate.to_dict() for candidate in self.candidates],
        }


def tune(
    original: onnx.ModelProto,
    base: Recipe,
    quantize: Callable[[Recipe], onnx.ModelProto],
    judge: Judge,
    max_drop: float,
    open_model: Callable[[onnx.ModelProto], Model],
    feed: Feed,
    progress: Callable[[str], None],
) -> Tuned:
    """Try operators, then what stays float, then how ranges are found; keep the fastest that is good enough.

    Args:
        judge: on other data than the score that is reported in the end.
        max_drop: what int8 may cost in the judge's score.
        feed: what is timed.
    """
    wanted = judge(open_model(original))
    floor = wanted - MARGIN * max_drop
    seen: dict[Recipe, Candidate] = {}

    def tried(recipe: Recipe) -> Candidate:
        if recipe not in seen:
            progress(f"candidate {len(seen) + 1}")
            model = quantize(recipe)
            turns = speed(original, model, feed)
            seen[recipe] = Candidate(recipe, 1 / turns.ratio, turns.spread, judge(open_model(model)))
        return seen[recipe]

    best = base
    for variations in (_operators, _floats, _methods):
        found = [tried(recipe) for recipe in variations(best)]
        best = max(found, key=lambda c: (c.score >= floor, c.speed)).recipe
    good = [c for c in seen.values() if c.score >= floor and c.speed >= PAYS]
    chosen = max(good, key=lambda c: c.speed, default=None)
    return Tuned(chosen, tuple(seen.values()), wanted, judge.what)


def speed(original: onnx.ModelProto, model: onnx.ModelProto, feed: Feed) -> latency.Turns:
    """Time the float model and the quantized one in turns, on one thread."""
    pair = (_opened(original), _opened(model))
    return latency.measure(pair, (feed, feed), threads=THREADS, rounds=ROUNDS).wall


def _opened(model: onnx.ModelProto) -> Any:
    return session.create(model.SerializeToString(), threads=THREADS, name="the quantized model")


def _operators(base: Recipe) -> Iterator[Recipe]:
    weighted = tuple(op for op in base.operators if op not in (*ACTIVATIONS, *MOVES, *SUMS))
    for further in ((), ACTIVATIONS, (*ACTIVATIONS, *MOVES), (*ACTIVATIONS, *MOVES, *SUMS)):
        yield replace(base, operators=(*weighted, *further))


def _floats(base: Recipe) -> Iterator[Recipe]:
    for ends, first in FLOATS:
        yield replace(base, ends_float=ends, first_float=first)


def _methods(base: Recipe) -> Iterator[Recipe]:
    for method in METHODS:
        yield replace(base, calibration=method)
