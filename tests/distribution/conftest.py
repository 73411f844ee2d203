"""A wheel built from this checkout, and environments to install it in."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT


@dataclass(frozen=True)
class Environment:
    """A virtual environment of its own, used from a folder that is not the checkout."""

    root: Path

    def python(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run its Python."""
        return self._run("python", *arguments, **variables)

    def edgekit(self, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run its `edgekit`."""
        return self._run("edgekit", *arguments, **variables)

    def _run(self, program: str, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_", "COVERAGE"))}
        return subprocess.run(
            [str(self.root / "bin" / program), *(str(a) for a in arguments)],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.root,
            env={**clean, **variables},
        )


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def environment(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Environment]:
    """Makes an environment with the wheel, an extra of it, and other requirements."""

    def make(extra: str = "", *requirements: str) -> Environment:
        root = tmp_path_factory.mktemp("environment")
        venv.create(root, with_pip=True)
        wheel = next(dist.glob("*.whl"))
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        subprocess.run([str(root / "bin" / "pip"), "install", "--quiet", wanted, *requirements], check=True)
        return Environment(root)

    return make


NO_DEVICE = "OpenVINO's plugin gives no device here: the processor is not Intel's"


@pytest.fixture(scope="session")
def openvino(environment: Callable[..., Environment]) -> Environment:
    """One with OpenVINO's plugin, which gives Intel's devices alone: on another processor there is nothing to try."""
    # the list of operators was measured with this release
    made = environment("vision", "onnxruntime==1.32.0", "onnxruntime-ep-openvino==1.8.1")
    script = """
import onnxruntime as ort, onnxruntime_ep_openvino as plugin
ort.register_execution_provider_library("OpenVINOExecutionProvider", plugin.get_library_path())
print([d for d in ort.get_ep_devices() if d.ep_name == "OpenVINOExecutionProvider"])
"""
    done = made.python("-c", script)
    assert done.returncode == 0, done.stderr
    if done.stdout.strip() == "[]":
        pytest.skip(NO_DEVICE)
    return made
