"""The images that a model is calibrated on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgekit import manifest
from edgekit.errors import UsageError
from edgekit.packaging import golden as goldens
from edgekit.packaging.probe import Feed, feeds_for
from edgekit.runtime import image as images
from edgekit.runtime.model import Model
from edgekit.runtime.sources import Source, expand

COUNT = 128  # images, unless the user says
FEW = 32  # below, a range depends on which images they happen to be
USUAL = "100 to 500"
SYNTHETIC = 32
SEED = goldens.SEED + 1000  # golden data records other pictures than those that the ranges come from


@dataclass(frozen=True)
class Photo:
    """An image file that could be read when it was first looked at."""

    name: str
    path: Path
    sha256: str
    bytes: int

    def feed(self, model: Model) -> Feed:
        """The model's inputs for it, in the model's own buffers."""
        return model.prepare(images.read(self.path, name=self.name))[0]


@dataclass(frozen=True)
class Synthetic:
    """A seeded picture; seeded numbers where the model takes no image."""

    seed: int

    def feed(self, model: Model) -> Feed:
        """The model's inputs for it."""
        return feeds_for(model, goldens.synthetic_images(1, self.seed), self.seed)[0]


@dataclass(frozen=True)
class CalibrationData:
    """Images as inputs of a model, one in memory at a time.

    Law: each iteration gives the same feeds in the same order. A feed is good until the next one is asked for.
    """

    model: Model
    items: Sequence[Photo | Synthetic]
    notices: tuple[str, ...] = ()  # what was left out or is too few, a sentence each

    @classmethod
    def open(cls, path: str | Path | None, model: Model, *, count: int = COUNT) -> CalibrationData:
        """Find the images and look at each, so that what is wrong with them is known before minutes of work.

        Args:
            path: a folder, a pattern, an image, or a text file with one of these per line, relative to the file;
                None for synthetic pictures.
            model: prepares the images.
            count: take so many, evenly spread; all if there are fewer.

        Raises:
            UsageError: there is no image, none can be read, or the model takes none.
        """
        if count < 1:
            raise UsageError(f"{count} images are nothing to calibrate on", hint=f"--calibration-count {COUNT}")
        if path is None:
            return cls(model, [Synthetic(SEED + i) for i in range(min(count, SYNTHETIC))], (_synthetic_notice(count),))
        if model.interface.preprocess is None:
            raise UsageError(
                f"{model.path} takes no image: it cannot be calibrated on {path}",
                hint="leave --calibration out: seeded numbers stand in",
            )
        chosen = spread(_sources(path), count)
        photos, failures = [], []
        for source in chosen:
            try:
                photos.append(_photo(source))
            except UsageError as e:
                failures.append(str(e))
        if not photos:
            raise UsageError(f"{path} has no image that can be read: {failures[0]}")
        return cls(model, photos, tuple(_notices(len(photos), failures)))

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Feed]:
        return (item.feed(self.model) for item in self.items)

    @property
    def digests(self) -> frozenset[str]:
        """sha256 of each image file."""
        return frozenset(item.sha256 for item in self.items if isinstance(item, Photo))

    def overlap(self, paths: Iterable[Path]) -> int:
        """How many of these files are calibration images too, whatever their names."""
        sizes = {item.bytes for item in self.items if isinstance(item, Photo)}
        known = self.digests
        # only a file of the same size is worth reading
        return sum(path.stat().st_size in sizes and manifest.sha256(path) in known for path in paths)


def spread(sources: Sequence[Source], count: int) -> Sequence[Source]:
    """`count` of the images, evenly spread: neighbours in a sorted folder are often frames of one scene.

    >>> [source.name for source in spread([Source(c) for c in "abcdefghij"], 4)]
    ['a', 'c', 'f', 'h']
    """
    if count >= len(sources):
        return sources
    return [sources[i * len(sources) // count] for i in range(count)]


def _sources(path: str | Path) -> list[Source]:
    if str(path).lower().endswith(".txt") and Path(path).is_file():
        return _listed(Path(path))
    return expand([path])


def _listed(path: Path) -> list[Source]:
    """The images that a text file names."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as e:
        raise UsageError(f"{path} is not text") from e
    sources = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            sources += expand([path.parent / line.strip()])
        except UsageError as e:
            raise UsageError(f"{path}, line {number}: {e}", hint=e.hint) from e
    if not sources:
        raise UsageError(f"{path} names no image")
    return sources


def _photo(source: Source) -> Photo:
    if source.path is None:
        raise UsageError("standard input cannot be calibrated on: images are read more than once")
    source.read()
    return Photo(source.name, source.path, manifest.sha256(source.path), source.path.stat().st_size)


def _notices(count: int, failures: Sequence[str]) -> Iterator[str]:
    if failures:
        yield f"{len(failures)} of {count + len(failures)} images could not be read, the first one: {failures[0]}"
    if count < FEW:
        yield f"calibrated on {count} image{'s' * (count > 1)} only: {USUAL} are usual"


def _synthetic_notice(count: int) -> str:
    return (
        f"calibrated on {min(count, SYNTHETIC)} synthetic pictures: accuracy will suffer; "
        f"give {USUAL} photos like those of the application with --calibration"
    )
