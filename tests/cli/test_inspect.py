from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import toys

Command = Callable[..., Any]


def test_a_model_says_what_it_is(edgekit: Command, tmp_path: Path) -> None:
    model = toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "m.onnx")
    data = json.loads(edgekit("inspect", model, "--json").stdout)
    assert (data["kind"], data["opset"], data["task"], data["decoder"]) == ("model", 17, "detect", "yolov8")
    assert data["inputs"] == [{"name": "images", "dtype": "float32", "shape": [1, 3, 64, 64]}]


def test_a_package_lists_its_variants(edgekit: Command, toy_package: Path) -> None:
    text = edgekit("inspect", toy_package).stdout
    assert "cpu-x86_64" in text
    assert "cat, dog, hen" in text


def test_a_model_that_cannot_run_here_is_described_all_the_same(edgekit: Command, zoo: Path) -> None:
    result = edgekit("inspect", zoo / "models" / "superres_prepost_op16.onnx")
    assert result.exit_code == 0
    assert "opset 16" in result.stdout
    assert "operator DecodeImage" in result.stdout
