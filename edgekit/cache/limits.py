"""How much the cache may hold, and for how long a process waits for another: from the environment."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from edgekit.errors import UsageError

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
OFF = ("off", "0", "no", "false")


@dataclass(frozen=True)
class Limits:
    """What the cache may hold at rest. What is in use is never removed, so it may hold more for a while."""

    entries: int = 8  # per provider
    size: int = 10 << 30  # bytes, of all providers together

    @classmethod
    def of_environment(cls) -> Limits:
        """EDGEKIT_CACHE_MAX_ENTRIES and EDGEKIT_CACHE_MAX_SIZE over the defaults.

        Raises:
            UsageError: one of them is no number, or no size.
        """
        entries, size = os.environ.get("EDGEKIT_CACHE_MAX_ENTRIES"), os.environ.get("EDGEKIT_CACHE_MAX_SIZE")
        return cls(
            cls.entries if not entries else _count("EDGEKIT_CACHE_MAX_ENTRIES", entries),
            cls.size if not size else parse_size(size, "EDGEKIT_CACHE_MAX_SIZE"),
        )


def enabled() -> bool:
    """Whether the cache is wanted: not with EDGEKIT_CACHE=off."""
    return os.environ.get("EDGEKIT_CACHE", "").lower() not in OFF


def frozen() -> bool:
    """Whether nothing may be compiled here: EDGEKIT_FROZEN=1."""
    return os.environ.get("EDGEKIT_FROZEN", "").lower() not in ("", *OFF)


def longest_wait() -> float:
    """Seconds to wait for another process that compiles the same: EDGEKIT_CACHE_WAIT, else 600.

    Raises:
        UsageError: it is no number.
    """
    return float(_count("EDGEKIT_CACHE_WAIT", os.environ.get("EDGEKIT_CACHE_WAIT") or "600"))


def parse_size(text: str, name: str = "a size") -> int:
    """Bytes, of a text such as `500MB`, `10GiB` or `1.5g`; all units are powers of 1024.

    >>> parse_size("1.5KiB"), parse_size("2 GB") == 2 << 30
    (1536, True)

    Raises:
        UsageError: it is no such text.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:I?B)?\s*", text.upper())
    if found is None:
        raise UsageError(f"{name} is a size such as 500MB or 10GiB, not {text!r}")
    return int(float(found[1]) * UNITS[found[2]])


def _count(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,12}", text.strip()):
        raise UsageError(f"{name} is a whole number, not {text!r}")
    return int(text)
