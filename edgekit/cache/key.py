"""The identity of a compiled program: everything that, if it changed, would make the program wrong."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

UNKNOWN = "unknown"  # what could not be learnt: then `system` says more, so that the key is stricter, not looser
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CacheKey:
    """What a compiled program depends on.

    Law: two keys are equal exactly when their digests are; no field is left out of the digest.

    >>> from dataclasses import replace
    >>> a = CacheKey("9f2c", "OpenVINOExecutionProvider", "1.8.1", "1.32.0", "CPU", "-", "Linux x86_64")
    >>> a.digest == replace(a, provider_version="1.8.2").digest
    False
    """

    model: str  # sha256 over the model file, with its input shapes, and its external data
    provider: str
    provider_version: str
    onnxruntime: str  # release and build
    device: str  # the silicon
    driver: str
    system: str  # operating system and architecture; its build too where another part is unknown
    provider_options: Pairs = ()  # `${cache}` unfilled; a file's content in place of its name
    session_options: Pairs = ()
    environment: Pairs = ()  # the variables that the provider reads, as far as they are set

    @property
    def digest(self) -> str:
        """32 hexadecimal digits."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()[:32]

    def differences(self, other: CacheKey) -> Mapping[str, tuple[str, str]]:
        """Part by part, what keeps the two apart, mine before theirs; empty when equal.

        An option or a variable is a part of its own, such as `provider_options.device_type`.
        """
        mine, theirs = self.flat(), other.flat()
        names = sorted({*mine, *theirs}, key=lambda name: (name not in mine, name))
        pairs = {name: (mine.get(name, "-"), theirs.get(name, "-")) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON. Pairs stay lists: a mapping could not tell apart a name that is given twice."""
        return {name: _plain(getattr(self, name)) for name in PARTS}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CacheKey:
        """Read what `to_dict` gave.

        Raises:
            ValueError, TypeError, AttributeError: it did not.
        """
        if data.keys() != PARTS.keys():
            raise ValueError("the key has other parts than this edgekit knows")
        read: dict[str, Any] = {name: v if isinstance(v, str) else _pairs(v) for name, v in data.items()}
        return cls(**read)

    def flat(self) -> dict[str, str]:
        """Part by part, as `differences` names them."""
        flat: dict[str, str] = {}
        for part in PARTS:
            value = getattr(self, part)
            flat |= {part: value} if isinstance(value, str) else {f"{part}.{name}": text for name, text in value}
        return flat


PARTS = dict.fromkeys(f.name for f in fields(CacheKey))


def _pairs(data: Any) -> Pairs:
    return tuple((str(name), str(text)) for name, text in data)


def _plain(value: str | Pairs) -> str | list[list[str]]:
    return value if isinstance(value, str) else [list(pair) for pair in value]
