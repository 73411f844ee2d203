"""What a provider knows: its options, the variables that it reads, the libraries that it needs. Data only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

# what onnxruntime's parser takes for a truth value: onnxruntime/core/common/parse_string.h
BOOLEAN = ("0", "1", "false", "true", "False", "True")
NEVER = "0"  # as `until`: a name that no release uses, listed for what to write in its place


@dataclass(frozen=True)
class Option:
    """An option of a provider, or an environment variable that it reads.

    Options that carry an address in memory (a stream, an allocator) are in no table: a package could call any code.
    """

    name: str
    source: str  # who says so
    values: tuple[str, ...] = ()  # the only ones; empty: any text
    path: bool = False  # names a file or folder, or holds such names; see `place.strays`
    since: str = ""  # the first release that knows it, in `Known.counted_in`; empty: known to all
    until: str = ""  # the first release that does not
    instead: str = ""  # what to write from then on


@dataclass(frozen=True)
class Caching:
    """How a provider is given a folder for what it compiles."""

    source: str
    # directory: the provider keeps its programs in a folder. context: onnxruntime writes a model that holds them
    kind: Literal["directory", "context"] = "directory"
    options: Mapping[str, str] = field(default_factory=dict, hash=False)  # with `${cache}`, where a profile has none
    environment: tuple[str, ...] = ()  # variables that win over the options
    reads: tuple[str, ...] = ()  # how the names of variables begin that the provider, or what is below it, reads


@dataclass(frozen=True)
class Known:
    """All that a package or a profile may ask of a provider."""

    provider: str
    counted_in: str  # whose releases `since` and `until` count: "Ryzen AI", "ROCm", "onnxruntime"
    options: tuple[Option, ...] = ()
    environment: tuple[Option, ...] = ()
    plugin: str = ""  # the Python module that brings it; empty: built into onnxruntime
    preloads: tuple[str, ...] = ()  # shared libraries that may be loaded before it, in this order
    install: str = ""  # what brings it: a line to type, or a sentence
    preload_dlls: bool = False  # whether onnxruntime.preload_dlls() finds libraries for it
    caching: Caching | None = None  # none: it compiles nothing, or keeps nothing


def options(source: str, *names: str, values: tuple[str, ...] = (), path: bool = False) -> Iterator[Option]:
    """Options that differ in nothing but their name."""
    return (Option(name, source, values, path) for name in names)
