"""Labelled images in the forms that people have them in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgekit.errors import UsageError
from edgekit.evaluation.datasets import classify, coco, files, yolo
from edgekit.evaluation.datasets.dataset import Dataset, NoLabels, Objects, Sample

__all__ = ["Dataset", "NoLabels", "Objects", "Sample", "open_dataset"]


def open_dataset(path: str | Path, *, task: str, names: Mapping[int, str], labels: str | Path | None = None) -> Dataset:
    """Find the images and read the labels.

    Args:
        path: for detect a folder with YOLO labels, a data.yaml, a text file of image paths, or a COCO .json;
            for classify a folder with a subfolder per class, or with a labels.csv or labels.txt.
        task: the model's.
        names: the model's class names by id; they tell which of its classes the data set's are.
        labels: the file of the labels, where it is elsewhere: a COCO .json for detect, rows of file name and class
            for classify.

    Raises:
        UsageError: nothing is there, it has no labels, or one of them is wrong; the message names file and line.
    """
    path, labels = Path(path), Path(labels) if labels else None
    for given in (path, labels):
        if given and not given.exists():
            raise UsageError(f"{given} does not exist")
    if task == "detect":
        dataset = _detect(path, names, labels)
        if not any(isinstance(sample.truth, Objects) and len(sample.truth) for sample in dataset.samples):
            raise NoLabels(f"{path}: there is no labelled object in any of its {len(dataset)} images")
        return dataset
    if task == "classify":
        if not path.is_dir():
            raise UsageError(f"{path} is not a folder of images")
        return classify.open_folder(path, names, labels=labels)
    raise UsageError(f"task {task} has no metric: detect and classify have")


def _detect(path: Path, names: Mapping[int, str], labels: Path | None) -> Dataset:
    if labels:
        if labels.suffix.lower() != ".json" or not path.is_dir():
            raise UsageError(f"for detect, labels are a COCO .json for a folder of images: {labels} for {path} is not")
        return coco.open_annotations(labels, names, folder=path)
    if path.is_dir():
        return yolo.open_folder(path, names)
    readers = {
        ".json": coco.open_annotations,
        ".yaml": yolo.open_description,
        ".yml": yolo.open_description,
        ".txt": yolo.open_list,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        what = "an image, not labelled images" if files.is_image(path) else "no data set"
        raise UsageError(f"{path} is {what}: give a folder, a data.yaml, a list of images (.txt) or a COCO .json")
    return reader(path, names)
