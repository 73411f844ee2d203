"""What crashed processes have left behind, and its removal."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from edgekit.cache import entry as entry_
from edgekit.cache import eviction, files, leases, recency
from edgekit.cache.layout import Layout
from edgekit.cache.locks import Lock


def at_a_glance(layout: Layout) -> bool:
    """Whether there is any: whoever crashed has left a lease, or something in the trash."""
    found = leases.taken(layout.root).values()
    return bool(files.names(layout.trash)) or any(not lease.alive for taken in found for lease in taken)


def find(layout: Layout) -> list[Path]:
    """The trash, entries that nobody fills any more, halves of files, leases of the dead."""
    # leases are read last: whoever makes an entry has taken its lease before
    trash = [layout.trash / name for name in files.names(layout.trash)]
    folders, halves = sorted(layout.folders()), list(layout.root.glob("programs/*/*/.new-*"))
    own = list(layout.root.glob(".new-*"))
    taken = leases.taken(layout.root)
    dead = [lease.path for found in taken.values() for lease in found if not lease.alive]
    busy = leases.busy(taken)
    unfinished = _unfinished(folder for folder in folders if folder.name not in busy)
    return [*trash, *unfinished, *(p for p in halves if p.parent.name not in busy), *own, *dead]


def sweep(layout: Layout) -> int:
    """Remove it. Bytes that were freed."""
    freed = 0
    with layout.lock():
        for path in find(layout):
            freed += files.size(path)
            if path.parent.parent == layout.programs:
                with suppress(OSError):
                    eviction.evict(layout, path)
            else:
                files.remove(path)
        names = {path.name for path in layout.folders()}
        recency.compact(layout.root, names)
        _drop_locks(layout, {name.partition("-")[0] for name in names})
    return freed


def _unfinished(folders: Iterable[Path]) -> list[Path]:
    found, kept = [], set()
    for path in folders:
        entry, digest = entry_.read(path), path.name.partition("-")[0]
        whole = entry is not None and entry.state == "ready" and entry.key.digest == digest
        # of two processes that compiled the same at once, one entry is enough
        if not whole or digest in kept or eviction.broken_off(path):
            found.append(path)
        else:
            kept.add(digest)
    return found


def _drop_locks(layout: Layout, digests: set[str]) -> None:
    """Lock files of keys that have no entry any more."""
    for path in layout.locks.glob("*.lock"):
        if path.stem != "store" and path.stem not in digests:
            lock = Lock(path)
            if lock.acquire() and lock.held:
                files.remove(path)
            lock.release()
