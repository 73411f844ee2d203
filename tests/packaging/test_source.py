from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from edgekit.errors import ModelError, UsageError
from edgekit.packaging import source
from tests import toys


def test_a_model_says_what_it_is(tmp_path: Path) -> None:
    read = source.load(toys.save(toys.detector(opset=17, ir=8), tmp_path / "m.onnx"))
    assert (read.description.opset, read.description.ir, read.description.nodes) == (17, 8, 7)
    assert read.description.operators["Mul"] == 2


def test_external_data_is_brought_inside(tmp_path: Path) -> None:
    read = source.load(toys.save(toys.detector(), tmp_path / "m.onnx", external=True))
    assert read.external == ("m.onnx.data",)
    assert all(not t.external_data for t in read.model.graph.initializer)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"a text file\n", "is not an ONNX file"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n", "Git LFS pointer"),
    ],
)
def test_what_is_no_model_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(ModelError, match=said):
        source.load(tmp_path / "m.onnx")


def test_every_truncation_of_a_model_is_refused(tmp_path: Path) -> None:
    whole = toys.detector().SerializeToString()
    for length in range(1, len(whole), len(whole) // 60):
        (tmp_path / "m.onnx").write_bytes(whole[:length])
        with pytest.raises(ModelError, match=r"truncated|no graph|not valid"):
            source.load(tmp_path / "m.onnx")


@pytest.mark.parametrize("name", ["model.pt", "model.tflite", "model.mlpackage"])
def test_another_format_is_answered_with_the_export(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ModelError) as caught:
        source.load(tmp_path / name)
    assert caught.value.hint
    assert "onnx" in caught.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        source.load(tmp_path / "m.onnx")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda data: data.unlink(), "is missing"),
        (lambda data: data.write_bytes(data.read_bytes()[:-8]), "is truncated"),
        (lambda data: data.write_bytes(b"version https://git-lfs.github.com/spec/v1\n"), "Git LFS pointer"),
    ],
)
def test_bad_external_data_is_named(tmp_path: Path, spoil: object, said: str) -> None:
    path = toys.save(toys.detector(), tmp_path / "m.onnx", external=True)
    spoil(tmp_path / "m.onnx.data")  # type: ignore[operator]
    with pytest.raises(ModelError, match=said):
        source.load(path)


@pytest.mark.parametrize("location", ["../outside.data", "/etc/hostname", "link.data"])
def test_external_data_outside_the_folder_is_refused(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    path = toys.save(toys.detector(), folder / "m.onnx", external=True)
    (folder / "m.onnx.data").rename(tmp_path / "outside.data")
    (folder / "link.data").symlink_to(tmp_path / "outside.data")
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        next(e for e in tensor.external_data if e.key == "location").value = location
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="outside the model's folder"):
        source.load(path)
