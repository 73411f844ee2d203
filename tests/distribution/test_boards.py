"""Packages made here, on the onnxruntime releases that boards carry."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

import edgekit
from edgekit.packaging import package
from edgekit.runtime import selection
from tests import toys
from tests.conftest import ROOT
from tests.distribution.conftest import Environment

SHAPES = ROOT / "examples" / "shapes" / "shapes.onnx"
SCENE = ROOT / "examples" / "shapes" / "scene.jpg"
pytestmark = pytest.mark.boards  # installs onnxruntime releases: minutes, and the package index

# 1.17.1 is the oldest that edgekit supports, 1.22.0 and 1.24.3 are on NXP's images
RELEASES = {
    "1.17.1": ("onnxruntime==1.17.1", "numpy<2"),
    "1.22.0": ("onnxruntime==1.22.0",),
    "1.24.3": ("onnxruntime==1.24.3",),
    "the newest": ("onnxruntime",),
}


@pytest.fixture(scope="module", params=list(RELEASES))
def board(request: pytest.FixtureRequest, environment: Callable[..., Environment]) -> Environment:
    return environment("vision", *RELEASES[request.param])


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
    data = json.loads(done.stdout)
    assert data["results"][0]["detections"]
    here = board.python("-c", "import onnxruntime; print(onnxruntime.__version__)").stdout.strip()
    how = "recorded" if selection.satisfies(here, ">=1.24") else "profiled"
    assert (data["placement"]["share"], data["placement"]["how"]) == (1.0, how)


IMAGES = {"1.17.1": "nxp-imx8mp@6.6.36", "1.22.0": "nxp-imx8mp@6.12", "1.24.3": "nxp-imx8mp@6.18.20"}


@pytest.fixture(scope="module", params=list(IMAGES))
def for_image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An onnxruntime release, and a package for the image that carries it, of a model newer than the oldest reads."""
    folder = tmp_path_factory.mktemp("image")
    model = onnx.version_converter.convert_version(onnx.load(SHAPES), 22)
    model.ir_version = 10
    made = package(
        toys.save(model, folder / "shapes.onnx"), [IMAGES[request.param]], output=folder / "p", precision="int8"
    )
    return request.param, made.path


def test_a_package_for_an_image_runs_from_its_onnxruntime_on_and_is_refused_before(
    board: Environment, for_image: tuple[str, Path]
) -> None:
    """VSINPU is in no wheel: the file for the NPU runs on the CPU provider of that release, by the generic variant."""
    release, made = for_image
    here = board.python("-c", "import onnxruntime; print(onnxruntime.__version__)").stdout.strip()
    done = board.edgekit("run", made, SCENE, "--json")
    if not selection.satisfies(here, f">={release}"):
        assert done.returncode == 5
        assert re.search(rf"needs onnxruntime >={release} \(opset \d+, IR \d+\), this is {here}", done.stderr), (
            done.stderr
        )
        return
    assert board.edgekit("verify", made).returncode == 0
    there = json.loads(done.stdout)["results"][0]["detections"]
    expected = edgekit.load(made)(SCENE).to_dict()["detections"]
    assert len(expected) >= 5
    assert [d["class_name"] for d in there] == [d["class_name"] for d in expected]
    for a, b in zip(there, expected, strict=True):
        assert a["box"] == pytest.approx(b["box"], abs=1.5)


def test_a_bare_model_that_is_too_new_is_refused_in_one_sentence(board: Environment, tmp_path: Path) -> None:
    model = toys.detector(ir=14)
    model.opset_import[0].version = 99  # newer than any of these
    toys.save(model, tmp_path / "new.onnx")
    np.save(tmp_path / "image.npy", np.zeros((8, 8, 3), np.uint8))
    done = board.edgekit("run", tmp_path / "new.onnx", tmp_path / "image.npy")
    assert done.returncode == 5
    assert "too new for onnxruntime" in done.stderr
    assert len(done.stderr.splitlines()) == 2
