"""The command line, in this process."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from edgekit import cli


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
