"""What a session has of the cache: a folder for its provider, from the moment it asks until it is closed."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from edgekit.cache import eviction, files, recency, steps
from edgekit.cache.entry import Entry, read
from edgekit.cache.leases import Lease
from edgekit.cache.locks import Lock
from edgekit.errors import CacheError

if TYPE_CHECKING:
    from edgekit.cache.store import CompileCache


class Loan:
    """One session's use of an entry.

    Whoever is alone with an entry works in its own folder, so that the path stays the same from start to start. Whoever
    is not gets a copy that nobody else writes to, since a provider may write while others read.
    """

    def __init__(
        self,
        cache: CompileCache,
        entry: Entry,
        *,
        leases: tuple[Lease, ...] = (),
        lock: Lock | None = None,
        original: Entry | None = None,
        reason: str | None = None,
    ) -> None:
        self.entry = entry
        self.reason = reason  # why nothing was found; None for a hit
        self._cache = cache
        self._leases = leases
        self.read_only = not leases  # where the store cannot be written
        self._lock = lock  # held while compiling
        self._original = original  # of a copy
        self._seen: Mapping[str, files.Stamp] = files.stamps(entry.data)
        self._mutex = threading.RLock()  # a session may be closed in the midst of an update, by the garbage collector
        self._closed = False
        self._pid = os.getpid()

    @property
    def folder(self) -> Path:
        """Where the provider reads and writes."""
        return self.entry.data

    @property
    def hit(self) -> bool:
        """Whether something was found."""
        return self.reason is None

    @property
    def kept(self) -> Entry | None:
        """What others find: of a copy, what it was made from; None as long as nothing is ready."""
        entry = read((self._original or self.entry).path)
        return entry if entry is not None and entry.state == "ready" else None

    @property
    def written_to(self) -> bool:
        """Whether the provider has written there since: after a hit, that it did not take what it found."""
        return files.stamps(self.folder) != self._seen

    def take_over(self, entry: Entry) -> None:
        """Fill an empty loan with the files of an entry of another store; it is a hit then.

        Raises:
            OSError: they cannot be copied; nothing is kept.
        """
        try:
            files.copy(entry.data, self.folder, entry.files)
        except OSError:
            files.remove(self.folder)
            self.folder.mkdir(exist_ok=True)
            raise
        if self.commit(entry.seconds):
            self.reason = None

    def commit(self, seconds: float | None = None) -> bool:
        """Make what the provider has written ready for others.

        Args:
            seconds: that it took.

        Returns:
            False if there is nothing yet: then `close` looks again.

        Raises:
            OSError: it could not be written down; the folder stays for the session, until `close`.
        """
        steps.reach("fill: provider done")
        try:
            kept = self._keep(seconds)
        finally:
            self._release()
        if kept:
            recency.note(self._cache.root, self.entry.name)
            steps.reach("fill: use noted")
            self._enforce()
        return kept

    def update(self) -> None:
        """Take in what the provider has written since: a board is switched off, not closed.

        A cache that fails here costs what was added, nothing else.
        """
        with self._mutex, suppress(OSError):
            if self._closed or not self._leases or not self.written_to:
                return
            if self.entry.state == "filling":
                self.commit()
            else:
                self._add()

    def abandon(self) -> None:
        """Leave nothing of what was being filled; what was found stays."""
        self._closed = True
        self._release()
        if self.entry.state != "ready":
            eviction.discard(self._cache.layout, self.entry.path)
        self._drop()

    def reject(self) -> None:
        """Remove what was found, since the provider fails over it; what another session uses stays."""
        with suppress(OSError, CacheError):
            if not self.read_only:
                self._cache.evict(self._original or self.entry)

    def close(self) -> None:
        """Take in what the provider has added, and let go. A cache that fails here costs the addition, nothing else."""
        with self._mutex:
            if self._closed or os.getpid() != self._pid:  # a fork has no part in it
                return
            self._closed = True
        with suppress(OSError):
            if self.entry.state == "filling":
                self._keep(None)
            elif self._leases and self.written_to:
                self._add()
        self._release()
        if self.entry.state != "ready":
            eviction.discard(self._cache.layout, self.entry.path)
        if not self.read_only:
            self._drop()
            self._enforce()

    def _keep(self, seconds: float | None) -> bool:
        names = list(files.listed(self.folder))
        if not names:
            return False
        recorded = files.records(self.folder, names)
        steps.reach("fill: files hashed")
        for name in names:
            files.sync(self.folder / name)
        for folder in {(self.folder / name).parent for name in names}:
            files.sync(folder)
        steps.reach("fill: files synced")
        ready = replace(self.entry, state="ready", seconds=seconds, files=recorded)
        ready.write()
        self.entry, self._seen = ready, files.stamps(self.folder)
        steps.reach("fill: ready")
        return True

    def _add(self) -> None:
        """Record the files that came since; those of a copy go to the entry that it was made from."""
        found = files.stamps(self.folder)
        names = [name for name, stamp in found.items() if self._seen.get(name) != stamp]
        recorded = files.records(self.folder, names)
        self._seen = found
        steps.reach("close: late files hashed")
        for name in names:
            files.sync(self.folder / name)
        with self._cache.layout.lock():
            entry = self.kept
            if entry is None:
                return
            if self._original is not None:
                # what is there already is another session's: recorded, or still being written
                recorded = {name: r for name, r in recorded.items() if not (entry.data / name).exists()}
                files.copy(self.folder, entry.data, recorded)
            replace(entry, files={**entry.files, **recorded}).write()
        steps.reach("close: late files recorded")

    def _enforce(self) -> None:
        with suppress(OSError, CacheError):  # what cannot be removed now is at the next start
            self._cache.enforce()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _drop(self) -> None:
        for lease in self._leases:
            lease.drop()
            steps.reach("close: lease dropped")
        self._leases = ()
