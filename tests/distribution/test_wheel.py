from __future__ import annotations

import json
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.distribution.conftest import Environment

pytestmark = pytest.mark.wheel  # builds a wheel and installs it: minutes, and the package index


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("image") / "image.npy"
    np.save(path, np.random.default_rng(5).integers(0, 256, (90, 120, 3), np.uint8))
    return path


@pytest.fixture(scope="module")
def bare(environment: Callable[..., Environment]) -> Environment:
    return environment()


@pytest.fixture(scope="module")
def board(environment: Callable[..., Environment]) -> Environment:
    return environment("cpu")


def test_profiles_are_in_the_wheel_and_in_the_sdist(dist: Path) -> None:
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        assert "edgekit/targets/cpu-arm64.yaml" in wheel.namelist()
        assert not [n for n in wheel.namelist() if n.startswith(("tests", "examples"))]
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        assert any(n.endswith("/targets/cpu-arm64.yaml") for n in sdist.getnames())


def test_without_onnxruntime_the_line_to_type_is_given(bare: Environment, toy_package: Path, image: Path) -> None:
    done = bare.edgekit("run", toy_package, image)
    assert done.returncode == 5
    assert done.stderr == 'error: onnxruntime is not installed\n  try: pip install "edgekit[cpu]"\n'


def test_without_onnx_the_line_to_type_is_given(bare: Environment) -> None:
    done = bare.edgekit("package", "m.onnx", "-t", "cpu")
    assert done.returncode == 5
    assert 'pip install "edgekit[host]"' in done.stderr


def test_targets_are_found_from_any_folder(bare: Environment) -> None:
    done = bare.edgekit("targets", "ls", "--json")
    assert "cpu-x86_64" in done.stdout


def test_a_board_runs_an_array_with_numpy_and_onnxruntime(board: Environment, toy_package: Path, image: Path) -> None:
    done = board.edgekit("run", toy_package, image, "--json", "--conf", "0")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["shape"] == [90, 120]
    assert board.edgekit("verify", toy_package).returncode == 0


def test_the_runtime_alone_needs_neither_click_nor_yaml(board: Environment, toy_package: Path, image: Path) -> None:
    blocked = "import sys; [sys.modules.__setitem__(m, None) for m in ('click', 'yaml', 'platformdirs', 'cv2', 'PIL')];"
    code = f"{blocked} from edgekit.runtime.__main__ import main; sys.exit(main(sys.argv[1:]))"
    done = board.python("-c", code, toy_package, image)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["task"] == "detect"
    assert board.python("-m", "edgekit.runtime", toy_package, image).stdout.startswith('{"source"')


def test_an_image_without_a_decoder_names_the_extra(board: Environment, toy_package: Path, tmp_path: Path) -> None:
    import cv2

    cv2.imwrite(str(tmp_path / "photo.jpg"), np.zeros((8, 8, 3), np.uint8))
    done = board.edgekit("run", toy_package, tmp_path / "photo.jpg")
    assert done.returncode == 5
    assert "edgekit[vision]" in done.stderr


def test_the_shell_completes_commands_and_targets(bare: Environment) -> None:
    words = {"_EDGEKIT_COMPLETE": "bash_complete", "COMP_WORDS": "edgekit package m.onnx -t cpu-a", "COMP_CWORD": "4"}
    assert "cpu-arm64" in bare.edgekit(**words).stdout
    assert os.environ.get("_EDGEKIT_COMPLETE") is None
