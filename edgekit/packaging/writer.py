"""A folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgekit.errors import UsageError
from edgekit.runtime import image


def check_destination(path: Path, *, force: bool) -> None:
    """Refuse a destination before any work is done for it.

    Raises:
        UsageError: it exists and `force` was not given, or its parent cannot be written to.
    """
    if path.exists() and not force:
        raise UsageError(f"{path} exists", hint="--force replaces it, -o names another folder")
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file, not a folder")
    image.writable(path.absolute().parent)


@contextmanager
def staged(destination: Path) -> Iterator[Path]:
    """A temporary folder beside `destination` that takes its place when the block ends well.

    What is there already is set aside by a rename and removed only once the new folder stands: a failure in between
    leaves the old one under its name or, at worst, beside it.
    """
    destination = destination.absolute()
    made = _make_parents(destination.parent)
    staging = Path(tempfile.mkdtemp(dir=destination.parent, prefix=f".{destination.name}-"))
    try:
        yield staging
        staging.chmod(0o755)  # mkdtemp gives 0700
        _flush(staging)
        _swap(staging, destination)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        for folder in made:
            folder.rmdir()
        raise


def _make_parents(folder: Path) -> list[Path]:
    """Create a folder and return those that were not there, innermost first."""
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def _flush(folder: Path) -> None:
    """Bring every file and folder to the disk: a rename must not outrun the content."""
    for path in [*folder.rglob("*"), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _swap(staging: Path, destination: Path) -> None:
    if not destination.exists():
        staging.rename(destination)
        return
    aside = Path(tempfile.mkdtemp(dir=destination.parent, prefix=f".{destination.name}-old-"))
    destination.rename(aside / "was")
    try:
        staging.rename(destination)
    except BaseException:
        (aside / "was").rename(destination)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)
