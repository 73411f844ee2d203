"""edgekit takes a trained ONNX model to an edge device and proves that it runs there.

The public names are loaded on first use, so that `import edgekit` needs neither numpy nor onnxruntime.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_NAMES = {
    "load": "edgekit.runtime",
    "Model": "edgekit.runtime.model",
    "Result": "edgekit.runtime.result",
    "package": "edgekit.packaging",
    "CompileCache": "edgekit.cache.store",
    "EdgekitError": "edgekit.errors",
}
__all__ = ["CompileCache", "EdgekitError", "Model", "Result", "__version__", "load", "package"]

if TYPE_CHECKING:
    from edgekit.cache.store import CompileCache
    from edgekit.errors import EdgekitError
    from edgekit.packaging import package
    from edgekit.runtime import load
    from edgekit.runtime.model import Model
    from edgekit.runtime.result import Result


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'edgekit' has no attribute {name!r}")
    return getattr(importlib.import_module(_NAMES[name]), name)
