"""The host side: from a trained model to a model directory. Needs the extra `host`."""

from __future__ import annotations

from edgekit.errors import DependencyError

try:
    import onnx  # noqa: F401
except ImportError as e:
    raise DependencyError("packaging needs onnx, which is not installed", hint='pip install "edgekit[host]"') from e

from edgekit.packaging.build import Packaged, package

__all__ = ["Packaged", "package"]
