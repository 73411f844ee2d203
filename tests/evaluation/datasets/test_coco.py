"""COCO files: where their images are, which class is which, and entries that are wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.evaluation import Dataset, open_dataset
from edgekit.evaluation.datasets.coco import open_annotations

NAMES = {0: "person", 1: "dog"}


def content(**changes: Any) -> dict[str, Any]:
    """Two images of 20 by 10, a person and a crowd in the first."""
    return {
        "images": [
            {"id": 5, "file_name": "b.png", "width": 20, "height": 10},
            {"id": 9, "file_name": "a.png", "width": 20, "height": 10},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
        "annotations": [
            {"id": 1, "image_id": 5, "category_id": 1, "bbox": [2, 1, 10, 4.5], "iscrowd": 0, "area": 45},
            {"id": 2, "image_id": 5, "category_id": 18, "bbox": [0, 0, 20, 10], "iscrowd": 1},
        ],
    } | changes


def written(folder: Path, data: Any, *, at: str = "labels.json", images: str = ".") -> Path:
    (folder / images).mkdir(parents=True, exist_ok=True)
    for name in ("a.png", "b.png"):
        cv2.imwrite(str(folder / images / name), np.full((10, 20, 3), 128, np.uint8))
    (folder / at).parent.mkdir(parents=True, exist_ok=True)
    (folder / at).write_text(data if isinstance(data, str) else json.dumps(data))
    return folder / at


def opened(path: Path, names: dict[int, str] = NAMES, **more: Any) -> Dataset:
    return open_dataset(path, task="detect", names=names, **more)


def test_boxes_are_read_in_pixels_and_crowds_kept(tmp_path: Path) -> None:
    data = opened(written(tmp_path, content()))
    empty, full = (sample.truth for sample in data.samples)
    assert [sample.path.name for sample in data.samples] == ["a.png", "b.png"]
    assert len(empty) == 0
    assert full.in_pixels((10, 20), name="b.png").tolist() == [[2, 1, 12, 5.5], [0, 0, 20, 10]]
    assert full.crowd.tolist() == [False, True]


def test_categories_are_matched_by_name(tmp_path: Path) -> None:
    data = opened(written(tmp_path, content()))
    assert data.samples[1].truth.class_ids.tolist() == [0, 1]
    assert data.notices == (f"classes of {tmp_path / 'labels.json'} matched with the model's by name",)


def test_without_names_categories_are_taken_in_the_order_of_their_ids(tmp_path: Path) -> None:
    data = opened(written(tmp_path, content()), {0: "class_0", 1: "class_1"})
    assert data.samples[1].truth.class_ids.tolist() == [0, 1]
    assert "taken in their order" in data.notices[0]


def test_annotations_of_images_that_are_not_listed_are_ignored_and_counted(tmp_path: Path) -> None:
    listed = content()["images"][:1]
    stray = {"image_id": 6, "category_id": 1, "bbox": [0, 0, 1, 1]}
    data = opened(written(tmp_path, content(images=listed, annotations=[*content()["annotations"], stray])))
    assert len(data) == 1
    assert data.notices[-1].endswith("which are ignored: 1")


@pytest.mark.parametrize(
    ("at", "images"),
    [
        ("labels.json", "."),
        ("labels.json", "images"),
        ("annotations/instances_val2017.json", "val2017"),
        ("annotations/instances_val2017.json", "images/val2017"),
        ("annotations/test.json", "."),
    ],
)
def test_images_are_found_around_the_file(tmp_path: Path, at: str, images: str) -> None:
    data = opened(written(tmp_path, content(), at=at, images=images))
    assert all(sample.path.is_file() for sample in data.samples)


def test_images_elsewhere_are_given_with_the_labels(tmp_path: Path) -> None:
    path = written(tmp_path, content(), at="one/labels.json", images="two/deep")
    assert len(opened(tmp_path / "two" / "deep", labels=path)) == 2
    with pytest.raises(UsageError, match=r"2 of its 2 images are not there, such as .*b\.png") as caught:
        opened(path)
    assert f"--labels {path}" in str(caught.value.hint)


def test_other_labels_are_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("a.png 1")
    with pytest.raises(UsageError, match=r"for detect, labels are a COCO \.json"):
        opened(tmp_path, labels=tmp_path / "labels.txt")


PERSON = content()["annotations"][0]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "labels.json, line 1: not JSON"),
        ('{"images":\n [}', "labels.json, line 2: not JSON"),
        ("[]", "is not a JSON object"),
        ("{}", "is no COCO file: `images` must be a list of objects"),
        (content(images=[]), "lists no images"),
        (content(images=[{"id": "5", "file_name": "b.png"}]), r"images\[0\] needs a whole number `id`"),
        (content(images=content()["images"] * 2), r"images\[2\] has the id 5 of an image before it"),
        (content(categories=[{"id": 1}]), r"categories\[0\] needs"),
        (content(annotations={}), "`annotations` must be a list of objects"),
        (content(annotations=[PERSON, PERSON | {"bbox": [1, 2, 3]}]), r"annotations\[1\] has no `bbox`"),
        (content(annotations=[PERSON | {"bbox": [1, 2, -3, 4]}]), r"annotations\[0\] has no `bbox`"),
        (content(annotations=[PERSON | {"bbox": [1, 2, float("nan"), 4]}]), r"annotations\[0\] has no `bbox`"),
        (content(annotations=[PERSON | {"category_id": 3}]), r"annotations\[0\] has category 3, which is not among"),
        (content(annotations=[PERSON | {"image_id": None}]), r"annotations\[0\] needs whole numbers"),
        (content(annotations=[]), "there is no labelled object in any of its 2 images"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, data: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        opened(written(tmp_path, data))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "image_id", "category_id", "bbox", "file_name", "name"]), inner)
    ),
    max_leaves=20,
)
entries = st.lists(anything, max_size=3)


@given(images=entries, categories=entries, annotations=entries)
def test_any_entries_are_read_or_refused(
    images: Any, categories: Any, annotations: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    data = content()
    for key, more in (("images", images), ("categories", categories), ("annotations", annotations)):
        data[key] = [*data[key], *more]
    path.write_text(json.dumps(data))
    with pytest.raises(UsageError):  # if nothing else, the images are not there
        open_annotations(path, NAMES)
