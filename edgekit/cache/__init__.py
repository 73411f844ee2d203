"""What the board keeps between starts: the digests of files, and compiled programs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgekit.cache.entry import Entry
    from edgekit.cache.key import CacheKey
    from edgekit.cache.limits import Limits
    from edgekit.cache.loan import Loan
    from edgekit.cache.plan import Plan
    from edgekit.cache.store import CompileCache

__all__ = ["CacheKey", "CompileCache", "Entry", "Limits", "Loan", "Plan"]
_HOMES = {
    "CacheKey": "key",
    "CompileCache": "store",
    "Entry": "entry",
    "Limits": "limits",
    "Loan": "loan",
    "Plan": "plan",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
