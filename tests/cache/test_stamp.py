from __future__ import annotations

import os
from pathlib import Path

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
