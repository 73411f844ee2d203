"""How many subgraphs a provider makes of the nodes that it takes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

Before = Mapping[str, Sequence[str]]  # each node, in topological order, with the nodes that it reads from


def partition(before: Before, placed: Collection[str]) -> list[set[str]]:
    """The placed nodes in connected groups, as large as they can be.

    Law: with each group drawn together to one node, the graph has no cycle: no group waits for itself by way of a node
    outside.
    """
    grouping = _Grouping()
    detours: dict[str, set[str]] = {}  # of each node: groups that it depends on by way of a node outside
    for name, sources in before.items():
        detours[name] = set().union(*(detours[s] for s in sources))
        if name not in placed:
            detours[name] |= {grouping.of(s) for s in sources if s in placed}
            continue
        grouping.add(name, detours[name])
        for source in sources:
            if source in placed:
                grouping.join(name, source)
    return grouping.groups()


class _Grouping:
    """Groups that grow together, and which groups each depends on by a way outside."""

    def __init__(self) -> None:
        self._leader: dict[str, str] = {}
        self._detours: dict[str, set[str]] = {}  # by leader; what is in them may have joined another group since

    def of(self, name: str) -> str:
        """The node that stands for a node's group."""
        while self._leader[name] != name:
            name = self._leader[name]
        return name

    def add(self, name: str, detours: set[str]) -> None:
        """A group of one node."""
        self._leader[name], self._detours[name] = name, detours

    def join(self, one: str, other: str) -> None:
        """Make one group of two, unless one waits for the other by a way outside."""
        a, b = self.of(one), self.of(other)
        if a == b or b in self._waits_for(a) or a in self._waits_for(b):
            return
        self._leader[b] = a
        self._detours[a] = self._detours[a] | self._detours.pop(b)

    def groups(self) -> list[set[str]]:
        """All groups, each with its nodes."""
        out: dict[str, set[str]] = {}
        for name in self._leader:
            out.setdefault(self.of(name), set()).add(name)
        return list(out.values())

    def _waits_for(self, leader: str) -> set[str]:
        """The groups that this one needs, by ways outside, and what those need in turn."""
        seen: set[str] = set()
        queue = [leader]
        while queue:
            found = {self.of(name) for name in self._detours[queue.pop()]} - seen
            seen |= found
            queue.extend(found)
        return seen
