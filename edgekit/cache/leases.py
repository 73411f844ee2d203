"""Who uses which entry: a file for each session, named after the entry and the process. In use is never evicted."""

from __future__ import annotations

import os
import uuid
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from edgekit.cache import files
from edgekit.cache.owner import Owner

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FOLDER = "leases"


@dataclass(frozen=True)
class Lease:
    """One session's hold on an entry."""

    path: Path
    entry: str
    owner: Owner
    handle: int | None = None  # open and locked as long as its session lives; none in what is read from the disk

    @property
    def alive(self) -> bool:
        """Whether its session still runs: what the system says of its process, else whether its file is locked.

        Where neither tells, it counts as alive.
        """
        known = self.owner.alive
        return _locked(self.path) if known is None else known

    def drop(self) -> None:
        """End it."""
        with suppress(OSError):
            if self.handle is not None:
                os.close(self.handle)
        with suppress(OSError):
            self.path.unlink()


def take(root: Path, entry: str) -> Lease:
    """A lease for this process.

    Raises:
        OSError: it cannot be written.
    """
    owner = Owner.current()
    path = root / FOLDER / f"{entry}.{owner}-{uuid.uuid4().hex[:8]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    if fcntl is not None:
        with suppress(OSError):  # a file system without locks: then its process alone tells
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return Lease(path, entry, owner, handle)


def taken(root: Path) -> Mapping[str, list[Lease]]:
    """All leases by entry, of the living and of the dead."""
    found: dict[str, list[Lease]] = defaultdict(list)
    for name in files.names(root / FOLDER):
        entry, _, rest = name.partition(".")
        owner = Owner.parse(rest.rpartition("-")[0])
        if owner is not None:
            found[entry].append(Lease(root / FOLDER / name, entry, owner))
    return found


def held(root: Path, entry: str, mine: Lease | None = None) -> bool:
    """Whether a session that lives has a lease on an entry, apart from mine."""
    found = taken(root).get(entry, [])
    return any(lease.alive for lease in found if mine is None or lease.path != mine.path)


def busy(leases: Mapping[str, list[Lease]]) -> set[str]:
    """Of the entries of `taken`, those that sessions use now."""
    return {entry for entry, found in leases.items() if any(lease.alive for lease in found)}


def _locked(path: Path) -> bool:
    if fcntl is None:
        return True
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except OSError:  # somebody has it, or nobody can tell
        return True
    finally:
        os.close(handle)
