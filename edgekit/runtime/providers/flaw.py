"""What is wrong with what a profile asks of a provider."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from edgekit.runtime.providers.known import NEVER, Known, Option
from edgekit.runtime.providers.place import strays
from edgekit.runtime.providers.release import Span

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong."""

    key: Key  # as a profile has it: ("provider", "options", "cacheDir")
    message: str
    suggestion: str | None = None  # what would be right in the place of the name or the value


def find(
    known: Known,
    options: Mapping[str, str],
    environment: Mapping[str, str],
    preload: Iterable[str],
    versions: str,
) -> Iterator[Flaw]:
    """All that a provider would refuse, ignore or not understand, in any of the releases in `versions`."""
    span = Span.of(versions)
    for kind, given, table, key in (
        ("option", options, known.options, ("provider", "options")),
        ("variable", environment, known.environment, ("environment",)),
    ):
        for name, value in given.items():
            yield from _one((*key, name), kind, value, known, table, span)
    for i, library in enumerate(preload):
        if library not in known.preloads:
            place = ("provider", "plugin", "preload", i)
            yield Flaw(place, f"{known.provider} needs no {library}", nearest(library, known.preloads))


def _one(key: Key, kind: str, value: str, known: Known, table: Iterable[Option], span: Span) -> Iterator[Flaw]:
    name = str(key[-1])
    option = next((o for o in table if o.name == name), None)
    if option is None:
        current = [o.name for o in table if not span.begins_before(o.since) and not span.reaches(o.until)]
        yield Flaw(key, f"{known.provider} has no {kind} {name}", nearest(name, current))
        return
    if span.begins_before(option.since):
        yield Flaw(key, f"{known.counted_in} knows {name} since {option.since}, the profile is for older ones too")
    if span.reaches(option.until):
        yield Flaw(key, _outdated(option, known), option.instead if _is_name(option.instead) else None)
    if option.values and value not in option.values and not value.startswith("${"):
        yield Flaw(key, f"must be one of {', '.join(option.values)}, is {value!r}", nearest(value, option.values))
    if option.path and strays(value):
        yield Flaw(key, f"must stay in the package or the cache: begin with ${{package}} or ${{cache}}, is {value!r}")


def _outdated(option: Option, known: Known) -> str:
    if option.until == NEVER:
        return f"{known.counted_in} ignores or refuses {option.name}: use {option.instead}"
    if _is_name(option.instead):
        return f"{option.name} is called {option.instead} since {known.counted_in} {option.until}"
    then = f": use {option.instead}" if option.instead else ""
    return f"{option.name} is not used since {known.counted_in} {option.until}{then}"


def _is_name(instead: str) -> bool:
    return bool(instead) and " " not in instead


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that is most like this one, letter case aside."""
    folded = {name.casefold(): name for name in names}
    matches = difflib.get_close_matches(word.casefold(), list(folded), n=1)
    return folded[matches[0]] if matches else None
