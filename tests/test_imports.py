"""What is loaded, and when: the command line and the board must stay light."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"numpy", "onnxruntime", "onnx", "cv2", "PIL", "yaml", "torch", "rich"}


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after running `code`."""
    code += "\nimport sys, json; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_edgekit_loads_nothing_heavy() -> None:
    assert not loaded("import edgekit") & (HEAVY | {"click", "platformdirs"})


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["package", "--help"], ["targets", "--help"]]
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    assert not loaded(f"from edgekit import cli\ncli.execute({arguments!r})") & HEAVY


def test_the_runtime_loads_numpy_and_onnxruntime_and_nothing_else() -> None:
    ours = loaded("import edgekit.runtime")
    theirs = loaded("import numpy, onnxruntime")
    standard = set(sys.stdlib_module_names)
    assert ours - theirs - standard == {"edgekit"}
