"""`extends`: a profile over its parent. The nearer one says what holds, and its sources go with what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from edgekit.target import document
from edgekit.target.document import Document
from edgekit.target.problem import Key, Problem, dotted, nearest

OWN = ("extends", "abstract", "meanings")  # of a parent; what says what that parent is, not what its children are

Finder = Callable[[str, Path], Iterable[Path]]  # the files of a name, best first, as seen from a file


def assemble(file: Path, find: Finder, names: Callable[[], Iterable[str]], chain: tuple[Path, ...] = ()) -> Document:
    """A profile with all that it takes over from its parents.

    A profile may extend another of its own name: that means the next one in the order of finding.

    Args:
        names: what could have been meant, for a parent that is not found.
    """
    chain = (*chain, file.resolve())
    own = _with_sources(document.read(file))
    parent = own.data.get("extends")
    if not isinstance(parent, str):
        return _over(Document(file), own)
    found = list(find(parent, file))
    for candidate in found:
        if candidate.resolve() not in chain:
            return _over(assemble(candidate, find, names, chain), own)
    if found:
        way = " -> ".join([*(path.stem for path in chain), parent])
        problem = own.problem(("extends",), f"goes round in a circle: {way}")
    else:
        problem = own.problem(("extends",), f"there is no profile {parent!r}", nearest(parent, names()))
    return _over(Document(file), replace(own, problems=(*own.problems, problem)))


def merge(parent: Mapping[str, Any], child: Mapping[str, Any]) -> dict[str, Any]:
    """The child over the parent, mappings key by key; anything else, a null too, takes the place of what was there."""
    out = dict(parent)
    for name, value in child.items():
        below = out.get(name)
        out[name] = merge(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return out


def leaves(data: Mapping[str, Any], key: Key = ()) -> Iterator[Key]:
    """The keys that hold a value rather than further keys. A list is a value."""
    for name, value in data.items():
        if isinstance(value, Mapping) and value:
            yield from leaves(value, (*key, name))
        else:
            yield (*key, name)


def _over(parent: Document, child: Document) -> Document:
    inherited = {name: value for name, value in parent.data.items() if name not in OWN}
    said = {dotted(key) for key in leaves(child.data)}
    if isinstance(inherited.get("sources"), Mapping):
        # what the child says anew is no longer the parent's source's word
        inherited["sources"] = {key: text for key, text in inherited["sources"].items() if key not in said}
    empty = tuple(
        child.problem(key, "has no value: give one, or leave the key out") for key in _empty(inherited, child.data)
    )
    return Document(
        file=child.file,
        data=merge(inherited, child.data),
        places={**parent.places, **child.places},
        problems=(*parent.problems, *child.problems, *empty),
    )


def _empty(parent: Mapping[str, Any], child: Mapping[str, Any], key: Key = ()) -> Iterator[Key]:
    """Nulls that take nothing away. In `override` they may: what is overridden is known only later."""
    for name, value in child.items():
        if value is None and name not in parent:
            yield (*key, name)
        elif isinstance(value, Mapping) and name != "override":
            below = parent.get(name)
            yield from _empty(below if isinstance(below, Mapping) else {}, value, (*key, name))


def _with_sources(own: Document) -> Document:
    """Spread each source over the values that it speaks for: those at its key and below."""
    given = own.data.get("sources")
    if not isinstance(given, Mapping):
        return own
    rest = {name: value for name, value in own.data.items() if name != "sources"}
    values = list(leaves(rest))
    known = dict.fromkeys(dotted(key[:n]) for key in values for n in range(1, len(key) + 1))
    problems: list[Problem] = []
    for name, text in given.items():
        place = ("sources", name)
        if name not in known:
            problems.append(own.problem(place, "this file has no such key to give a source for", nearest(name, known)))
        elif not isinstance(text, str):
            problems.append(own.problem(place, "must be text: who says so"))
    spread = {}
    for key in values:
        speaks = next((s for n in range(len(key), 0, -1) if (s := dotted(key[:n])) in given), None)
        if speaks is not None and isinstance(given[speaks], str):
            spread[dotted(key)] = given[speaks]
    return replace(own, data={**rest, "sources": spread}, problems=(*own.problems, *problems))
