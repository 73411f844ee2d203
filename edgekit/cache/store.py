"""The compile cache: entries on the disk, shared by any number of processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from edgekit.cache import eviction, files, garbage, leases, lending, recency, stamp
from edgekit.cache.answer import Answer
from edgekit.cache.entry import Entry
from edgekit.cache.key import CacheKey
from edgekit.cache.layout import Layout
from edgekit.cache.lending import Notify
from edgekit.cache.limits import Limits
from edgekit.cache.loan import Loan
from edgekit.cache.plan import Held, Plan, least_recent, surplus
from edgekit.cache.recency import Use
from edgekit.errors import CacheError, UsageError

SHORTEST_NAME = 4  # characters of an entry's name that `select` takes


class CompileCache:
    """Compiled programs; the least recently used go first.

    >>> cache = edgekit.CompileCache()                # doctest: +SKIP
    >>> plan = cache.plan_prune(max_bytes=2 << 30)    # doctest: +SKIP
    >>> plan.freed, plan.execute()                    # doctest: +SKIP
    """

    def __init__(self, root: Path | None = None, limits: Limits | None = None) -> None:
        self.layout = Layout(stamp.root() if root is None else root)
        self.limits = Limits.of_environment() if limits is None else limits

    @property
    def root(self) -> Path:
        """The store's folder."""
        return self.layout.root

    def borrow(self, key: CacheKey, *, label: str = "", notify: Notify | None = None) -> Loan:
        """A folder for a session: with what was compiled for this key, or empty, to be filled.

        Waits for another process that compiles the same, as long as EDGEKIT_CACHE_WAIT says.

        Args:
            label: what the user calls the model.
            notify: told, in a sentence, when it waits.

        Raises:
            CacheError: the store can neither be used as it is nor be written.
        """
        try:
            return lending.borrow(self, key, label, notify or (lambda sentence: None))
        except OSError as e:
            raise CacheError(f"the cache {self.root} cannot be used: {e.strerror or e}") from e

    def find(self, key: CacheKey) -> Answer:
        """What a start with this key would find; nothing is changed."""
        answer = Answer(key)
        for entry in self.layout.ready(key):
            answer = Answer(key, entry, files.damage(entry.data, entry.files))
            if answer.hit:
                return answer
        if answer.entry is not None:
            return answer
        near = [(key.differences(e.key), e) for e in self.entries() if e.key.provider == key.provider]
        if not near:
            return answer
        differences, nearest = min(near, key=lambda n: ("model" in n[0], len(n[0])))
        return Answer(key, nearest=nearest, differences=differences)

    def add(self, entry: Entry) -> Entry:
        """Copy an entry of another store into this one.

        Raises:
            OSError: it cannot be written.
        """
        copy = replace(entry, path=self.layout.new(entry.key))
        copy.data.mkdir(parents=True)
        files.copy(entry.data, copy.data, entry.files)
        copy.write()
        return copy

    def entries(self) -> list[Entry]:
        """All that are ready."""
        return list(self.layout.entries())

    def held(self) -> list[Held]:
        """All that are ready, least recently used first, with their last use and whether a session has them."""
        uses, busy = recency.uses(self.root), leases.busy(leases.taken(self.root))
        return least_recent(Held(e, uses.get(e.name, Use()), e.name in busy) for e in self.layout.entries())

    def select(self, names: Sequence[str]) -> list[Entry]:
        """Entries by their names, or by how their names begin.

        Raises:
            UsageError: a name is none, or fits several.
        """
        known, chosen = self.entries(), []
        for name in names:
            fitting = [e for e in known if e.name == name] or [e for e in known if e.name.startswith(name)]
            if len(name) < SHORTEST_NAME or not fitting:
                raise UsageError(f"the cache has no entry {name!r}", hint="edgekit cache ls")
            if len(fitting) > 1:
                raise UsageError(f"{name!r} fits {len(fitting)} entries: {', '.join(e.name for e in fitting[:3])}")
            chosen.append(fitting[0])
        return chosen

    def damaged(self) -> Iterator[tuple[Entry, str | None]]:
        """Each ready entry, and what is wrong with its files: None if they are as they were recorded."""
        return ((entry, files.damage(entry.data, entry.files)) for entry in self.layout.entries())

    def plan_prune(self, max_entries: int | None = None, max_bytes: int | None = None) -> Plan:
        """What must go to keep the limits: those given here, or the cache's own if none is.

        Args:
            max_entries: for each provider.
            max_bytes: for all together.
        """
        if max_entries is None and max_bytes is None:
            max_entries, max_bytes = self.limits.entries, self.limits.size
        going, kept = surplus(self.held(), max_entries, max_bytes)
        return Plan(self, tuple(h.entry for h in going), tuple(h.entry for h in kept))

    def plan_remove(self, chosen: Sequence[Entry]) -> Plan:
        """The removal of certain entries; those in use stay."""
        wanted = {entry.name for entry in chosen}
        held = [h for h in self.held() if h.entry.name in wanted]
        return Plan(self, tuple(h.entry for h in held if not h.in_use), tuple(h.entry for h in held if h.in_use))

    def enforce(self) -> int:
        """Keep the limits. Bytes that were freed."""
        return self.plan_prune().execute()

    def garbage(self) -> list[Path]:
        """What crashed processes have left."""
        return garbage.find(self.layout)

    def sweep(self) -> int:
        """Remove what crashed processes have left, and stamps of files that are gone. Bytes that were freed."""
        return garbage.sweep(self.layout) + stamp.forget_gone(self.root)

    def evict(self, entry: Entry) -> bool:
        """Remove an entry, unless a session uses it or it is gone.

        Raises:
            CacheError: the store cannot be written.
        """
        try:
            with self.layout.lock():
                return eviction.evict(self.layout, entry.path)
        except OSError as e:
            raise CacheError(f"{entry.path} cannot be removed: {e.strerror}") from e
