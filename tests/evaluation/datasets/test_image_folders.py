"""Images of one class each: by subfolder, or by a file of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.evaluation import Dataset, open_dataset
from edgekit.evaluation.datasets.classify import parse

NAMES = {0: "cat", 1: "dog", 2: "emu"}


def folder(path: Path, *images: str) -> Path:
    for name in images:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path / name), np.full((10, 20, 3), 128, np.uint8))
    return path


def opened(path: Path, names: dict[int, str] = NAMES, **more: Any) -> Dataset:
    return open_dataset(path, task="classify", names=names, **more)


def truth(data: Dataset) -> dict[str, Any]:
    return {sample.path.relative_to(data.path).as_posix(): sample.truth for sample in data.samples}


def test_subfolders_are_classes_by_name(tmp_path: Path) -> None:
    data = opened(folder(tmp_path, "Emu/1.jpg", "cat/deep/2.jpg", "stray.jpg"))
    assert truth(data) == {"Emu/1.jpg": 2, "cat/deep/2.jpg": 0}
    assert data.notices == (
        f"images in {tmp_path} outside the classes' folders, which are left out: 1",
        f"classes of {tmp_path} matched with the model's by name",
    )


def test_subfolders_are_classes_in_order_where_the_model_has_no_names(tmp_path: Path) -> None:
    data = opened(folder(tmp_path, "n02/1.jpg", "n01/2.jpg"), {0: "class_0", 1: "class_1"})
    assert truth(data) == {"n01/2.jpg": 0, "n02/1.jpg": 1}
    assert "taken in their order" in data.notices[0]


def test_subfolders_that_are_numbers_are_class_ids(tmp_path: Path) -> None:
    names = {i: f"class_{i}" for i in range(20)}
    data = opened(folder(tmp_path, "2/a.jpg", "10/b.jpg"), names)
    assert truth(data) == {"10/b.jpg": 10, "2/a.jpg": 2}


def test_of_splits_the_one_for_measuring_is_taken(tmp_path: Path) -> None:
    data = opened(folder(tmp_path, "train/cat/1.jpg", "val/dog/2.jpg"))
    assert truth(data) == {"dog/2.jpg": 1}


@pytest.mark.parametrize(
    ("at", "rows"),
    [
        ("set/labels.txt", "b c.jpg 2\n\na.jpg dog\n"),
        ("labels.txt", "a.jpg 1\nb c.jpg Emu\n"),
        ("set/labels.csv", "file,class\na.jpg,dog\nb c.jpg, 2\n"),
        ("elsewhere.csv", '"a.jpg",1\n"b c.jpg",2\n'),
    ],
)
def test_a_file_of_labels_gives_each_image_its_class(tmp_path: Path, at: str, rows: str) -> None:
    path = folder(tmp_path / "set", "a.jpg", "b c.jpg")
    (tmp_path / at).write_text(rows)
    data = opened(path, labels=tmp_path / at if at.startswith("elsewhere") else None)
    assert truth(data) == {"a.jpg": 1, "b c.jpg": 2}
    assert data.notices == ()


def test_what_has_no_counterpart_is_counted(tmp_path: Path) -> None:
    path = folder(tmp_path, "a.jpg", "b.jpg", "c.jpg")
    (path / "labels.txt").write_text("a.jpg 0\ngone.jpg 1\n")
    data = opened(path)
    assert truth(data) == {"a.jpg": 0}
    assert data.notices == (
        f"rows of {path / 'labels.txt'} without an image, which are ignored: 1",
        f"images in {path} without a class in {path / 'labels.txt'}, which are left out: 2",
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("a.jpg 0\nb.jpg\n", "labels.txt, line 2: must be a file name and a class"),
        ("a.jpg 3\n", "labels.txt, line 1: '3' is no class of the model"),
        ("a.jpg cow\n", "labels.txt, line 1: 'cow' is no class of the model"),
        ("a.jpg 0\na.jpg 1\n", "labels.txt, line 2: a.jpg has another class than before"),
        ("b.jpg 0\n", "labels.txt has no class for any of the 1 images"),
        ("", "labels.txt has no class for any of the 1 images"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, rows: str, sentence: str) -> None:
    path = folder(tmp_path, "a.jpg")
    (path / "labels.txt").write_text(rows)
    with pytest.raises(UsageError, match=sentence):
        opened(path)


def test_images_without_classes_are_an_error_that_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="its 1 images have no classes") as caught:
        opened(folder(tmp_path, "a.jpg"))
    assert "--labels" in str(caught.value.hint)


def test_a_folder_without_images_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder without images"):
        opened(tmp_path)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.jpg is not a folder"):
        opened(folder(tmp_path, "a.jpg") / "a.jpg")


def test_a_task_without_metric_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="task raw has no metric"):
        open_dataset(tmp_path, task="raw", names={})


words = st.text("abc.-_/äö", min_size=1)


@given(st.lists(st.tuples(st.lists(words, min_size=1).map(" ".join), words)))
def test_rows_that_are_written_are_read(rows: list[tuple[str, str]]) -> None:
    text = "\n".join(f"{name} {said}" for name, said in rows)
    assert [row[1:] for row in parse(text, where="labels.txt", comma=False)] == rows


@given(st.text("ab \t\n,\"'01"), st.booleans())
def test_any_text_is_read_or_refused_with_its_line(text: str, comma: bool) -> None:
    refusal = None
    try:
        rows = list(parse(text, where="labels.txt", comma=comma))
    except UsageError as e:
        refusal = str(e)
    assert refusal.startswith("labels.txt, line ") if refusal is not None else all(n and said for _, n, said in rows)
