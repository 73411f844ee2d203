"""Processes that share a store: `python -m tests.cache.workers once|churn ROOT [SECONDS] [unlocked]`."""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path

from edgekit.cache import CompileCache, Limits
from edgekit.cache.locks import Lock
from tests.cache.keys import KEY, numbered
from tests.cache.programs import files, kept, read, write

MODELS, ROOM = 12, 4


def once(root: Path) -> None:
    """One start, with a compiler that takes its time."""
    notices: list[str] = []
    loan = CompileCache(root, Limits(entries=ROOM)).borrow(KEY, label="toy", notify=notices.append)
    if not loan.hit:
        time.sleep(2)
        write(loan.folder, files(KEY))
        loan.commit()
    assert read(loan.folder) == files(KEY)
    loan.close()
    print(json.dumps({"hit": loan.hit, "notices": notices}))


def churn(root: Path, seconds: float) -> None:
    """Start after start, on models by chance; each reads its program all the while that it has it."""
    until, starts = time.monotonic() + seconds, 0
    chance = random.Random()
    while time.monotonic() < until:
        cache, key = CompileCache(root, Limits(entries=ROOM)), numbered(chance.randrange(MODELS))
        loan = kept(cache, key, 2000)
        for _ in range(chance.randrange(3)):
            time.sleep(0.005)
            assert files(key, 2000).items() <= read(loan.folder).items()
        if chance.random() < 0.1:
            write(loan.folder, {f"late{chance.randrange(3)}.bin": b"late"})
        loan.close()
        starts += 1
    print(json.dumps({"starts": starts}))


if __name__ == "__main__":
    if "unlocked" in sys.argv:
        Lock.acquire = lambda self, wait=0, *, waiting=None: True  # type: ignore[method-assign]
    root = Path(sys.argv[2])
    once(root) if sys.argv[1] == "once" else churn(root, float(sys.argv[3]))
