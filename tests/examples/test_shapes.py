"""The demo model, as `make demo` uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

SHAPES = ROOT / "examples" / "shapes"
Command = Callable[..., Any]


@pytest.fixture(scope="module", params=["fp32", "fp16"])
def package(request: pytest.FixtureRequest, edgekit: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shapes") / "package"
    made = edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", "--precision", request.param, "-o", out)
    assert made.exit_code == 0, made.stderr
    return out


def test_the_demo_scene_is_read_as_it_was_drawn(edgekit: Command, package: Path) -> None:
    found = json.loads(edgekit("run", package, SHAPES / "scene.jpg", "--json").stdout)["results"][0]["detections"]
    assert Counter(d["class_name"] for d in found) == {"circle": 3, "square": 1, "triangle": 3, "star": 2}


def test_scenes_that_were_not_trained_on_are_found(edgekit: Command, package: Path, tmp_path: Path) -> None:
    draw = [sys.executable, str(SHAPES / "draw.py"), str(tmp_path / "scenes"), "--count", "40", "--seed", "77"]
    subprocess.run(draw, check=True, capture_output=True)
    measured = edgekit("evaluate", package, tmp_path / "scenes", "--json")
    assert json.loads(measured.stdout)["metrics"]["map50_95"] > 0.8


def test_the_demo_model_stays_small() -> None:
    assert (SHAPES / "shapes.onnx").stat().st_size < 1_000_000
