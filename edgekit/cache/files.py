"""Files of the cache: written whole or not at all, never truncated, and checked."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from edgekit import manifest
from edgekit.cache import steps
from edgekit.manifest import FileRecord

Stamp = tuple[int, int, int]  # size, mtime in ns, inode


def names(folder: Path) -> list[str]:
    """What is in a folder; nothing if it cannot be read."""
    try:
        return [path.name for path in folder.iterdir()]
    except OSError:
        return []


def listed(folder: Path) -> Iterator[str]:
    """The regular files below a folder, as paths with `/`. Links are not followed, and not listed."""
    for parent, _, inside in os.walk(folder):
        for name in inside:
            path = Path(parent, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path.relative_to(folder).as_posix()


def stamps(folder: Path) -> dict[str, Stamp]:
    """What tells that a file was written to, by name."""
    return {name: _stamp(folder / name) for name in listed(folder)}


def records(folder: Path, chosen: Iterable[str]) -> dict[str, FileRecord]:
    """Size and digest of files, by name."""
    return {name: manifest.record(folder / name) for name in sorted(chosen)}


def damage(folder: Path, expected: Mapping[str, FileRecord]) -> str | None:
    """What is wrong with the first file that is not as it was recorded; None if all are."""
    for name, record in expected.items():
        try:
            found = (folder / name).lstat()
            if not stat.S_ISREG(found.st_mode):
                return f"{name} is no file"
            if found.st_size != record.size:
                return f"{name} has {found.st_size} bytes, {record.size} were written"
            if manifest.sha256(folder / name) != record.sha256:
                return f"the content of {name} has changed"
        except FileNotFoundError:
            return f"{name} is missing"
        except OSError as e:
            return f"{name} cannot be read: {e.strerror}"
    return None


def size(path: Path) -> int:
    """Bytes of a file, or of the files below a folder, as far as they can be seen."""
    total = 0
    paths = [Path(parent, name) for parent, _, inside in os.walk(path) for name in inside]
    for file in paths or [path]:
        with suppress(OSError):
            total += file.lstat().st_size if not file.is_dir() else 0
    return total


def write(path: Path, text: str, *, durable: bool = True) -> None:
    """Write a small file so that it is there whole, or not at all; if it is to be durable, after a power cut too."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        steps.reach("record: written")
        Path(name).replace(path)
        if durable:
            sync(path.parent)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Have a file's content, or a folder's names, on the disk; a system that cannot does without."""
    with suppress(OSError, PermissionError):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def copy(source: Path, target: Path, chosen: Iterable[str]) -> None:
    """Give a folder the files of another one. No links: providers were seen to write a file anew in its place."""
    for name in chosen:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target / name)


def remove(path: Path) -> None:
    """Unlink what is at a path, whatever it is. A file that a process has mapped stays whole for that one."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def _stamp(path: Path) -> Stamp:
    found = path.lstat()
    return found.st_size, found.st_mtime_ns, found.st_ino
