"""The compile cache around a session: its key, its folder, what became of it."""

from edgekit.runtime.caching.key import key_of
from edgekit.runtime.caching.session import SHIPPED, Opened, ship, store, wanted, with_cache
from edgekit.runtime.caching.use import Use

__all__ = ["SHIPPED", "Opened", "Use", "key_of", "ship", "store", "wanted", "with_cache"]
