from __future__ import annotations

from pathlib import Path

import pytest

from edgekit.errors import UsageError
from edgekit.preprocessing import PRESETS, Preprocess
from edgekit.runtime.hints import Hints


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "cat\ndog\n\n"),
        ("a.names", "cat\r\ndog"),
        ("a.yaml", "[cat, dog]"),
        ("a.yaml", "{0: cat, 1: dog}"),
        ("a.yml", "path: x\nnames: {0: cat, 1: dog}"),
        ("a.yml", "names: [cat, dog]"),
    ],
)
def test_names_are_read_from_every_form(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert Hints.of(names=tmp_path / name).names == {0: "cat", 1: "dog"}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "no class names"),
        ("a.txt", b"\xff\xfe\x00", "is not text"),
        ("a.yaml", b"[", "is not YAML"),
        ("a.yaml", b"names: 3", "no class names"),
        ("a.yaml", b"3", "no class names"),
    ],
)
def test_names_that_cannot_be_read_are_a_sentence(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=said):
        Hints.of(names=tmp_path / name)


def test_pre_processing_is_a_preset_a_file_or_data(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text("resize: crop\nsize: [224, 224]\nshorter_side: 256\nscale: 1")
    wanted = Preprocess(resize="crop", size=(224, 224), shorter_side=256, scale=1.0)
    assert Hints.of(preprocess=tmp_path / "p.yaml").preprocess == wanted
    assert Hints.of(preprocess=wanted).preprocess == wanted
    assert Hints.of(preprocess="yolox").preprocess == "yolox"
    assert "yolox" in PRESETS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("resise: crop", "no key 'resise'"),
        ("resize: cut", "must be one of letterbox, stretch, crop"),
        ("size: 224", "list of 2 numbers"),
        ("size: [0, 1]", "whole numbers of pixels"),
        ("std: [0, 1, 1]", "must not be 0"),
        ("mean: [a, b, c]", "list of 3 numbers"),
        ("pad_value: 300", "from 0 to 255"),
        ("scale: yes", "must be a number"),
        ("[1, 2]", "must map keys"),
    ],
)
def test_pre_processing_that_is_wrong_is_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(UsageError, match=said):
        Hints.of(preprocess=tmp_path / "p.yaml")
