"""Turns are counted and compared in pairs; no test depends on how fast this machine is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgekit import runtime
from edgekit.errors import UsageError
from edgekit.evaluation.latency import WARM_UP, Turns, latency, measure
from edgekit.runtime import Model
from tests import toys


@dataclass
class StandInSession:
    """Writes down that it ran."""

    name: str
    order: list[str]
    feeds: list[Mapping[str, Any]] = field(default_factory=list)

    def run(self, outputs: object, feed: Mapping[str, Any]) -> None:
        self.order.append(self.name)
        self.feeds.append(feed)


@pytest.fixture
def model(tmp_path: Path) -> Model:
    return runtime.load(toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "toy.onnx"))


def test_the_ratio_is_the_median_of_the_rounds_own_ratios() -> None:
    # a slow round is slow for both: 2.0 in one round of five moves neither ratio nor spread
    turns = Turns((10, 10, 100, 10, 10), (5, 5, 50, 20, 5))
    assert (turns.ratio, turns.spread) == (0.5, 0)
    assert turns.medians == (10, 5)


def test_the_spread_is_what_the_middle_half_of_the_ratios_covers() -> None:
    assert Turns((1, 1, 1, 1, 1), (1, 2, 3, 4, 5)).spread == 2


@pytest.mark.parametrize(("a", "b"), [((), ()), ((1.0,), (1.0, 2.0)), ((0.0,), (1.0,))])
def test_times_that_are_no_turns_are_refused(a: tuple[float, ...], b: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="are no turns"):
        Turns(a, b)


def test_the_two_take_turns_after_a_warm_up_that_is_not_counted() -> None:
    order: list[str] = []
    pair = StandInSession("a", order), StandInSession("b", order)
    steps: list[tuple[str, int, int]] = []
    measured = measure(pair, ({"x": 1}, {"y": 2}), threads=2, rounds=5, progress=lambda *step: steps.append(step))
    assert order == ["a", "b"] * (WARM_UP + 5)
    assert (measured.rounds, measured.threads, len(measured.cpu.a)) == (5, 2, 5)
    assert pair[1].feeds == [{"y": 2}] * (WARM_UP + 5)
    assert steps[-1] == ("latency", 5, 5)


def test_a_model_is_timed_against_itself(model: Model) -> None:
    image = np.zeros((64, 64, 3), np.uint8)
    feed = model.prepare(image)[0]
    measured = latency(model, model, (feed, feed), threads=1, rounds=3)
    assert (measured.rounds, measured.threads) == (3, 1)
    assert measured.wall.ratio > 0
    assert measured.cpu.ratio > 0


def test_sessions_are_opened_with_the_given_threads_and_do_not_spin(
    model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[dict[str, Any]] = []

    def create(path: Path, requests: object, **options: Any) -> StandInSession:
        opened.append({name: options[name] for name in ("session_options", "threads")})
        return StandInSession("a", [])

    monkeypatch.setattr("edgekit.runtime.session.create", create)
    latency(model, model, ({}, {}), threads=3, rounds=1)
    assert opened == [{"session_options": {"session.intra_op.allow_spinning": "0"}, "threads": 3}] * 2


def test_a_model_that_is_in_no_file_cannot_be_opened_anew(model: Model) -> None:
    in_memory = Model(model.session, model.interface, path=Path("in memory"))
    with pytest.raises(UsageError, match="in memory does not exist"):
        latency(in_memory, in_memory, ({}, {}))
