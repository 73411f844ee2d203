"""Releases, and ranges of them such as `>=1.5,<2`."""

from __future__ import annotations

import re
from dataclasses import dataclass

Release = tuple[float, ...]
NEWEST: Release = (float("inf"),)


def release(text: str) -> Release:
    """A release as numbers that compare.

    >>> release("1.10") > release("1.9"), release("2.0") == release("2")
    (True, True)
    """
    numbers = [float(n) for n in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


@dataclass(frozen=True)
class Span:
    """The releases from `first` to `last`, or up to and without `end`.

    Law: a span without a range is the newest release alone.
    """

    first: Release = NEWEST
    last: Release = NEWEST
    end: Release | None = None

    @classmethod
    def of(cls, versions: str) -> Span:
        """What a range such as `>=1.5,<2` or `==1.4` spans."""
        parts = re.findall(r"(>=|<|==)\s*([\d.]+)", versions)
        if not parts:
            return cls()
        first: Release = ()
        last, end = NEWEST, None
        for sign, text in parts:
            if sign in (">=", "=="):
                first = release(text)
            if sign == "==":
                last = release(text)
            if sign == "<":
                end = release(text)
        return cls(first, last, end)

    def begins_before(self, since: str) -> bool:
        """Whether one of the releases is older than `since`."""
        return bool(since) and self.first < release(since)

    def reaches(self, until: str) -> bool:
        """Whether one of the releases is `until` or newer."""
        if not until:
            return False
        limit = release(until)
        return limit < self.end if self.end is not None else limit <= self.last
