"""A package of somebody else's that ships a target: an entry point and YAML, no Python."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from tests.conftest import ROOT
from tests.distribution.conftest import Environment

pytestmark = pytest.mark.wheel  # makes an environment, with the package index

ACME = ROOT / "examples" / "acme-board"
SHAPES = ROOT / "examples" / "shapes" / "shapes.onnx"


@pytest.fixture(scope="module")
def machine(environment: Callable[..., Environment]) -> Environment:
    made = environment("host")
    subprocess.run([str(made.root / "bin" / "pip"), "install", "--quiet", str(ACME)], check=True)
    return made


def test_it_holds_no_python() -> None:
    assert [path.name for path in ACME.rglob("*.py")] == []


def test_its_board_is_a_target_like_the_others(machine: Environment) -> None:
    listed = json.loads(machine.edgekit("targets", "ls", "--json").stdout)
    assert "acme-x1" in [t["name"] for t in listed["targets"]]
    assert (listed["problems"], listed["warnings"]) == ([], [])
    shown = machine.edgekit("targets", "show", "acme-x1").stdout
    assert "provider.name: VSINPUExecutionProvider" in shown
    assert "Acme X1 data sheet" in shown


def test_models_are_checked_and_packaged_for_it(machine: Environment) -> None:
    checked = machine.edgekit("check", SHAPES, "-t", "acme-x1@2026.1", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["targets"][0]["coverage"]["macs"]["share"] == 1
    made = machine.edgekit("package", SHAPES, "-t", "acme-x1", "--precision", "int8", "-o", "shapes-acme")
    assert made.returncode == 0, made.stderr
    assert "is expected to take 100.0% of the multiply-accumulates" in made.stdout
    assert machine.edgekit("verify", "shapes-acme").returncode == 0
