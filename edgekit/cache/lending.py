"""How a session gets an entry: what is there and intact, what another process compiles now, or an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from edgekit.cache import eviction, files, garbage, leases, limits, recency, steps
from edgekit.cache.entry import Entry, State
from edgekit.cache.key import CacheKey
from edgekit.cache.leases import Lease
from edgekit.cache.loan import Loan
from edgekit.cache.locks import Lock

if TYPE_CHECKING:
    from edgekit.cache.store import CompileCache

Notify = Callable[[str], None]


def borrow(cache: CompileCache, key: CacheKey, label: str, notify: Notify) -> Loan:
    """A loan of an entry that is intact, or of an empty one, to be filled.

    Raises:
        OSError: the store can neither be used as it is nor be written.
    """
    if garbage.at_a_glance(cache.layout):
        with suppress(OSError):
            garbage.sweep(cache.layout)
    damage: list[str] = []
    return _found(cache, key, damage) or _awaited(cache, key, label, damage, notify)


def _found(cache: CompileCache, key: CacheKey, damage: list[str]) -> Loan | None:
    for entry in cache.layout.ready(key):
        lease = _lease(cache, entry)
        going = eviction.begun(entry.path)
        wrong = files.damage(entry.data, entry.files)
        steps.reach("hit: checked")
        if lease is not None and (going or not entry.path.exists()):
            lease.drop()
        elif wrong:
            damage.append(f"what was kept is damaged: {wrong}")
            if lease is not None:
                lease.drop()
            with suppress(OSError):  # a session that has it may be writing there just now: then it stays
                eviction.evict(cache.layout, entry.path)
        else:
            recency.note(cache.root, entry.name)
            if loan := _alone_or_copied(cache, entry, lease):
                return loan
    return None


def _lease(cache: CompileCache, entry: Entry) -> Lease | None:
    """A lease, or none where the store cannot be written: then nobody evicts from it either."""
    try:
        lease = leases.take(cache.root, entry.name)
    except OSError:
        return None
    steps.reach("hit: leased")
    return lease


def _alone_or_copied(cache: CompileCache, entry: Entry, lease: Lease | None) -> Loan | None:
    if lease is None:
        return Loan(cache, entry)
    if not leases.held(cache.root, entry.name, lease):
        for name in set(files.listed(entry.data)) - set(entry.files):
            files.remove(entry.data / name)  # half written by a session that crashed
        return Loan(cache, entry, leases=(lease,))
    try:
        copy, own = _made(cache, entry.key, entry.label, "copy")
    except OSError:
        lease.drop()
        raise
    with suppress(OSError):
        files.copy(entry.data, copy.data, entry.files)
    loan = Loan(cache, copy, leases=(own, lease), original=entry)
    steps.reach("copy: made")
    if files.damage(copy.data, entry.files):  # the one that has the entry writes there just now, or the disk is full
        loan.abandon()
        return None
    return loan


def _awaited(cache: CompileCache, key: CacheKey, label: str, damage: list[str], notify: Notify) -> Loan:
    lock, wait = Lock(cache.layout.locks / f"{key.digest}.lock"), limits.longest_wait()
    called = label or "this model"
    if not lock.acquire(
        wait, waiting=lambda: notify(f"another process compiles {called}: waiting for it, {wait:.0f} s at most")
    ):
        notify(f"another process still compiles {called} after {wait:.0f} s: compiling it here too")
    if found := _found(cache, key, damage):
        lock.release()
        return found
    try:
        reason = damage[0] if damage else cache.find(key).reason
        entry, lease = _made(cache, key, label, "filling")
    except OSError:
        lock.release()
        raise
    steps.reach("fill: marked")
    return Loan(cache, entry, leases=(lease,), lock=lock, reason=reason)


def _made(cache: CompileCache, key: CacheKey, label: str, state: State) -> tuple[Entry, Lease]:
    """A new entry, and a lease on it: the lease first, so that nothing is ever without an owner."""
    entry = Entry(cache.layout.new(key), key, label, state, recency.now())
    lease = leases.take(cache.root, entry.name)
    steps.reach("fill: leased")
    try:
        entry.data.mkdir(parents=True)
        steps.reach("fill: folder made")
        entry.write()
    except OSError:
        files.remove(entry.path)
        lease.drop()
        raise
    return entry, lease
