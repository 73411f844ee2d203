"""The board side: numpy and onnxruntime, and nothing else at import."""

from edgekit.runtime.loading import load
from edgekit.runtime.model import Model
from edgekit.runtime.result import Result

__all__ = ["Model", "Result", "load"]
