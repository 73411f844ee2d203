"""One onnxruntime session: providers, options, threads."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from edgekit.errors import DependencyError, ProviderError, UsageError
from edgekit.runtime import failures, plugins, session_keys
from edgekit.runtime.providers import CPU, known
from edgekit.runtime.request import Request

Optimization = Literal["disable", "basic", "extended", "all"]


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
        raise DependencyError(f"onnxruntime is installed and cannot load: {e}", hint=failures.DOCTOR) from e
    if not hasattr(ort, "InferenceSession"):
        # what two distributions leave behind when one of them is removed
        raise DependencyError("onnxruntime is installed in part only", hint="pip install --force-reinstall onnxruntime")
    return ort


def create(
    model: Path | bytes,
    requests: Sequence[Request] = (Request(),),
    *,
    session_options: Mapping[str, str] | Any = None,
    optimization: Optimization = "all",
    threads: int | None = None,
    name: str | None = None,
    profile: Path | None = None,
) -> Any:
    """An `InferenceSession` that never falls back to another provider by itself.

    Args:
        model: a file, or the bytes of one (without external data).
        requests: the providers, the first one first. The CPU's always comes last.
        session_options: config entries, or an `onnxruntime.SessionOptions` that is taken as it is.
        threads: of one operator; as many as this process may use if not given.
        name: what errors call the model, where it is bytes.
        profile: a path without ending: onnxruntime writes what it runs to a file whose name begins so.

    Raises:
        ProviderError: a provider is not in this onnxruntime, did not load, or refused the model.
        ModelError: the model is damaged or newer than this onnxruntime.
        UsageError: a session option is unknown.
    """
    ort = onnxruntime()
    options = _options(ort, session_options, optimization, threads)
    if profile is not None:
        options.enable_profiling, options.profile_file_prefix = True, str(profile)
    arguments = _arguments(ort, options, requests)
    first = requests[0].provider
    try:
        session = ort.InferenceSession(model if isinstance(model, bytes) else str(model), options, **arguments)
    except Exception as e:  # onnxruntime raises plain ones
        called = name or (str(model) if isinstance(model, Path) else "the model")
        raise failures.explain(e, called, version=ort.__version__, provider=first) from e
    for request in requests:
        if request.provider not in session.get_providers():
            raise failures.unloaded(ort, request.provider)
    return session


def compile_to(
    target: Path, model: Path, requests: Sequence[Request], session_options: Any = None, threads: int | None = None
) -> None:
    """Write a model whose nodes are the plugin's compiled programs (EPContext).

    Raises:
        ProviderError: the provider compiles nothing of it, or this onnxruntime cannot ask it to (before 1.24).
    """
    ort = onnxruntime()
    if not hasattr(ort, "ModelCompiler"):
        raise ProviderError(f"onnxruntime {ort.__version__} has no ModelCompiler")
    options = _options(ort, session_options, "all", threads)
    _arguments(ort, options, requests)
    # without the flag, a model of which nothing is compiled is written as it was (facts: toolchains, "Failures")
    flags = ort.OrtCompileApiFlags.ERROR_IF_NO_NODES_COMPILED
    try:
        ort.ModelCompiler(options, str(model), flags=flags).compile_to_file(str(target))
    except Exception as e:  # onnxruntime raises plain ones
        raise failures.explain(e, str(model), version=ort.__version__, provider=requests[0].provider) from e


def usable_processors() -> int:
    """As many as the processors that this process may use: onnxruntime counts all, also in a container."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def _options(ort: Any, given: Any, optimization: Optimization, threads: int | None) -> Any:
    if isinstance(given, ort.SessionOptions):
        return given
    session_keys.check(given or {})
    options = ort.SessionOptions()
    options.log_severity_level = 4  # what fails is raised too, and said once; the rest is for the model's exporter
    options.intra_op_num_threads = threads or usable_processors()
    options.graph_optimization_level = _level(ort, optimization)
    for key, value in {**session_keys.DEFAULTS, **(given or {})}.items():
        options.add_session_config_entry(key, value)
    return options


def _arguments(ort: Any, options: Any, requests: Sequence[Request]) -> dict[str, Any]:
    """How the providers are given: a plugin's by its device, the others by name."""
    available = ort.get_available_providers()
    for request in requests:
        if request.plugin is None:
            if request.provider not in available:
                raise failures.absent(ort, request.provider)
            _preload(ort, request.provider)
    plugged = [request for request in requests if request.plugin is not None]
    if not plugged:
        return {"providers": [request.built_in for request in requests], "enable_fallback": 0}
    if len([request for request in requests if request.provider != CPU]) > 1:
        raise UsageError(f"{plugged[0].provider} is a plugin: it runs beside the CPU's provider and no other")
    options.add_provider_for_devices([plugins.choose(ort, plugged[0])], dict(plugged[0].options))
    return {}


def _preload(ort: Any, provider: str) -> None:
    """Load the CUDA libraries that pip installed beside onnxruntime, where it can (1.21 and newer)."""
    table = known(provider)
    if table is not None and table.preload_dlls and hasattr(ort, "preload_dlls"):
        with contextlib.redirect_stdout(io.StringIO()):  # it prints what it does not find
            ort.preload_dlls()


def _level(ort: Any, optimization: Optimization) -> Any:
    levels = ort.GraphOptimizationLevel
    return {
        "disable": levels.ORT_DISABLE_ALL,
        "basic": levels.ORT_ENABLE_BASIC,
        "extended": levels.ORT_ENABLE_EXTENDED,
        "all": levels.ORT_ENABLE_ALL,
    }[optimization]
