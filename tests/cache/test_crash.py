"""kill -9 at every step of filling, sharing and evicting: the next start works, and nothing is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edgekit.cache import CompileCache, Limits, files, steps
from tests.cache.crashes import ACTIONS
from tests.cache.keys import KEY, numbered
from tests.cache.programs import keep

ROOT = Path(__file__).parents[2]


def killed(root: Path, action: str, step: str) -> bool:
    """Whether the process came to that step, and so to its end."""
    command = [sys.executable, "-m", "tests.cache.crashes", str(root), action]
    done = subprocess.run(command, env={**os.environ, steps.VARIABLE: step}, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


@pytest.mark.parametrize("step", steps.STEPS)
def test_each_step_is_reached_and_survived(tmp_path: Path, step: str) -> None:
    reached = []
    for action in ACTIONS:
        root = tmp_path / action
        if killed(root, action, step):
            reached.append(action)
            cache = CompileCache(root, Limits(entries=100))
            for key in (KEY, *map(numbered, range(3))):
                keep(cache, key)  # reads what it finds
                assert keep(cache, key) is True
            cache.sweep()
            assert cache.garbage() == []
            assert accounted(cache) == files.size(root / "programs")
            assert files.names(root / "trash") == []
            assert files.names(root / "leases") == []
    assert reached


def accounted(cache: CompileCache) -> int:
    """Bytes of the entries and of their records."""
    return sum(e.size + (e.path / "entry.json").stat().st_size for e in cache.entries())


def test_a_crash_leaves_to_others_what_was_ready(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, Limits())
    keep(cache, KEY)
    for step in ("hit: leased", "hit: checked", "copy: made", "close: late files hashed"):
        assert killed(tmp_path, "share", step)
        assert keep(cache, KEY) is True
