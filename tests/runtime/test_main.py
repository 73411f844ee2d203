from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from edgekit.runtime.__main__ import USAGE, main


@pytest.fixture
def image(tmp_path: Path) -> Path:
    np.save(tmp_path / "image.npy", np.random.default_rng(5).integers(0, 256, (90, 120, 3), np.uint8))
    return tmp_path / "image.npy"


def test_an_array_gives_a_json_line(toy_package: Path, image: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(toy_package), str(image)]) == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [90, 120]


@pytest.mark.parametrize(("arguments", "code"), [([], 2), (["one"], 2), (["--help"], 0)])
def test_usage_is_shown(arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == code
    assert USAGE in "".join(capsys.readouterr())


def test_a_failure_is_a_sentence_and_its_exit_code(
    toy_package: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(toy_package), str(tmp_path / "none.npy")]) == 2
    assert "none.npy does not exist" in capsys.readouterr().err
