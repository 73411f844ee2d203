"""Where things are below the root. Nothing that is not an entry of ours is ever touched.

    ROOT/programs/PROVIDER/DIGEST-NUMBER/   an entry: entry.json, data/
    ROOT/leases/                            who uses which entry
    ROOT/trash/                             what was removed, until it is unlinked
    ROOT/locks/, ROOT/recency.log, ROOT/stamps/

Correctness rests on names that nobody else has, on fsync and on rename. Locks keep two processes from doing the same
work, and nothing more.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from edgekit.cache import entry as entry_
from edgekit.cache import files, locks
from edgekit.cache.entry import Entry
from edgekit.cache.key import CacheKey

WAIT = 10.0  # seconds for the store's own lock, which is held for moments


@dataclass(frozen=True)
class Layout:
    """The folders of a store."""

    root: Path

    @property
    def programs(self) -> Path:
        """Where the entries are, by provider."""
        return self.root / "programs"

    @property
    def trash(self) -> Path:
        """What was renamed out of sight."""
        return self.root / "trash"

    @property
    def locks(self) -> Path:
        """A file for each key that is being compiled, and one for the store."""
        return self.root / "locks"

    def lock(self) -> AbstractContextManager[None]:
        """The store's own lock."""
        return locks.held(self.locks / "store.lock", WAIT)

    def new(self, key: CacheKey) -> Path:
        """A folder for an entry that nobody else can have."""
        return self.programs / key.provider / f"{key.digest}-{uuid.uuid4().hex[:8]}"

    def folders(self) -> Iterator[Path]:
        """The folders of entries, whatever their state."""
        programs = self.programs
        for folder in (programs / provider for provider in files.names(programs)):
            yield from (folder / name for name in files.names(folder) if entry_.NAME.fullmatch(name))

    def entries(self) -> Iterator[Entry]:
        """All that are ready."""
        found = (entry_.read(path) for path in self.folders())
        return (entry for entry in found if entry is not None and entry.state == "ready")

    def ready(self, key: CacheKey) -> list[Entry]:
        """Those for a key that are ready: one, unless two processes compiled at once."""
        folder = self.programs / key.provider
        named = sorted(name for name in files.names(folder) if name.startswith(f"{key.digest}-"))
        found = (entry_.read(folder / name) for name in named)
        return [entry for entry in found if entry is not None and entry.state == "ready" and entry.key == key]
