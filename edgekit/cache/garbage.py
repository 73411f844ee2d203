"""What crashed processes have left behind, and its removal."""

from __future__ import annotations

from pathlib import Path

from edgekit.cache import entry as entry_
from edgekit.cache import files, leases, recency
from edgekit.cache.layout import Layout
from edgekit.cache.locks import Lock


def at_a_glance(layout: Layout) -> bool:
    """Whether there is any: whoever crashed has left a lease, or something in the trash."""
    found = leases.taken(layout.root).values()
    return bool(files.names(layout.trash)) or any(not lease.alive for taken in found for lease in taken)


def find(layout: Layout) -> list[Path]:
    """The trash, entries that nobody fills any more, halves of files, leases of the dead."""
    busy = leases.busy(layout.root)
    dead = [lease.path for taken in leases.taken(layout.root).values() for lease in taken if not lease.alive]
    trash = [layout.trash / name for name in files.names(layout.trash)]
    halves = [p for p in layout.root.glob("programs/*/*/.new-*") if p.parent.name not in busy]
    halves += layout.root.glob(".new-*")
    return [*trash, *_unfinished(layout, busy), *halves, *dead]


def sweep(layout: Layout) -> int:
    """Remove it. Bytes that were freed."""
    freed = 0
    with layout.lock():
        for path in find(layout):
            freed += files.size(path)
            if path.parent.parent == layout.programs:
                layout.discard(path)
            else:
                files.remove(path)
        names = {path.name for path in layout.folders()}
        recency.compact(layout.root, names)
        _drop_locks(layout, {name.partition("-")[0] for name in names})
    return freed


def _unfinished(layout: Layout, busy: set[str]) -> list[Path]:
    found, kept = [], set()
    for path in sorted(layout.folders()):
        if path.name in busy:
            continue
        entry = entry_.read(path)
        # of two processes that compiled the same at once, one entry is enough
        if entry is None or entry.state != "ready" or entry.key.digest in kept:
            found.append(path)
        else:
            kept.add(entry.key.digest)
    return found


def _drop_locks(layout: Layout, digests: set[str]) -> None:
    """Lock files of keys that have no entry any more."""
    for path in layout.locks.glob("*.lock"):
        if path.stem != "store" and path.stem not in digests:
            lock = Lock(path)
            if lock.acquire() and lock.held:
                files.remove(path)
            lock.release()
