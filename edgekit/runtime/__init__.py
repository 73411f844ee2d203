"""The board side: numpy and onnxruntime, and nothing else at import.

Its names are loaded on first use: profiles are checked against `runtime.providers`, which needs neither of the two.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edgekit.runtime.loading import load
    from edgekit.runtime.model import Model
    from edgekit.runtime.result import Result

__all__ = ["Model", "Result", "load"]
_HOMES = {"load": "loading", "Model": "model", "Result": "result"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
