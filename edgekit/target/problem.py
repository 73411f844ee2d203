"""What is wrong in a profile, and where."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

Key = tuple[str | int, ...]  # the way to a value: names of keys, positions in lists


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a profile."""

    file: Path
    line: int  # from 1
    key: str  # such as limits.opset_max; empty for the file as a whole
    message: str
    suggestion: str | None = None  # the nearest that would be valid

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " + (f"{self.key}: " if self.key else "")
        return where + self.message + (f", did you mean {self.suggestion}?" if self.suggestion else "")


def dotted(key: Key) -> str:
    """A key as a person writes it.

    >>> dotted(("images", "6.12", "providers", 1))
    'images.6.12.providers[1]'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).lstrip(".")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like this one."""
    matches = difflib.get_close_matches(word, list(known), n=1)
    return matches[0] if matches else None
