"""YOLO labels as people have them, and the rows that are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.evaluation import Dataset, open_dataset
from edgekit.evaluation.datasets.yolo import parse

NAMES = {0: "cat", 1: "dog"}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes files by path: text, or for None an image of 20 by 10."""

    def writes(**files: str | None) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                cv2.imwrite(str(path), np.full((10, 20, 3), 128, np.uint8))
            else:
                path.write_text(content)
        return tmp_path

    return writes


def opened(path: Path) -> Dataset:
    return open_dataset(path, task="detect", names=NAMES)


def truth(data: Dataset) -> dict[str, list[tuple[int, list[float]]]]:
    """Class and box in pixels of 20 by 10, by image name."""
    return {
        s.path.name: list(
            zip(s.truth.class_ids.tolist(), s.truth.in_pixels((10, 20), name="").round(6).tolist(), strict=True)
        )
        for s in data.samples
    }


def test_images_and_labels_in_folders_of_their_own(write: Callable[..., Path]) -> None:
    data = opened(
        write(
            **{
                "images/train/b.jpg": None,
                "images/train/a.jpg": None,
                "images/c.png": None,
                "labels/train/a.txt": "1 0.5 0.5 1 1\n\n0 0.25 0.5 0.1 0.2\n",
                "labels/train/b.txt": "0 0.1 0.1 0.2 0.2",
                "labels/gone.txt": "0 0.1 0.1 0.2 0.2",
            }
        )
    )
    assert truth(data) == {
        "c.png": [],
        "a.jpg": [(1, [0, 0, 20, 10]), (0, [4, 4, 6, 6])],
        "b.jpg": [(0, [0, 0, 4, 2])],
    }
    assert data.notices == (
        "label files without an image, which are ignored: 1",
        "images without a label file, which count as empty: 1 of 3",
    )


def test_labels_beside_the_images(write: Callable[..., Path]) -> None:
    data = opened(write(**{"a.jpg": None, "a.txt": "1 0.5 0.5 1 1", "b.jpg": None, "b.txt": "", "notes.md": "x"}))
    assert truth(data) == {"a.jpg": [(1, [0, 0, 20, 10])], "b.jpg": []}
    assert data.notices == ()


def test_a_folder_of_images_finds_its_labels_next_door(write: Callable[..., Path]) -> None:
    root = write(**{"images/val/a.jpg": None, "labels/val/a.txt": "1 0.5 0.5 1 1"})
    assert truth(opened(root / "images" / "val")) == {"a.jpg": [(1, [0, 0, 20, 10])]}


def test_a_polygon_gives_its_box(write: Callable[..., Path]) -> None:
    data = opened(write(**{"a.jpg": None, "a.txt": "1 0.1 0.2 0.5 0.9 0.3 0.1"}))
    assert truth(data) == {"a.jpg": [(1, [2, 1, 10, 9])]}


def test_a_data_yaml_decides_on_images_and_classes(write: Callable[..., Path]) -> None:
    root = write(
        **{
            "data.yaml": "train: images/train\nval: [images/val, more.txt]\nnames: [dog, zebra, cat]\n",
            "images/train/t.jpg": None,
            "images/val/a.jpg": None,
            "labels/val/a.txt": "0 0.5 0.5 1 1\n1 0.5 0.5 1 1",
            "images/other/b.jpg": None,
            "labels/other/b.txt": "2 0.5 0.5 1 1",
            "more.txt": "./images/other/b.jpg\n",
        }
    )
    by_folder, by_file = opened(root), opened(root / "data.yaml")
    assert truth(by_folder) == truth(by_file) == {"a.jpg": [(1, [0, 0, 20, 10])], "b.jpg": [(0, [0, 0, 20, 10])]}
    assert by_folder.notices == (
        f"{root / 'data.yaml'}: split val",
        f"classes of {root / 'data.yaml'} that the model does not have are left out: zebra",
    )


def test_the_paths_that_roboflow_writes_are_found(write: Callable[..., Path]) -> None:
    root = write(
        **{
            "set/data.yaml": "train: ../train/images\nval: ../valid/images\n",
            "set/valid/images/a.jpg": None,
            "set/valid/labels/a.txt": "0 0.5 0.5 1 1",
        }
    )
    assert truth(opened(root / "set")) == {"a.jpg": [(0, [0, 0, 20, 10])]}


def test_a_list_names_its_images(write: Callable[..., Path]) -> None:
    files = {f"images/{i}.jpg": None for i in range(3)} | {f"labels/{i}.txt": "0 0.5 0.5 1 1" for i in range(3)}
    root = write(**files, **{"part.txt": "images/2.jpg\nimages/0.jpg\n"})
    assert list(truth(opened(root / "part.txt"))) == ["2.jpg", "0.jpg"]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"notes.md": "x"}, "is a folder without images"),
        ({"a.jpg": None}, "none of its 1 images has labels: a.txt is neither beside it nor under `labels`"),
        ({"a.jpg": None, "a.txt": "\n"}, "there is no labelled object in any of its 1 images"),
        ({"a.jpg": None, "a.txt": "0 .5 .5 1 1\n0 .5 .5 1"}, "a.txt, line 2: 4 values"),
        ({"a.jpg": None, "a.txt": "0 .5 .5 1 1 0.9"}, "a.txt, line 1: 6 values"),
        ({"a.jpg": None, "a.txt": "cat .5 .5 1 1"}, "a.txt, line 1: 'cat .5 .5 1 1' are not all numbers"),
        ({"a.jpg": None, "a.txt": "0.5 .5 .5 1 1"}, "a.txt, line 1: class 0.5 is not a whole number"),
        ({"a.jpg": None, "a.txt": "nan .5 .5 1 1"}, "a.txt, line 1: class nan is not a whole number"),
        ({"a.jpg": None, "a.txt": "0 10 5 20 10"}, "a.txt, line 1: a coordinate is outside 0..1"),
        ({"a.jpg": None, "a.txt": "0 .5 .5 nan 1"}, "a.txt, line 1: a coordinate is outside 0..1"),
        ({"a.jpg": None, "a.txt": "0 .5 .5 -0.005 1"}, "a.txt, line 1: width or height is negative"),
        ({"a.jpg": None, "a.txt": "2 .5 .5 1 1"}, "a.txt: class 2, but the model has 2 classes, up to 1"),
        ({"data.yaml": "names: [cat]"}, "data.yaml names no images"),
        ({"data.yaml": "val: nowhere"}, "nowhere does not exist"),
        ({"data.yaml": "val: empty", "empty/x.md": "x"}, "data.yaml: .*empty is a folder without images"),
        ({"data.yaml": "val: 5"}, "data.yaml: 5 is not a folder or a list of images"),
        ({"data.yaml": "- a"}, "data.yaml is not a YAML mapping"),
        ({"data.yaml": "a: b: c"}, "data.yaml is not YAML"),
        ({"data.yaml": "val: part.txt", "part.txt": "gone.jpg"}, "part.txt, line 1: .*gone.jpg does not exist"),
        ({"data.yaml": "val: part.txt", "part.txt": "\n"}, "part.txt lists no images"),
    ],
)
def test_what_is_wrong_is_named(write: Callable[..., Path], files: dict[str, str | None], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        opened(write(**files))


def test_labels_that_are_not_text_are_named(write: Callable[..., Path]) -> None:
    root = write(**{"a.jpg": None})
    (root / "a.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"a\.txt is not text"):
        opened(root)


def test_a_folder_with_coco_labels_says_how_they_are_given(write: Callable[..., Path]) -> None:
    root = write(**{"a.jpg": None, "coco.json": "{}"})
    with pytest.raises(UsageError) as caught:
        opened(root)
    assert caught.value.hint == f"for COCO labels name their file: {root / 'coco.json'}"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("a.jpg", "a.jpg is an image, not labelled images"), ("a.md", "no data set"), ("b", "b does not exist")],
)
def test_other_files_are_no_data_set(write: Callable[..., Path], name: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        opened(write(**{"a.jpg": None, "a.md": "x"}) / name)


parts = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(st.tuples(st.integers(0, 99), parts, parts, parts, parts)))
def test_rows_that_are_written_are_read(rows: list[tuple[int, float, float, float, float]]) -> None:
    class_ids, boxes = parse("\n".join(" ".join(map(repr, row)) for row in rows), where="a.txt")
    assert class_ids == [row[0] for row in rows]
    centres = [(x + X, y + Y) for x, y, X, Y in boxes]
    assert centres == [pytest.approx((2 * row[1], 2 * row[2])) for row in rows]


@given(st.text("0123456789.-+en \n\tia_"))
def test_any_other_text_is_refused_with_its_line(text: str) -> None:
    refusal = None
    try:
        class_ids, boxes = parse(text, where="a.txt")
    except UsageError as e:
        refusal = str(e)
    assert refusal.startswith("a.txt, line ") if refusal is not None else len(class_ids) == len(boxes)
