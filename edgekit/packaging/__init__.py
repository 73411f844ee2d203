"""The host side: from a trained model to a model directory. Needs the extra `host`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from edgekit.errors import DependencyError

try:
    import onnx  # noqa: F401
except ImportError as e:
    raise DependencyError("packaging needs onnx, which is not installed", hint='pip install "edgekit[host]"') from e

if TYPE_CHECKING:
    from edgekit.packaging.build import Packaged, package

__all__ = ["Packaged", "package"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'edgekit.packaging' has no attribute {name!r}")
    from edgekit.packaging import build

    return getattr(build, name)
