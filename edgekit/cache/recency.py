"""Which entry was used last: the order of lines in a log. Boards without a clock start in the past."""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from edgekit.cache import files

FILE = "recency.log"
LONGEST = 64 << 10  # bytes, before lines that say nothing any more are dropped
PER_ENTRY = 120


@dataclass(frozen=True)
class Use:
    """An entry's last use."""

    order: int = -1  # the higher, the later; -1: none is known
    date: str = ""  # for display: by the board's own clock


def note(root: Path, entry: str) -> None:
    """Write down that an entry is used now; a log that cannot be written costs the order, nothing else."""
    with suppress(OSError):
        handle = os.open(root / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            os.write(handle, f"\n{entry} {now()}".encode())  # in one write: whole, whoever else appends
        finally:
            os.close(handle)


def uses(root: Path) -> dict[str, Use]:
    """The last use of each entry; lines that make no sense are passed over."""
    try:
        text = (root / FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    found: dict[str, Use] = {}
    for order, line in enumerate(text.splitlines()):
        entry, separator, date = line.partition(" ")
        if separator:
            found[entry] = Use(order, date)
    return found


def compact(root: Path, entries: Collection[str]) -> None:
    """Keep the last line of each entry that is still there."""
    with suppress(OSError):
        if (root / FILE).stat().st_size < max(LONGEST, PER_ENTRY * len(entries)):
            return
        kept = sorted(((use, entry) for entry, use in uses(root).items() if entry in entries), key=lambda u: u[0].order)
        files.write(root / FILE, "".join(f"\n{entry} {use.date}" for use, entry in kept))


def now() -> str:
    """The date by this machine's clock, in UTC."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
