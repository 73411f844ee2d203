"""What tests share: the zoo of real models, which may be elsewhere or missing; the command line; a small package."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from edgekit import cli

ROOT = Path(__file__).resolve().parent.parent
ZOO = Path(os.environ.get("EDGEKIT_ZOO") or ROOT.parent / "shared" / "zoo").resolve()

# no test depends on how fast the machine is
settings.register_profile("edgekit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("edgekit")


@pytest.fixture(scope="session")
def zoo() -> Path:
    """The folder of real models and labelled images."""
    if not (ZOO / "models").is_dir():
        pytest.skip("the zoo of real models is not here: set EDGEKIT_ZOO to its folder")
    return ZOO


@pytest.fixture(scope="session")
def toy_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small package for this machine's CPU; its detections are noise. Copy it to change it."""
    from edgekit.packaging import package
    from tests import toys

    folder = tmp_path_factory.mktemp("toy")
    model = toys.save(toys.detector(metadata=toys.METADATA), folder / "toy.onnx")
    return package(model, ["cpu"], output=folder / "toy-cpu").path


@pytest.fixture(autouse=True, scope="session")
def _cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["EDGEKIT_CACHE_DIR"] = str(tmp_path_factory.mktemp("cache"))


@dataclass(frozen=True)
class CommandResult:
    exit_code: int
    stdout: str
    stderr: str


def run_edgekit(*arguments: object) -> CommandResult:
    """What `edgekit ARGUMENTS` prints, and its exit code."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = cli.execute([str(a) for a in arguments])
    return CommandResult(code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="session")
def edgekit() -> Callable[..., CommandResult]:
    return run_edgekit
