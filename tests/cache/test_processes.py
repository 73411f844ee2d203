"""Many processes on one store. EDGEKIT_CHURN is how many seconds they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from edgekit.cache import CompileCache, Limits, files
from tests.cache.keys import numbered
from tests.cache.programs import keep
from tests.cache.workers import MODELS, ROOM

HERE = Path(__file__).parents[2]
SECONDS = os.environ.get("EDGEKIT_CHURN", "6")


def together(count: int, *arguments: object) -> list[dict[str, Any]]:
    """What each of so many processes says, all started at once."""
    command = [sys.executable, "-m", "tests.cache.workers", *map(str, arguments)]
    started = [
        subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    ended = [(process.communicate(), process.returncode) for process in started]
    for (_, err), code in ended:
        assert code == 0, err
    return [json.loads(out) for (out, _), _ in ended]


def test_sixteen_at_once_compile_once(tmp_path: Path) -> None:
    said = together(16, "once", tmp_path)
    assert sorted(s["hit"] for s in said) == [False] + [True] * 15
    waited = [s["notices"] for s in said if s["notices"]]
    assert waited
    assert all(n == ["another process compiles toy: waiting for it, 600 s at most"] for n in waited)


def test_sixteen_at_once_without_locks_find_nothing_wrong(tmp_path: Path) -> None:
    said = together(16, "once", tmp_path, "unlocked")
    assert any(not s["hit"] for s in said)


@pytest.mark.parametrize("locks", ["locked", "unlocked"])
def test_more_models_than_room(tmp_path: Path, locks: str) -> None:
    said = together(8, "churn", tmp_path, SECONDS, locks)
    assert all(s["starts"] > 0 for s in said)
    cache = CompileCache(tmp_path, Limits(entries=ROOM))
    cache.sweep()
    cache.enforce()
    assert len(cache.entries()) <= ROOM
    assert files.names(tmp_path / "leases") == []
    assert files.names(tmp_path / "trash") == []
    assert cache.garbage() == []
    for number in range(MODELS):
        keep(cache, numbered(number), 2000)
