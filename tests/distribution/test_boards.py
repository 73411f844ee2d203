"""Packages made here, on the onnxruntime releases that boards carry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from edgekit.packaging import package
from tests import toys
from tests.conftest import ROOT
from tests.distribution.conftest import Environment

SHAPES = ROOT / "examples" / "shapes" / "shapes.onnx"
pytestmark = pytest.mark.boards  # installs onnxruntime releases: minutes, and the package index

# 1.17.1 is the oldest that edgekit supports, 1.22.0 and 1.24.3 are on NXP's images
RELEASES = {
    "1.17.1": ("onnxruntime==1.17.1", "numpy<2"),
    "1.22.0": ("onnxruntime==1.22.0",),
    "1.24.3": ("onnxruntime==1.24.3",),
}


@pytest.fixture(scope="module", params=list(RELEASES))
def board(request: pytest.FixtureRequest, environment: Callable[..., Environment]) -> Environment:
    return environment("", *RELEASES[request.param])


@pytest.fixture(scope="module", params=["fp32", "fp16", "int8"])
def newest(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of a model that is newer than what the boards read."""
    folder = tmp_path_factory.mktemp("newest")
    if request.param == "int8":  # a real detector: rounding shows in a toy's noise
        return package(SHAPES, ["cpu"], output=folder / "p", precision="int8").path
    toy = toys.detector(opset=21, ir=11, imports=[("ai.onnx.ml", 5)], metadata=toys.METADATA)
    return package(toys.save(toy, folder / "m.onnx"), ["cpu"], output=folder / "p", precision=request.param).path


def test_a_package_runs_and_gives_there_what_it_gave_here(board: Environment, newest: Path, tmp_path: Path) -> None:
    verified = board.edgekit("verify", newest)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    np.save(tmp_path / "image.npy", np.random.default_rng(5).integers(0, 256, (90, 120, 3), np.uint8))
    done = board.edgekit("run", newest, tmp_path / "image.npy", "--json", "--conf", "0")
    assert json.loads(done.stdout)["results"][0]["detections"]


def test_a_bare_model_that_is_too_new_is_refused_in_one_sentence(board: Environment, tmp_path: Path) -> None:
    toys.save(toys.detector(ir=14), tmp_path / "new.onnx")
    np.save(tmp_path / "image.npy", np.zeros((8, 8, 3), np.uint8))
    done = board.edgekit("run", tmp_path / "new.onnx", tmp_path / "image.npy")
    assert done.returncode == 5
    assert "too new for onnxruntime" in done.stderr
    assert len(done.stderr.splitlines()) == 2
