from __future__ import annotations

import os
from pathlib import Path

import onnx
import pytest

from edgekit import manifest
from edgekit.cache import stamp


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"weights")
    return path


def test_a_file_is_hashed_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = stamp.sha256(file)
    monkeypatch.setattr(manifest, "sha256", lambda path: pytest.fail("hashed again"))
    assert stamp.sha256(file) == digest


def test_a_change_that_keeps_size_and_time_is_seen(file: Path) -> None:
    before, stat = stamp.sha256(file), file.stat()
    file.write_bytes(b"Weights")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert stamp.sha256(file) != before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"identity": 1}', "\x00"])
def test_a_damaged_stamp_costs_a_hash_and_no_more(file: Path, tmp_path: Path, content: str) -> None:
    digest = stamp.sha256(file)
    next((tmp_path / "cache" / "stamps").iterdir()).write_text(content)
    assert stamp.sha256(file) == digest


def test_a_root_that_is_a_file_costs_a_hash_and_no_more(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("x")
    assert stamp.sha256(file) == manifest.sha256(file)


def test_the_stamp_of_a_file_that_is_gone_goes(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.onnx"
    other.write_bytes(b"more weights")
    stamp.sha256(file)
    stamp.sha256(other)
    other.unlink()
    assert stamp.forget_gone(tmp_path / "cache") > 0
    assert len(list((tmp_path / "cache" / "stamps").iterdir())) == 1
    assert stamp.forget_gone(tmp_path / "cache") == 0


@pytest.mark.parametrize("name", ["w.bin", "w" * 127, "w" * 128, "weights/" + "w" * 190])
def test_a_model_names_the_files_of_its_weights(tmp_path: Path, name: str) -> None:
    entry = onnx.StringStringEntryProto(key="location", value=name)
    tensor = onnx.TensorProto(name="w", external_data=[entry], data_location=onnx.TensorProto.EXTERNAL)
    graph = onnx.GraphProto(name="g", initializer=[tensor])
    (tmp_path / "m.onnx").write_bytes(onnx.ModelProto(graph=graph).SerializeToString())
    assert stamp.of(tmp_path / "m.onnx").external == (name,)


@pytest.mark.parametrize(("operator", "compiled"), [("EPContext", True), ("Conv", False)])
def test_a_model_that_is_compiled_is_known(tmp_path: Path, operator: str, compiled: bool) -> None:
    graph = onnx.GraphProto(name="g", node=[onnx.NodeProto(op_type=operator, domain="com.microsoft")])
    (tmp_path / "m.onnx").write_bytes(onnx.ModelProto(graph=graph).SerializeToString())
    assert stamp.of(tmp_path / "m.onnx").compiled is compiled
    assert stamp.of(tmp_path / "m.onnx").compiled is compiled  # from the stamp
