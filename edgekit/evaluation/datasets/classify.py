"""Images of one class each: a subfolder per class, or a file that gives each image's class."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from edgekit.errors import UsageError
from edgekit.evaluation.datasets import classes, files
from edgekit.evaluation.datasets.dataset import Dataset, NoLabels, Sample

LABEL_FILES = ("labels.csv", "labels.txt")
SPLITS = ("val", "valid", "validation", "test", "train")  # the one to measure on, best first


def open_folder(path: Path, names: Mapping[int, str], *, labels: Path | None = None) -> Dataset:
    """A folder of images with `labels`, with a labels.csv or labels.txt in or beside it, or with subfolders.

    Raises:
        UsageError: a row is wrong (the message names the line), or no image has a class.
    """
    path = _split(path)
    images = files.images(path)
    if not images:
        raise UsageError(f"{path} is a folder without images")
    labels = labels or _label_file(path)
    return _from_file(path, images, labels, names) if labels else _from_subfolders(path, images, names)


def parse(text: str, *, where: str, comma: bool) -> Iterator[tuple[int, str, str]]:
    """Line number, file name and class of each row: the class is what follows the last blank, or the comma.

    Raises:
        UsageError: a row has not both.

    >>> list(parse("my photo.jpg 65", where="labels.txt", comma=False))
    [(1, 'my photo.jpg', '65')]
    """
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = next(csv.reader([line])) if comma else line.rsplit(maxsplit=1)
        except csv.Error as e:
            raise UsageError(f"{where}, line {number}: {e}") from e
        cells = [cell.strip() for cell in row]
        if len(cells) != 2 or not all(cells):
            raise UsageError(f"{where}, line {number}: must be a file name and a class")
        yield number, cells[0], cells[1]


def _from_file(path: Path, images: list[Path], labels: Path, names: Mapping[int, str]) -> Dataset:
    by_name = {image.relative_to(path).as_posix(): image for image in images}
    truth: dict[Path, int] = {}
    strays = 0
    for number, name, said in parse(files.text(labels), where=str(labels), comma=labels.suffix.lower() == ".csv"):
        image = by_name.get(name)
        class_id = _class_id(said, names)
        if number == 1 and image is None and class_id is None:
            continue  # a line of headings
        if class_id is None or (names and class_id not in names):
            raise UsageError(f"{labels}, line {number}: {said!r} is no class of the model")
        if image is None:
            strays += 1
        elif truth.setdefault(image, class_id) != class_id:
            raise UsageError(f"{labels}, line {number}: {name} has another class than before")
    if not truth:
        raise UsageError(f"{labels} has no class for any of the {len(images)} images in {path}")
    notices = []
    if strays:
        notices.append(f"rows of {labels} without an image, which are ignored: {strays}")
    if len(truth) < len(images):
        notices.append(f"images in {path} without a class in {labels}, which are left out: {len(images) - len(truth)}")
    samples = tuple(Sample(image, truth[image]) for image in images if image in truth)
    return Dataset(path, "classify", samples, tuple(notices))


def _from_subfolders(path: Path, images: list[Path], names: Mapping[int, str]) -> Dataset:
    inside = [image for image in images if image.parent != path]
    if not inside:
        raise NoLabels(
            f"{path}: its {len(images)} images have no classes: there is neither a subfolder per class nor a "
            f"{LABEL_FILES[1]} in or beside it",
            hint="--labels FILE with a file name and a class a line",
        )
    notices = []
    if len(inside) < len(images):
        notices.append(
            f"images in {path} outside the classes' folders, which are left out: {len(images) - len(inside)}"
        )
    folders = sorted({image.relative_to(path).parts[0] for image in inside})
    # ids as folder names: sorted as text, 10 would come before 2
    numbers = all(folder.isascii() and folder.isdigit() for folder in folders)
    if numbers and (not names or all(int(folder) in names for folder in folders)):
        ids = {folder: int(folder) for folder in folders}
    else:
        matching = classes.match(dict(enumerate(folders)), names, where=str(path))
        ids = {folders[i]: class_id for i, class_id in matching.ids.items()}
        notices += [matching.notice] if matching.notice else []
    of = {image: image.relative_to(path).parts[0] for image in inside}
    samples = tuple(Sample(image, ids[of[image]]) for image in inside if of[image] in ids)
    return Dataset(path, "classify", samples, tuple(notices))


def _split(path: Path) -> Path:
    """The split to measure on, where the subfolders are splits and not classes."""
    below = {p.name for p in path.iterdir() if p.is_dir() and not p.name.startswith(".")}
    if below and below <= set(SPLITS):
        return path / next(s for s in SPLITS if s in below)
    return path


def _label_file(path: Path) -> Path | None:
    places = (folder / name for folder in (path, path.resolve().parent) for name in LABEL_FILES)
    return next((place for place in places if place.is_file()), None)


def _class_id(said: str, names: Mapping[int, str]) -> int | None:
    if said.isascii() and said.isdigit() and len(said) < 10:
        return int(said)
    return classes.named(said, names)
