"""Hit or miss, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from edgekit.cache.entry import Entry
from edgekit.cache.key import CacheKey

LONGEST = 60  # characters of a part of the key in a sentence


@dataclass(frozen=True)
class Answer:
    """What a start with a key would find."""

    key: CacheKey
    entry: Entry | None = None  # what would be used
    damage: str | None = None  # what is wrong with it
    nearest: Entry | None = None  # where nothing fits: the one of the same provider that differs least
    differences: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # from the nearest, the key's first

    @property
    def hit(self) -> bool:
        """Whether it would be used."""
        return self.entry is not None and self.damage is None

    @property
    def reason(self) -> str:
        """Why nothing would be used; empty for a hit."""
        if self.hit:
            return ""
        if self.damage is not None:
            return f"what was kept is damaged: {self.damage}"
        if self.nearest is None:
            return "nothing is kept for this provider yet"
        if "model" in self.differences:
            return "nothing is kept for this model yet"
        parts = [f"{part} was {_short(was)}, is {_short(now)}" for part, (now, was) in self.differences.items()]
        return f"what was kept does not fit: {'; '.join(parts)}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
