"""COCO annotations: one JSON file for all images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from edgekit.errors import UsageError
from edgekit.evaluation.datasets import classes, files
from edgekit.evaluation.datasets.dataset import Dataset, Objects, Sample

LARGEST = 2**31  # number of pixels along a side
Annotations = dict[int, list[dict[str, Any]]]  # by image id


def open_annotations(path: Path, names: Mapping[int, str], *, folder: Path | None = None) -> Dataset:
    """The images of a COCO file with their boxes; an image without annotations counts as empty.

    Args:
        folder: where the images are; looked for around the file if not given.

    Raises:
        UsageError: an entry is wrong (the message names it), or an image is not there.
    """
    data = files.json_mapping(path)
    images = _images(path, data)
    categories = _categories(path, data)
    annotations, strays = _annotations(path, data, set(images), set(categories))
    matching = classes.match(categories, names, where=str(path))
    notices = [matching.notice] if matching.notice else []
    if strays:
        notices.append(f"annotations in {path} for images that it does not list, which are ignored: {strays}")
    found = _found(path, images, folder)
    samples = tuple(
        Sample(found[i], _objects(image, annotations[i], matching.ids))
        for i, image in sorted(images.items(), key=lambda item: str(item[1]["file_name"]))
    )
    return Dataset(path, "detect", samples, tuple(notices))


def _entries(path: Path, data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    entries = data.get(key)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{path} is no COCO file: `{key}` must be a list of objects")
    return entries


def _images(path: Path, data: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    images: dict[int, dict[str, Any]] = {}
    for n, entry in enumerate(_entries(path, data, "images")):
        if not _is_whole(entry.get("id")) or not isinstance(entry.get("file_name"), str):
            raise UsageError(f"{path}: images[{n}] needs a whole number `id` and a text `file_name`")
        if entry["id"] in images:
            raise UsageError(f"{path}: images[{n}] has the id {entry['id']} of an image before it")
        images[entry["id"]] = entry
    if not images:
        raise UsageError(f"{path} lists no images")
    return images


def _categories(path: Path, data: Mapping[str, Any]) -> dict[int, str]:
    categories: dict[int, str] = {}
    for n, entry in enumerate(_entries(path, data, "categories")):
        if not _is_whole(entry.get("id")) or not isinstance(entry.get("name"), str):
            raise UsageError(f"{path}: categories[{n}] needs a whole number `id` and a text `name`")
        categories[entry["id"]] = entry["name"]
    return categories


def _annotations(
    path: Path, data: Mapping[str, Any], images: set[int], categories: set[int]
) -> tuple[Annotations, int]:
    """Annotations by image, and how many are for images that are not listed."""
    by_image: Annotations = {i: [] for i in images}
    strays = 0
    for n, entry in enumerate(_entries(path, data, "annotations")):
        where = f"{path}: annotations[{n}]"
        image, category, box = (entry.get(key) for key in ("image_id", "category_id", "bbox"))
        if not _is_whole(image) or not _is_whole(category):
            raise UsageError(f"{where} needs whole numbers `image_id` and `category_id`")
        if category not in categories:
            raise UsageError(f"{where} has category {category}, which is not among the categories")
        if not isinstance(box, list) or len(box) != 4 or not all(_is_number(v) for v in box) or min(box[2:]) < 0:
            raise UsageError(f"{where} has no `bbox` of four numbers: x, y, width, height")
        if image in by_image:
            by_image[image].append(entry)
        else:
            strays += 1
    return by_image, strays


def _objects(image: Mapping[str, Any], annotations: list[dict[str, Any]], ids: Mapping[int, int]) -> Objects:
    known = [a for a in annotations if a["category_id"] in ids]
    boxes = np.array([a["bbox"] for a in known], np.float64).reshape(-1, 4)
    boxes[:, 2:] += boxes[:, :2]
    height, width = (image.get(side) or 0 for side in ("height", "width"))
    return Objects(
        boxes,
        np.array([ids[a["category_id"]] for a in known], np.int64),
        np.array([bool(a.get("iscrowd")) for a in known], np.bool_),
        # some tools write 0 where they do not know
        shape=(height, width) if _is_whole(height) and _is_whole(width) and height > 0 and width > 0 else None,
    )


def _found(path: Path, images: Mapping[int, Mapping[str, Any]], folder: Path | None) -> dict[int, Path]:
    """Where each image is: all are in one folder of those where they can be."""
    folders = [folder] if folder else _folders(path)
    first = str(next(iter(images.values()))["file_name"])
    root = next((f for f in folders if (f / first).is_file()), folders[0])
    found = {i: root / str(image["file_name"]) for i, image in images.items()}
    missing = [p for p in found.values() if not p.is_file()]
    if missing:
        raise UsageError(
            f"{path}: {len(missing)} of its {len(images)} images are not there, such as {missing[0]}",
            hint=f"edgekit evaluate PACKAGE FOLDER_OF_IMAGES --labels {path}",
        )
    return found


def _folders(path: Path) -> list[Path]:
    """Where images can be: COCO has annotations/instances_val2017.json and images/val2017/ or val2017/ beside it."""
    split = path.stem.rpartition("_")[2]
    places = [path.parent, path.parent.parent]
    return [place / below for place in places for below in (".", "images", split, f"images/{split}")]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LARGEST  # false for NaN
