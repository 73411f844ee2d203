"""Deleting is a plan first: what would go, how much that frees, and then the deed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edgekit.cache.entry import Entry
from edgekit.cache.recency import Use

if TYPE_CHECKING:
    from edgekit.cache.store import CompileCache


@dataclass(frozen=True)
class Held:
    """An entry as the store sees it now."""

    entry: Entry
    use: Use
    in_use: bool


@dataclass(frozen=True)
class Plan:
    """What would be removed."""

    cache: CompileCache
    entries: tuple[Entry, ...]  # least recently used first; none that is in use
    kept_in_use: tuple[Entry, ...] = ()  # what would go too, if no session used it

    @property
    def freed(self) -> int:
        """Bytes that removing them gives back."""
        return sum(entry.size for entry in self.entries)

    def execute(self) -> int:
        """Remove them: renamed first, then unlinked. Bytes that were given back: what has come into use is left."""
        return sum(entry.size for entry in self.entries if self.cache.evict(entry))


def least_recent(held: Iterable[Held]) -> list[Held]:
    """In the order in which they go: what was never used comes first."""
    return sorted(held, key=lambda h: (h.use.order, h.entry.created, h.entry.name))


def surplus(held: Iterable[Held], max_entries: int | None, max_bytes: int | None) -> tuple[list[Held], list[Held]]:
    """What must go to keep the limits: those that can, and those that are in use.

    Args:
        max_entries: for each provider.
        max_bytes: for all together.
    """
    ordered = least_recent(held)
    going: set[str] = set()
    if max_entries is not None:
        for provider in {h.entry.key.provider for h in ordered}:
            theirs = [h for h in ordered if h.entry.key.provider == provider]
            going |= _first(theirs, len(theirs) - max_entries)
    left = sum(h.entry.size for h in ordered if h.entry.name not in going)
    if max_bytes is not None:
        for h in ordered:
            if left > max_bytes and h.entry.name not in going and not h.in_use:
                going.add(h.entry.name)
                left -= h.entry.size
    too_much = max_bytes is not None and left > max_bytes
    return [h for h in ordered if h.entry.name in going], [h for h in ordered if h.in_use and too_much]


def _first(ordered: list[Held], count: int) -> set[str]:
    return {h.entry.name for h in [h for h in ordered if not h.in_use][: max(count, 0)]}
