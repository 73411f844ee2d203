"""What tests share: the zoo of real models, which may be elsewhere or missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ZOO = Path(os.environ.get("EDGEKIT_ZOO") or ROOT.parent / "shared" / "zoo").resolve()


@pytest.fixture(scope="session")
def zoo() -> Path:
    """The folder of real models and labelled images."""
    if not (ZOO / "models").is_dir():
        pytest.skip("the zoo of real models is not here: set EDGEKIT_ZOO to its folder")
    return ZOO
