"""Profiles of a test's own, and none of whoever runs it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from edgekit.target import finding

BOARD = """\
name: {name}
title: A board
provider: {{name: CPUExecutionProvider}}
precision: {{default: fp32, allowed: [fp32]}}
"""
Writer = Callable[..., Path]


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test sees the profiles of whoever runs it."""
    configuration = tmp_path / "configuration"
    monkeypatch.setattr(platformdirs, "user_config_dir", lambda name: str(configuration / name))
    monkeypatch.delenv(finding.FOLDERS_VARIABLE, raising=False)
    return configuration / "edgekit"


@pytest.fixture
def write() -> Writer:
    def write(folder: Path, name: str, more: str = "", base: str = BOARD) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{name}.yaml"
        file.write_text(base.format(name=name) + more, encoding="utf-8")
        return file

    return write


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that EDGEKIT_TARGETS names."""
    folder = tmp_path / "profiles"
    folder.mkdir()
    monkeypatch.setenv(finding.FOLDERS_VARIABLE, str(folder))
    return folder
