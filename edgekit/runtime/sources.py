"""Which images a command line or a call means: files, folders, patterns, and `-` for standard input."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import UsageError
from edgekit.runtime import image

STDIN = "-"
SUFFIXES = frozenset(
    {".avif", ".bmp", ".gif", ".jp2", ".jpeg", ".jpg", ".npy", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp"}
)


@dataclass(frozen=True)
class Source:
    """One image that is read when it is its turn, so that memory holds one at a time.

    name: what the user sees: the path as given, or `-`.
    path: None for standard input.
    """

    name: str
    path: Path | None = None

    def read(self) -> NDArray[np.uint8]:
        """The image as (H, W, 3) uint8, BGR.

        Raises:
            UsageError: it cannot be read.
        """
        if self.path is not None:
            return image.read(self.path, name=self.name)
        if sys.stdin.isatty():
            raise UsageError("no image on standard input", hint="edgekit run PACKAGE - < photo.jpg")
        return image.read(sys.stdin.buffer.read(), name="standard input")


def expand(items: Iterable[str | Path], *, recursive: bool = False) -> list[Source]:
    """The images that `items` stand for, in the order of the items, sorted within one.

    All names are known before the first image is read: a mistyped pattern fails at once, not after an hour.

    Args:
        items: image files, folders (the images inside), patterns (`photos/*.jpg`; `**` goes into subfolders),
            or `-` for an image on standard input. A file that exists is itself, also with `[` in its name.
        recursive: also look into the subfolders of a folder.

    Raises:
        UsageError: an item stands for no image; the message names it.
    """
    sources = [source for item in items for source in _expand(str(item), recursive)]
    if sum(source.path is None for source in sources) > 1:
        raise UsageError("- stands for standard input, which holds one image: give it once")
    return sources


def _expand(item: str, recursive: bool) -> list[Source]:
    if item == STDIN:
        return [Source(STDIN)]
    path = Path(item)
    if path.is_dir():
        found = _images(path.rglob("*") if recursive else path.iterdir())
        if not found:
            raise UsageError(f"{item} is a folder without images", hint=f"for its subfolders: '{path / '**' / '*'}'")
        return found
    if path.exists() or not glob.has_magic(item):
        if not path.exists():
            raise UsageError(f"{item} does not exist")
        return [Source(item, path)]
    matches = [Path(match) for match in glob.glob(item, recursive=True)]  # noqa: PTH207 (no absolute patterns there)
    found = _images(matches)
    if not found:
        others = f" ({len(matches)} other files)" if matches else ""
        raise UsageError(f"{item} matches no image{others}")
    return found


def _images(paths: Iterable[Path]) -> list[Source]:
    chosen = (p for p in paths if p.suffix.lower() in SUFFIXES and not p.name.startswith(".") and p.is_file())
    return [Source(str(path), path) for path in sorted(chosen)]
