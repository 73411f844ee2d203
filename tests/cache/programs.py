"""A provider that compiles nothing: it writes what its key says, so that a wrong hit shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgekit.cache import CacheKey, CompileCache, Loan


def program(key: CacheKey, size: int = 64) -> bytes:
    """What a session with this key must find."""
    return f"{key.digest} ".encode() * (size // 33 + 1)


def files(key: CacheKey, size: int = 64) -> Mapping[str, bytes]:
    return {"main.bin": program(key, size), "parts/1.bin": b"part of " + program(key, size)}


def write(folder: Path, content: Mapping[str, bytes]) -> None:
    for name, data in content.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def read(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def kept(cache: CompileCache, key: CacheKey, size: int = 64) -> Loan:
    """A session's start: what is there is taken, else it is compiled and kept. Not closed."""
    loan = cache.borrow(key)
    if not loan.hit:
        write(loan.folder, files(key, size))
        assert loan.commit(1.5)
    assert files(key, size).items() <= read(loan.folder).items()
    return loan


def keep(cache: CompileCache, key: CacheKey, size: int = 64) -> bool:
    """A session from start to end. Whether it was a hit."""
    loan = kept(cache, key, size)
    loan.close()
    return loan.hit
