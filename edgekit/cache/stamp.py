"""Which content a file had when it was last hashed, so that it is hashed once and not at each start."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from edgekit import manifest


def root() -> Path:
    """The cache's folder: EDGEKIT_CACHE_DIR, else the user's cache folder."""
    if given := os.environ.get("EDGEKIT_CACHE_DIR"):
        return Path(given)
    try:
        import platformdirs
    except ImportError:  # a board with numpy and onnxruntime alone
        return Path.home() / ".cache" / "edgekit"
    return Path(platformdirs.user_cache_dir("edgekit"))


def sha256(path: Path) -> str:
    """The digest of a file, from its stamp where (path, size, mtime, ctime, inode) are those that were hashed.

    A stamp that cannot be read or written costs the time to hash, nothing else.
    """
    real = path.resolve()
    stamp = root() / "stamps" / f"{hashlib.sha256(str(real).encode()).hexdigest()[:32]}.json"
    identity = _identity(real)
    with suppress(OSError, ValueError, TypeError, KeyError):
        known = json.loads(stamp.read_text(encoding="utf-8"))
        if known["identity"] == identity:
            return str(known["sha256"])
    digest = manifest.sha256(real)
    if _identity(real) == identity:  # it did not change while it was read
        with suppress(OSError):
            _write(stamp, json.dumps({"identity": identity, "sha256": digest}))
    return digest


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
