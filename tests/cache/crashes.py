"""A process that may be killed at a step: `python -m tests.cache.crashes ROOT ACTION`."""

from __future__ import annotations

import sys
from pathlib import Path

from edgekit.cache import CompileCache, Limits
from tests.cache.keys import KEY, numbered
from tests.cache.programs import keep, kept, write


def fill(cache: CompileCache) -> None:
    keep(cache, KEY)


def share(cache: CompileCache) -> None:
    """Two sessions on one entry: the second works in a copy and adds to it."""
    first, second = kept(cache, KEY), kept(cache, KEY)
    write(second.folder, {"late.bin": b"late"})
    second.close()
    first.close()


def evict(cache: CompileCache) -> None:
    for number in range(3):
        keep(cache, numbered(number))
    cache.plan_prune(max_entries=1).execute()


ACTIONS = {"fill": fill, "share": share, "evict": evict}

if __name__ == "__main__":
    ACTIONS[sys.argv[2]](CompileCache(Path(sys.argv[1]), Limits(entries=100)))
