"""One onnxruntime session: options, threads, and what its errors mean."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from edgekit.errors import DependencyError, EdgekitError, ModelError, ProviderError, UsageError
from edgekit.modelfile import FETCH_AGAIN
from edgekit.runtime import plugins
from edgekit.runtime.plugins import Plugin
from edgekit.runtime.providers import CPU

Optimization = Literal["disable", "basic", "extended", "all"]
# onnxruntime accepts mistyped keys in silence (facts: toolchains, "Failures"): only these may come from a package
SESSION_KEYS = frozenset(
    {
        "session.intra_op.allow_spinning",
        "session.inter_op.allow_spinning",
        "session.set_denormal_as_zero",
        "session.x64quantprecision",
        "session.dynamic_block_base",
        "mlas.disable_kleidiai",
        "optimization.enable_gelu_approximation",
        "optimization.disable_specified_optimizers",
        "memory.enable_memory_arena_shrinkage",
    }
)
SPINNING = "session.intra_op.allow_spinning"
SENTENCE = 300  # characters of onnxruntime's own words in one of ours
RECORD_PLACEMENT = "session.record_ep_graph_assignment_info"


def onnxruntime() -> Any:
    """The onnxruntime module.

    Raises:
        DependencyError: it is not installed, or cannot load.
    """
    try:
        import onnxruntime as ort
    except ImportError as e:
        if isinstance(e, ModuleNotFoundError) and e.name == "onnxruntime":
            raise DependencyError("onnxruntime is not installed", hint='pip install "edgekit[cpu]"') from e
        raise DependencyError(
            f"onnxruntime is installed and cannot load: {e}", hint='pip install --force-reinstall "edgekit[cpu]"'
        ) from e
    if not hasattr(ort, "InferenceSession"):
        # what two distributions leave behind when one of them is removed
        raise DependencyError("onnxruntime is installed in part only", hint="pip install --force-reinstall onnxruntime")
    return ort


def create(
    model: Path | bytes,
    *,
    provider: str = CPU,
    plugin: Plugin | None = None,
    device: int = 0,
    provider_options: Mapping[str, str] | None = None,
    session_options: Mapping[str, str] | None = None,
    optimization: Optimization = "all",
    threads: int | None = None,
    name: str | None = None,
) -> Any:
    """An `InferenceSession` that never falls back to another provider by itself.

    Args:
        model: a file, or the bytes of one (without external data).
        plugin: where the provider comes from, if it is not built into onnxruntime.
        device: which of the provider's devices.
        threads: of one operator; as many as this process may use if not given.
        name: what errors call the model, where it is bytes.

    Raises:
        ProviderError: the provider is not in this onnxruntime, or refused the model.
        ModelError: the model is damaged or newer than this onnxruntime.
    """
    ort = onnxruntime()
    available = ort.get_available_providers()
    if plugin is None and provider not in available:
        raise ProviderError(f"{provider} is not in this onnxruntime {ort.__version__} (it has {', '.join(available)})")
    options = ort.SessionOptions()
    options.log_severity_level = 4  # what fails is raised too, and said once; the rest is for the model's exporter
    options.intra_op_num_threads = threads or usable_processors()
    options.graph_optimization_level = _level(ort, optimization)
    for key, value in {SPINNING: "0", **(session_options or {})}.items():
        if key not in SESSION_KEYS:
            raise UsageError(f"onnxruntime has no session option {key!r} that a package may set")
        options.add_session_config_entry(key, value)
    options.add_session_config_entry(RECORD_PLACEMENT, "1")  # ignored before onnxruntime 1.24
    source = model if isinstance(model, bytes) else str(model)
    chosen: dict[str, Any] = {"providers": [(provider, dict(provider_options or {}))], "enable_fallback": 0}
    if plugin is not None:
        options.add_provider_for_devices([plugins.choose(ort, provider, plugin, device)], dict(provider_options or {}))
        chosen = {}
    try:
        session = ort.InferenceSession(source, options, **chosen)
    except Exception as e:  # onnxruntime raises plain ones
        raise explain(e, name or (str(model) if isinstance(model, Path) else "the model"), provider) from e
    if provider not in session.get_providers():
        raise ProviderError(_unloaded(ort, provider), hint="edgekit doctor")
    return session


def _unloaded(ort: Any, provider: str) -> str:
    """Why a provider that is listed did not load: onnxruntime goes on without it and says so in its log only."""
    short = provider.removesuffix("ExecutionProvider").lower()
    library = Path(ort.__file__).parent / "capi" / f"libonnxruntime_providers_{short}.so"
    if library.is_file():
        try:
            ctypes.CDLL(str(library))
        except OSError as e:
            missing = str(e).split(":")[0]
            return f"{provider} is listed but cannot load: {missing} is missing"
    return f"{provider} is listed but did not load"


def usable_processors() -> int:
    """As many as the processors that this process may use: onnxruntime counts all, also in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def explain(failure: Exception, model: str, provider: str = CPU) -> EdgekitError:
    """Tell onnxruntime's plain exceptions apart by what they mean."""
    text = _message(failure)
    said = text[:SENTENCE]
    version = onnxruntime().__version__
    if provider != CPU and (missing := re.search(r"(\S+?): cannot open shared object file", text)):
        return ProviderError(f"{provider} cannot load: {missing[1]} is missing", hint="edgekit doctor")
    if generated := re.search(r"EPContext node generated by '(.*?)'", text):
        return ProviderError(f"{model} was compiled for {generated[1]}, which does not run here")
    if too_new := _too_new(text):
        return ProviderError(
            f"{model} is too new for onnxruntime {version}: {too_new}",
            hint="package it again for this board: edgekit package MODEL -t TARGET",
        )
    if "Protobuf parsing failed" in text or "No graph was found" in text:
        return ModelError(f"{model} is truncated or damaged: {FETCH_AGAIN}")
    if missing := re.search(r"External data path does not exist: \"(.*)\"", text):
        name = Path(missing[1]).name
        return ModelError(f"{model}: its external data {name} is missing", hint=f"put {name} beside the model")
    if "external data" in text.lower() or "out of bounds or can not be read" in str(failure):
        return ModelError(f"{model}: its external data cannot be read, it may be truncated: {FETCH_AGAIN}")
    if operator := re.search(r"(\S*):(\w+)\(-?\d+\) is not a registered function/op", text):
        domain, name = operator.groups()
        return ProviderError(
            f"{model} has the operator {name} of {domain or 'ai.onnx'}, which onnxruntime {version} lacks"
        )
    if "NOT_IMPLEMENTED" in str(failure):
        return ProviderError(f"onnxruntime {version} cannot run {model}: {said}")
    if "NO_SUCHFILE" in str(failure):
        return UsageError(f"{model} does not exist")
    if provider != CPU:
        return ProviderError(f"{provider} refuses {model}: {said}")
    return ModelError(f"onnxruntime {version} refuses {model}: {said}")


def explain_run(failure: Exception, model: str) -> EdgekitError:
    """The same for a failure while running: mostly an input of another shape or type."""
    text = _message(failure)[:SENTENCE]
    if "INVALID_ARGUMENT" in str(failure) or isinstance(failure, ValueError):
        return UsageError(f"{model} does not take this input: {text}")
    return ProviderError(f"{model} failed while running: {text}")


def _too_new(text: str) -> str | None:
    """What of the model this onnxruntime cannot read, if that is what it says."""
    if opsets := re.search(r"Opset (\d+) is under development.*? till opset (\d+)", text):
        return f"it has opset {opsets[1]}, which is read up to {opsets[2]}"
    if irs := re.search(r"IR version: (\d+), max supported IR version: (\d+)", text):
        return f"it has IR {irs[1]}, which is read up to {irs[2]}"
    return None


def _message(failure: Exception) -> str:
    """What onnxruntime says behind its error code and the names of its functions, short enough for a sentence."""
    text = " ".join(str(failure).split())
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"^Load model from .*? failed:|Fatal error: ", "", text)
    return re.sub(r"^\S+\.(?:h|cc|cpp):\d+ .*?\)(?: const)? (?=[A-Z])", "", text).strip()


def _level(ort: Any, optimization: Optimization) -> Any:
    levels = ort.GraphOptimizationLevel
    return {
        "disable": levels.ORT_DISABLE_ALL,
        "basic": levels.ORT_ENABLE_BASIC,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "all": levels.ORT_ENABLE_ALL,
    }[optimization]
