"""Where the values of a package may point: into itself, into the cache, and nowhere else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator


def strays(value: str) -> bool:
    """Whether a path, or any path in a JSON text, could lead out of the package and the cache.

    One that begins with a placeholder and does not climb stays inside; so does a bare name.

    >>> [strays(v) for v in ("${cache}/a", "report.json", "/etc", "${package}/../..", '{"CPU": {"CACHE_DIR": "/tmp"}}')]
    [False, False, True, True, True]
    """
    return any(_strays(text) for text in _texts(value))


def _strays(text: str) -> bool:
    parts = re.split(r"[/\\]", text)
    if ".." in parts or text == "~":
        return True
    return not text.startswith("${") and (len(parts) > 1 or re.match(r"[A-Za-z]:", text) is not None)


def _texts(value: str) -> Iterator[str]:
    """The value itself, or the texts in it if it is JSON."""
    if not value.lstrip().startswith(("{", "[")):
        yield value
        return
    try:
        # as pairs: of a key that is given twice, the provider's parser may take the other one
        yield from _leaves(json.loads(value, object_pairs_hook=list))
    except (ValueError, RecursionError):
        yield value


def _leaves(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, (list, tuple)):
        for item in data:
            yield from _leaves(item)
