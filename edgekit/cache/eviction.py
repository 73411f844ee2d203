"""How an entry leaves: marked, then renamed out of sight, then unlinked; never truncated, it may be mapped.

Whoever evicts marks first and looks for leases then; whoever uses takes its lease first and looks for marks then. So
one of the two sees the other, with locks or without.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from pathlib import Path

from edgekit.cache import entry as entry_
from edgekit.cache import files, leases, steps
from edgekit.cache.layout import Layout
from edgekit.cache.owner import Owner

MARK = ".evicted-by."


def evict(layout: Layout, path: Path) -> bool:
    """Remove an entry, unless a session uses it or it is gone.

    Raises:
        OSError: the store cannot be written.
    """
    mark = path / f"{MARK}{Owner.current()}-{uuid.uuid4().hex[:8]}"
    try:
        mark.touch()
        steps.reach("evict: marked")
        if leases.held(layout.root, path.name):
            mark.unlink()
            return False
        trashed = _to_trash(layout, path)
    except FileNotFoundError:
        return False
    _unlink(trashed)
    return True


def discard(layout: Layout, path: Path) -> None:
    """Remove what is the caller's own and unfinished; a store that cannot be written keeps it."""
    with suppress(OSError):
        _unlink(_to_trash(layout, path))


def begun(path: Path) -> bool:
    """Whether somebody evicts this entry, or was killed while evicting it: then it is not to be used."""
    return any(name.startswith(MARK) for name in files.names(path))


def broken_off(path: Path) -> bool:
    """Whether somebody was killed while evicting this entry."""
    owners = [Owner.parse(n[len(MARK) :].rpartition("-")[0]) for n in files.names(path) if n.startswith(MARK)]
    return any(owner is None or not owner.alive for owner in owners)


def _to_trash(layout: Layout, path: Path) -> Path:
    trashed = layout.trash / f"{path.name}.{uuid.uuid4().hex[:8]}"
    trashed.parent.mkdir(parents=True, exist_ok=True)
    path.rename(trashed)
    steps.reach("evict: renamed")
    return trashed


def _unlink(trashed: Path) -> None:
    files.remove(trashed / entry_.FILE)
    steps.reach("evict: half deleted")
    files.remove(trashed)
    steps.reach("evict: deleted")
