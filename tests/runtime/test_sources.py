"""What is typed on the command line becomes a list of images, or a sentence that names what is wrong."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from edgekit.errors import UsageError
from edgekit.runtime.sources import Source, expand


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """b.npy, a.npy, c.jpg (not an image inside), notes.txt, .hidden.jpg, sub/d.npy, empty/"""
    for name in ("b.npy", "a.npy", "sub/d.npy"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        np.save(tmp_path / name, np.full((2, 3, 3), ord(Path(name).stem), np.uint8))
    for name in ("c.JPG", "notes.txt", ".hidden.jpg"):
        (tmp_path / name).write_text("x")
    (tmp_path / "empty").mkdir()
    return tmp_path


def names(sources: list[Source]) -> list[str]:
    return [Path(source.name).name for source in sources]


def test_a_folder_gives_its_images_sorted(photos: Path) -> None:
    assert names(expand([photos])) == ["a.npy", "b.npy", "c.JPG"]


def test_a_folder_is_entered_when_asked(photos: Path) -> None:
    assert names(expand([photos], recursive=True)) == ["a.npy", "b.npy", "c.JPG", "d.npy"]


def test_a_pattern_gives_its_images_sorted(photos: Path) -> None:
    assert names(expand([f"{photos}/*.npy"])) == ["a.npy", "b.npy"]
    assert names(expand([f"{photos}/**/*.npy"])) == ["a.npy", "b.npy", "d.npy"]


def test_files_keep_the_order_in_which_they_were_given(photos: Path) -> None:
    assert names(expand([photos / "b.npy", photos / "a.npy"])) == ["b.npy", "a.npy"]


def test_a_name_is_what_was_typed(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(photos)
    assert [s.name for s in expand(["a.npy", "sub"])] == ["a.npy", os.path.join("sub", "d.npy")]  # noqa: PTH118


def test_a_file_with_a_bracket_in_its_name_is_itself(photos: Path) -> None:
    np.save(photos / "shot[1].npy", np.zeros((2, 3), np.uint8))
    assert names(expand([photos / "shot[1].npy"])) == ["shot[1].npy"]


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ("nowhere.jpg", "nowhere.jpg does not exist"),
        ("*.webp", "*.webp matches no image"),
        ("*.txt", "*.txt matches no image (1 other files)"),
        ("empty", "empty is a folder without images"),
    ],
)
def test_an_item_that_stands_for_no_image_is_named(
    item: str, sentence: str, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos)
    with pytest.raises(UsageError) as caught:
        expand(["a.npy", item])
    assert str(caught.value) == sentence
    assert caught.value.exit_code == 2


def test_images_are_read_one_by_one(photos: Path) -> None:
    sources = expand([photos])  # one of them is no image
    assert sources[0].read()[0, 0, 0] == ord("a")
    assert sources[1].read()[0, 0, 0] == ord("b")
    with pytest.raises(UsageError, match=r"c\.JPG is not an image"):
        sources[2].read()


def stdin(monkeypatch: pytest.MonkeyPatch, data: bytes, *, terminal: bool = False) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: terminal))


def test_a_dash_reads_standard_input(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stdin(monkeypatch, (photos / "a.npy").read_bytes())
    (source,) = expand(["-"])
    assert source.name == "-"
    assert source.read().shape == (2, 3, 3)


@pytest.mark.parametrize(
    ("data", "terminal", "sentence"),
    [(b"", False, "standard input is empty"), (b"text", False, "standard input is not"), (b"", True, "no image on")],
)
def test_a_dash_without_an_image_is_an_error(
    data: bytes, terminal: bool, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin(monkeypatch, data, terminal=terminal)
    with pytest.raises(UsageError, match=sentence):
        expand(["-"])[0].read()


def test_standard_input_is_given_once() -> None:
    with pytest.raises(UsageError, match="give it once"):
        expand(["-", "-"])
