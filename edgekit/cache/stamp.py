"""Which content a file had when it was last hashed, so that it is hashed once and not at each start."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from edgekit import manifest

FOLDER = "stamps"
COMPILED = b"\x22\x09EPContext"  # NodeProto of onnx.proto: field 4 is the operator
# StringStringEntryProto of onnx.proto: field 1 is the key, field 2 the value, behind its length of one byte or two
LOCATION = re.compile(rb"\n\x08location\x12([\x01-\x7f]|[\x80-\xff][\x01-\x7f])", re.DOTALL)


def root() -> Path:
    """The cache's folder: EDGEKIT_CACHE_DIR, else the user's cache folder."""
    if given := os.environ.get("EDGEKIT_CACHE_DIR"):
        return Path(given)
    try:
        import platformdirs
    except ImportError:  # a board with numpy and onnxruntime alone
        return Path.home() / ".cache" / "edgekit"
    return Path(platformdirs.user_cache_dir("edgekit"))


@dataclass(frozen=True)
class Stamp:
    """What a file held when it was last read."""

    sha256: str
    external: tuple[str, ...] = ()  # the names of files beside it that hold its weights, if it is a model
    compiled: bool = False  # whether it is a model with a provider's programs in it (EPContext)


def sha256(path: Path) -> str:
    """The digest of a file; see `of`."""
    return of(path).sha256


def of(path: Path) -> Stamp:
    """The digest of a file, from its stamp where (path, size, mtime, ctime, inode) are those that were hashed.

    A stamp that cannot be read or written costs the time to hash, nothing else.
    """
    real = path.resolve()
    file = root() / FOLDER / f"{hashlib.sha256(str(real).encode()).hexdigest()[:32]}.json"
    identity = _identity(real)
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(file.read_text(encoding="utf-8"))
        if known["identity"] == identity:
            external = tuple(str(name) for name in known["external"])
            return Stamp(str(known["sha256"]), external, known["compiled"] is True)
    stamp = Stamp(manifest.sha256(real), *_inside(real))
    if _identity(real) == identity:  # it did not change while it was read
        with suppress(OSError):
            _write(file, json.dumps({"identity": identity, **asdict(stamp)}))
    return stamp


def forget_gone(folder: Path) -> int:
    """Remove the stamps of files that are not there any more. Bytes that were freed."""
    freed = 0
    for file in (folder / FOLDER).glob("*.json"):
        with suppress(OSError, ValueError, TypeError, KeyError, IndexError):
            if not Path(json.loads(file.read_text(encoding="utf-8"))["identity"][0]).exists():
                size = file.stat().st_size
                file.unlink()
                freed += size
    return freed


def _inside(path: Path) -> tuple[tuple[str, ...], bool]:
    """What an ONNX file says of itself, without its schema: the names behind `location` in tensors, and EPContext.

    A few names too many do no harm.
    """
    if path.suffix != ".onnx" or not path.stat().st_size:
        return (), False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        found = {content[m.end() : m.end() + _length(m[1])] for m in LOCATION.finditer(content)}
        compiled = content.find(COMPILED) >= 0
    names = (name.decode(errors="replace") for name in found)
    return tuple(sorted(name for name in names if name.isprintable())), compiled


def _length(varint: bytes) -> int:
    return varint[0] if len(varint) == 1 else (varint[0] & 0x7F) | varint[1] << 7


def _identity(path: Path) -> list[str | int]:
    stat = path.stat()
    return [str(path), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _write(path: Path, text: str) -> None:
    """Whole or not at all, whoever else writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".stamp-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
