"""Providers that come as Python packages of their own: registered once in a process, and given by their devices.

Naming one in `providers=[...]` runs on the CPU without a word (facts: onnxruntime-ep-openvino 1.8.1 with 1.32).
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from edgekit.errors import ProviderError

REGISTER = "register_execution_provider_library"  # onnxruntime 1.23 and newer
# what hides devices from a process: the first thing to look at where one is missing
VISIBILITY = {
    "MIGraphXExecutionProvider": "HIP_VISIBLE_DEVICES",
    "CUDAExecutionProvider": "CUDA_VISIBLE_DEVICES",
}
_registered: set[str] = set()


@dataclass(frozen=True)
class Plugin:
    """Where a provider comes from."""

    module: str
    preload: tuple[str, ...] = ()  # shared libraries that it needs and does not load itself

    @property
    def installed(self) -> bool:
        """Whether its package is here; nothing of it is run."""
        return importlib.util.find_spec(self.module) is not None


def devices(ort: Any, provider: str, plugin: Plugin) -> Sequence[Any]:
    """The provider's devices, once its library is registered.

    Raises:
        ProviderError: the package is missing, its library or one that it needs cannot load, or it is no plugin.
    """
    if not hasattr(ort, REGISTER):
        raise ProviderError(f"{provider} is a plugin, which onnxruntime {ort.__version__} does not take: 1.23 does")
    if provider not in _registered:
        _register(ort, provider, plugin)
        _registered.add(provider)
    return [device for device in ort.get_ep_devices() if device.ep_name == provider]


def choose(ort: Any, provider: str, plugin: Plugin, index: int = 0) -> Any:
    """One device, by its number.

    Raises:
        ProviderError: it is not there; the message says how many are.
    """
    found = devices(ort, provider, plugin)
    if index < len(found):
        return found[index]
    hides = VISIBILITY.get(provider)
    hint = f"{hides}={os.environ[hides]} hides devices" if hides and hides in os.environ else None
    count = f"{len(found)} device{'s' * (len(found) != 1)}"
    raise ProviderError(f"{provider} has no device {index}: it sees {count} here", hint=hint)


def _register(ort: Any, provider: str, plugin: Plugin) -> None:
    try:
        module = importlib.import_module(plugin.module)
    except ImportError as e:
        raise ProviderError(
            f"{provider} needs {plugin.module}, which is not installed or cannot load: {e}",
            hint=f"pip install {plugin.module.replace('_', '-')}",
        ) from e
    for library in plugin.preload:
        try:
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
        except OSError as e:
            raise ProviderError(f"{provider} needs {library}: {e}", hint="edgekit doctor") from e
    try:
        ort.register_execution_provider_library(provider, str(module.get_library_path()))
    except Exception as e:  # onnxruntime raises plain ones
        raise _explained(e, provider) from e


def _explained(failure: Exception, provider: str) -> ProviderError:
    text = " ".join(str(failure).split())
    if "CreateEpFactories" in text:
        return ProviderError(f"the library of {provider} is no plugin for onnxruntime: it has no CreateEpFactories")
    if "already registered" in text:
        return ProviderError(f"{provider} is registered already in this process, by somebody else")
    if "cannot open shared object file" in text:
        missing = text.split("cannot open shared object file")[0].rstrip(": ").rsplit(" ", 1)[-1].rstrip(":")
        return ProviderError(f"{provider} cannot load: {missing} is missing", hint="edgekit doctor")
    return ProviderError(f"{provider} cannot be registered: {text[:200]}")
