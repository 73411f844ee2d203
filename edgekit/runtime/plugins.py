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
from typing import TYPE_CHECKING, Any

from edgekit.errors import ProviderError

if TYPE_CHECKING:
    from edgekit.runtime.request import Request

REGISTER = "register_execution_provider_library"  # onnxruntime 1.23 and newer
# what hides devices from a process: the first thing to look at where one is missing
VISIBILITY = {
    "MIGraphXExecutionProvider": "HIP_VISIBLE_DEVICES",
    "CUDAExecutionProvider": "CUDA_VISIBLE_DEVICES",
}


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
    """The provider's devices; its library is registered if nobody has in this process.

    Raises:
        ProviderError: the package is missing, its library or one that it needs cannot load, or it is no plugin.
    """
    if not hasattr(ort, REGISTER):
        raise ProviderError(f"{provider} is a plugin, which onnxruntime {ort.__version__} does not take: 1.23 does")
    if not (found := _devices(ort, provider)):
        _register(ort, provider, plugin)
        found = _devices(ort, provider)
    return found


def choose(ort: Any, request: Request) -> Any:
    """The device that is asked for.

    Raises:
        ProviderError: it is not there; the message says which are.
    """
    assert request.plugin is not None
    found = devices(ort, request.provider, request.plugin)
    fitting = [d for d in found if not request.hardware or _hardware(d) == request.hardware]
    index = request.index or 0
    if index < len(fitting):
        return fitting[index]
    seen = ", ".join(_hardware(device) for device in found) or "none"
    wanted = " ".join(filter(None, [request.hardware, "device", str(index)]))
    raise ProviderError(f"{request.provider} has no {wanted} here: it sees {seen}", hint=visibility(request.provider))


def visibility(provider: str) -> str | None:
    """The variable that hides devices of this provider, where it is set."""
    name = VISIBILITY.get(provider)
    return f"{name}={os.environ[name]} hides devices: unset it" if name and name in os.environ else None


def _hardware(device: Any) -> str:
    """cpu, gpu or npu."""
    return str(device.device.type).rpartition(".")[2].lower()


def _devices(ort: Any, provider: str) -> list[Any]:
    return [device for device in ort.get_ep_devices() if device.ep_name == provider]


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
            raise ProviderError(f"{provider} needs {library}, which cannot load: {e}", hint="edgekit doctor") from e
    try:
        ort.register_execution_provider_library(provider, str(module.get_library_path()))
    except Exception as e:  # onnxruntime raises plain ones
        raise _explained(e, provider) from e


def _explained(failure: Exception, provider: str) -> ProviderError:
    text = " ".join(str(failure).split())
    if "CreateEpFactories" in text:
        return ProviderError(f"the library of {provider} is no plugin for onnxruntime: it has no CreateEpFactories")
    if "already registered" in text:
        return ProviderError(f"another library is registered as {provider} in this process, and it has no device here")
    if "cannot open shared object file" in text:
        missing = text.split("cannot open shared object file")[0].rstrip(": ").rsplit(" ", 1)[-1].rstrip(":")
        return ProviderError(f"{provider} cannot load: {missing} is missing", hint="edgekit doctor")
    return ProviderError(f"{provider} cannot be registered: {text[:200]}")
