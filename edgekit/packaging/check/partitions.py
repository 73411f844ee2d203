"""How many subgraphs a provider makes of the nodes that it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Before = Mapping[str, Sequence[str]]  # each node, in topological order, with the nodes that it reads from


def partition(before: Before, placed: Collection[str]) -> list[set[str]]:
    """The placed nodes in connected groups, grown as far as they can be.

    Law: with each group drawn together to one node, the graph has no cycle: no group waits for itself by way of
    another one or of a node outside.
    """
    drawn = _Drawn()
    for name, sources in before.items():
        drawn.add(name, sources)
        if name in placed:
            for source in sources:
                if source in placed:
                    drawn.join(name, source)
    return [group for group in drawn.groups() if not group.isdisjoint(placed)]


class _Drawn:
    """The graph with groups of nodes drawn together."""

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}
        self._needs: dict[str, set[str]] = {}  # of each leader: nodes that its group reads, itself included

    def add(self, name: str, sources: Sequence[str]) -> None:
        """A node by itself."""
        self._leader[name], self._needs[name] = name, set(sources)

    def join(self, one: str, other: str) -> None:
        """Draw two groups together, unless there is a way from one to the other that leads through a third."""
        a, b = self._of(one), self._of(other)
        if a != b and not self._leads(a, b) and not self._leads(b, a):
            self._leader[b] = a
            self._needs[a] |= self._needs.pop(b)

    def groups(self) -> list[set[str]]:
        """All groups, each with its nodes."""
        out: dict[str, set[str]] = {}
        for name in self._leader:
            out.setdefault(self._of(name), set()).add(name)
        return list(out.values())

    def _of(self, name: str) -> str:
        while self._leader[name] != name:
            self._leader[name] = self._leader[self._leader[name]]  # the way gets shorter each time it is gone
            name = self._leader[name]
        return name

    def _leads(self, start: str, end: str) -> bool:
        """Whether what `start` needs, apart from `end` itself, needs `end`."""
        seen = {start, end}
        queue = [start]
        while queue:
            here = queue.pop()
            found = {self._of(name) for name in self._needs[here]}
            if end in found and here != start:
                return True
            queue.extend(found - seen)
            seen |= found
        return False
