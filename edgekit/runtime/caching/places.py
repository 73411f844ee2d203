"""The environment variables that win over a provider's option for its cache folder: set while a session is made."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = threading.RLock()  # a process has one environment


@contextmanager
def named(variables: tuple[str, ...], folder: Path | None) -> Iterator[None]:
    """Point them to a folder, or nowhere, while the block runs; what the user has set is back after it."""
    if not variables:
        yield
        return
    with _LOCK:
        before = {name: os.environ.get(name) for name in variables}
        try:
            for name in variables:
                _set(name, None if folder is None else str(folder))
            yield
        finally:
            for name, value in before.items():
                _set(name, value)


@functools.cache
def root(variables: tuple[str, ...]) -> Path | None:
    """Where the user's own variable puts the cache: read once, since this process sets it itself later on."""
    given = next((os.environ[name] for name in variables if os.environ.get(name)), None)
    return Path(given) / "edgekit" if given else None


def _set(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value
