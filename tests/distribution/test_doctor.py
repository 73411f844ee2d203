"""What doctor and run say of an environment without onnxruntime, and of one with two."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conftest import ROOT
from tests.distribution.conftest import Environment

SHAPES = ROOT / "examples" / "shapes"


@pytest.mark.wheel
def test_without_onnxruntime(environment: Callable[..., Environment]) -> None:
    board = environment()
    said = json.loads(board.edgekit("doctor", "--json").stdout)
    assert (said["distributions"], said["problems"]) == ([], ["onnxruntime is not installed"])
    cpu = board.edgekit("doctor", "cpu")
    assert (cpu.returncode, cpu.stderr.splitlines()[-1]) == (5, "  try: pip install onnxruntime")
    ran = board.edgekit("run", SHAPES / "shapes.onnx", SHAPES / "scene.jpg")
    assert (ran.returncode, ran.stderr.splitlines()[0]) == (5, "error: onnxruntime is not installed")


@pytest.mark.providers
def test_two_of_them(environment: Callable[..., Environment]) -> None:
    board = environment("vision", "onnxruntime==1.32.0", "onnxruntime-migraphx==1.27.1")
    (problem,) = json.loads(board.edgekit("doctor", "--json").stdout)["problems"]
    assert problem.startswith("onnxruntime and onnxruntime-migraphx are one and the same Python module")
    assert "pip uninstall -y onnxruntime onnxruntime-migraphx" in problem
    assert board.edgekit("run", SHAPES / "shapes.onnx", SHAPES / "scene.jpg").returncode in (0, 5)
