"""Which of two models is faster: they take turns, so that what slows the machine slows both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgekit.evaluation.evaluation import Progress
from edgekit.runtime.session_keys import SPINNING

if TYPE_CHECKING:
    from edgekit.runtime.model import Model

ROUNDS = 40
WARM_UP = 3  # runs that are not counted: the first ones fill caches and arenas

TICK = time.get_clock_info("process_time").resolution  # what is shorter than a tick of the clock counts as one

Feed = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Turns:
    """Times of two that took turns, in milliseconds.

    Law: there are as many of `a` as of `b`, at least one, all of them positive.

    >>> turns = Turns((10.0, 20.0, 10.0), (5.0, 10.0, 6.0))
    >>> turns.medians, turns.ratio
    ((10.0, 6.0), 0.5)
    """

    a: tuple[float, ...]
    b: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.a) != len(self.b) or not self.a or min(self.a + self.b) <= 0:
            raise ValueError(f"{self.a} and {self.b} are no turns")

    @property
    def medians(self) -> tuple[float, float]:
        """Of each."""
        return statistics.median(self.a), statistics.median(self.b)

    @property
    def ratio(self) -> float:
        """How long `b` takes for what takes `a` 1: the median over the rounds, each with its own ratio."""
        return statistics.median(self._ratios)

    @property
    def spread(self) -> float:
        """How noisy the ratio is: the range that the middle half of the rounds is in."""
        low, high = np.percentile(self._ratios, (25, 75))
        return float(high - low)

    @property
    def _ratios(self) -> list[float]:
        return [b / a for a, b in zip(self.a, self.b, strict=True)]


@dataclass(frozen=True)
class Latency:
    """How long each of two sessions takes for one inference."""

    wall: Turns
    cpu: Turns  # of all threads of this process: what else runs on the machine counts less
    threads: int

    @property
    def rounds(self) -> int:
        """How often each had its turn."""
        return len(self.wall.a)


def latency(
    a: Model,
    b: Model,
    feeds: tuple[Feed, Feed],
    *,
    threads: int = 1,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Latency:
    """Time inference alone, A B A B. Both are opened anew, with this number of threads, which do not spin.

    Args:
        feeds: what each is given, at every turn.

    Raises:
        UsageError: a model is not in a file.
        ModelError, ProviderError: it cannot be opened or run.
    """
    return measure((_opened(a, threads), _opened(b, threads)), feeds, threads=threads, rounds=rounds, progress=progress)


def measure(
    pair: tuple[Any, Any],
    feeds: tuple[Feed, Feed],
    *,
    threads: int,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Latency:
    """The same for sessions that are open; `threads` is what they were opened with."""
    wall: tuple[list[float], list[float]] = ([], [])
    cpu: tuple[list[float], list[float]] = ([], [])
    for done in range(-WARM_UP, rounds):
        for which, (opened, feed) in enumerate(zip(pair, feeds, strict=True)):
            start, busy = time.perf_counter(), time.process_time()
            opened.run(None, feed)
            used, taken = time.process_time() - busy, time.perf_counter() - start
            if done >= 0:
                wall[which].append(taken * 1e3)
                cpu[which].append(max(used, TICK) * 1e3)
        if progress:
            progress("latency", max(done + 1, 0), rounds)
    return Latency(Turns(tuple(wall[0]), tuple(wall[1])), Turns(tuple(cpu[0]), tuple(cpu[1])), threads)


def _opened(model: Model, threads: int) -> Any:
    """A session of its own, made as the model's."""
    quiet = {**model.opening.session_options, SPINNING: "0"}
    return replace(model.opening, session_options=quiet, threads=threads).session()
