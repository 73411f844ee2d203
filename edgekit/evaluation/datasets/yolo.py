"""YOLO labels: a text file per image, a row per object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from edgekit import metadata
from edgekit.errors import UsageError
from edgekit.evaluation.datasets import classes, files
from edgekit.evaluation.datasets.dataset import Dataset, NoLabels, Objects, Sample

DESCRIPTIONS = ("data.yaml", "dataset.yaml")
SPLITS = ("val", "test", "train")  # the one to measure on, best first
MOST_CLASSES = 2**31
TOLERANCE = 0.01  # how far rounding may carry a box beyond the image


def open_folder(path: Path, names: Mapping[int, str]) -> Dataset:
    """A folder with `images/` and `labels/`, or with labels beside the images; subfolders count too.

    A data.yaml inside decides which images are meant.
    """
    for name in DESCRIPTIONS:
        if (path / name).is_file():
            return open_description(path / name, names)
    folder = path / "images" if (path / "images").is_dir() else path
    images = files.images(folder)
    if not images:
        raise UsageError(f"{folder} is a folder without images")
    notices = _without_image(path / "labels", images)
    return _read(path, images, names, ids=None, notices=notices)


def open_list(path: Path, names: Mapping[int, str]) -> Dataset:
    """A text file of image paths, one a line, relative to the file's folder."""
    return _read(path, _listed(path), names, ids=None)


def open_description(path: Path, names: Mapping[int, str]) -> Dataset:
    """A data.yaml with `path`, `val` (else `test`, else `train`) and `names`."""
    data = files.yaml_mapping(path)
    split = next((s for s in SPLITS if data.get(s)), None)
    if split is None:
        raise UsageError(f"{path} names no images: it has none of the keys {', '.join(SPLITS)}")
    notices = [f"{path}: split {split}"]
    theirs = metadata.class_names(data.get("names"))
    ids = None
    if theirs:
        matching = classes.match(theirs, names, where=str(path))
        ids = matching.ids
        notices += [matching.notice] if matching.notice else []
    entries = data[split] if isinstance(data[split], list) else [data[split]]
    images = [image for entry in entries for image in _entry(path, _root(path, data), entry)]
    return _read(path, images, names, ids=ids, known=set(theirs), notices=notices)


def parse(text: str, *, where: str) -> tuple[list[int], list[tuple[float, float, float, float]]]:
    """Class ids and boxes (x1 y1 x2 y2, relative) of a label file; a polygon gives its box.

    Raises:
        UsageError: a row is not one; the message begins with `where` and the line.

    >>> parse("7 0.5 0.5 0.5 1", where="a.txt")
    ([7], [(0.25, 0.0, 0.75, 1.0)])
    """
    ids, boxes = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                class_id, box = _row(line.split())
            except ValueError as e:
                raise UsageError(f"{where}, line {number}: {e}") from None
            ids.append(class_id)
            boxes.append(box)
    return ids, boxes


def label_file(image: Path) -> Path | None:
    """The labels of an image: under `labels` where the image is under `images`, else beside it."""
    candidates = [image.with_suffix(".txt")]
    parts = image.parts
    if "images" in parts[:-1]:
        at = len(parts) - 1 - parts[::-1].index("images", 1)
        candidates.insert(0, Path(*parts[:at], "labels", *parts[at + 1 :]).with_suffix(".txt"))
    return next((c for c in candidates if c.is_file()), None)


def _row(words: list[str]) -> tuple[int, tuple[float, float, float, float]]:
    """One row; ValueError says what is wrong with it."""
    if len(words) < 5 or len(words) % 2 == 0:
        raise ValueError(f"{len(words)} values: a row is `class cx cy w h`, or a class and the points of a polygon")
    try:
        values = [float(word) for word in words]
    except ValueError:
        raise ValueError(f"{' '.join(words)!r} are not all numbers") from None
    class_id, numbers = values[0], values[1:]
    if not 0 <= class_id <= MOST_CLASSES or class_id != int(class_id):
        raise ValueError(f"class {words[0]} is not a whole number from 0 on")
    if not all(-TOLERANCE <= v <= 1 + TOLERANCE for v in numbers):  # false for NaN
        raise ValueError("a coordinate is outside 0..1: they are parts of the image's width and height")
    if len(numbers) == 4:
        x, y, w, h = numbers
        if w < 0 or h < 0:
            raise ValueError("width or height is negative")
        return int(class_id), (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
    xs, ys = numbers[::2], numbers[1::2]
    return int(class_id), (min(xs), min(ys), max(xs), max(ys))


def _read(
    path: Path,
    images: list[Path],
    names: Mapping[int, str],
    *,
    ids: Mapping[int, int] | None,
    known: set[int] | None = None,
    notices: Iterable[str] = (),
) -> Dataset:
    """Read each image's labels. `ids` gives the model's class for each of theirs; none: they are the model's."""
    labels = {image: label_file(image) for image in images}
    missing = sum(file is None for file in labels.values())
    if missing == len(labels):
        raise _unlabelled(path, images)
    samples = tuple(
        Sample(image, _objects(file, names, ids, known or set()) if file else _as_objects([], []))
        for image, file in labels.items()
    )
    empty = [f"images without a label file, which count as empty: {missing} of {len(labels)}"] if missing else []
    return Dataset(path, "detect", samples, (*notices, *empty))


def _objects(file: Path, names: Mapping[int, str], ids: Mapping[int, int] | None, known: set[int]) -> Objects:
    class_ids, boxes = parse(files.text(file), where=str(file))
    allowed = known if ids is not None else set(names)
    for class_id in class_ids:
        if allowed and class_id not in allowed:
            whose = "its data.yaml" if ids is not None else "the model"
            raise UsageError(f"{file}: class {class_id}, but {whose} has {len(allowed)} classes, up to {max(allowed)}")
    if ids is None:
        return _as_objects(class_ids, boxes)
    kept = [(ids[c], box) for c, box in zip(class_ids, boxes, strict=True) if c in ids]
    return _as_objects([c for c, _ in kept], [box for _, box in kept])


def _as_objects(class_ids: list[int], boxes: list[tuple[float, float, float, float]]) -> Objects:
    return Objects(
        np.array(boxes, np.float64).reshape(-1, 4),
        np.array(class_ids, np.int64),
        np.zeros(len(class_ids), np.bool_),
        relative=True,
    )


def _listed(path: Path) -> list[Path]:
    images = []
    for number, line in enumerate(files.text(path).splitlines(), 1):
        if line.strip():
            images.append(path.parent / line.strip())
            if not images[-1].is_file():
                raise UsageError(f"{path}, line {number}: {images[-1]} does not exist")
    if not images:
        raise UsageError(f"{path} lists no images")
    return images


def _root(path: Path, data: Mapping[str, Any]) -> Path:
    """What the paths in a data.yaml start from: its `path`, from its own folder or from the current one."""
    said = Path(str(data.get("path") or "."))
    beside = path.parent / said
    return said if not beside.exists() and said.exists() else beside


def _entry(path: Path, root: Path, entry: object) -> list[Path]:
    """The images that one value of a split stands for."""
    if not isinstance(entry, str):
        raise UsageError(f"{path}: {entry!r} is not a folder or a list of images")
    place = root / entry
    if not place.exists() and entry.startswith("../"):
        place = root / entry.removeprefix("../")  # Roboflow counts from a folder that is not there
    if place.is_dir():
        images = files.images(place)
        if not images:
            raise UsageError(f"{path}: {place} is a folder without images")
        return images
    if not place.is_file():
        raise UsageError(f"{path}: {place} does not exist", hint=f"correct `path` in {path}")
    return _listed(place)


def _without_image(labels: Path, images: list[Path]) -> list[str]:
    """A sentence on the label files that no image has."""
    if not labels.is_dir():
        return []
    stems = {image.stem for image in images}
    count = sum(file.stem not in stems for file in labels.rglob("*.txt"))
    return [f"label files without an image, which are ignored: {count}"] if count else []


def _unlabelled(path: Path, images: list[Path]) -> NoLabels:
    missing = images[0].with_suffix(".txt").name
    annotations = sorted(path.glob("*.json")) if path.is_dir() else []
    return NoLabels(
        f"{path}: none of its {len(images)} images has labels: {missing} is neither beside it nor under `labels`",
        hint=f"for COCO labels name their file: {annotations[0]}" if annotations else None,
    )
