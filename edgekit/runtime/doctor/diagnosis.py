"""All of it together: a verdict for each target, and what to install."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from edgekit import target as targets
from edgekit.runtime.doctor import distributions, machine, probe
from edgekit.runtime.doctor.distributions import Distribution
from edgekit.runtime.doctor.machine import Driver
from edgekit.runtime.providers import CPU, known
from edgekit.runtime.selection import satisfies
from edgekit.target import Target


@dataclass(frozen=True)
class Verdict:
    """Whether one target can run here."""

    target: str
    provider: str
    reason: str | None  # why not; none if it can
    install: str  # what brings its provider


@dataclass(frozen=True)
class Diagnosis:
    """What was found."""

    architecture: str
    distributions: tuple[Distribution, ...]
    onnxruntime: str | None  # its version
    problems: tuple[str, ...]  # of the installation as a whole
    providers: Mapping[str, str | None]  # available ones: what is wrong, or none
    plugins: Mapping[str, Mapping[str, Any]]  # by module: provider, wrong, devices
    compiled: tuple[str, ...]  # names that onnxruntime knows, in any of its builds
    features: tuple[str, ...]
    int8: str
    drivers: tuple[Driver, ...]
    cache: str
    verdicts: tuple[Verdict, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def diagnose(name: str | None = None) -> Diagnosis:
    """Look at this machine.

    Args:
        name: of a target; all of them if not given.

    Raises:
        TargetError: there is no such target.
    """
    chosen = [targets.load(name)] if name is not None else targets.find_all()
    found, answer, architecture = distributions.installed(), probe.ask(), platform.machine()
    features = machine.features()
    cache, writable = machine.cache()
    problems = [answer.get("error"), distributions.accident(found)]
    if not writable:
        problems.append(f"the cache folder {cache}: set EDGEKIT_CACHE_DIR to one that can")
    return Diagnosis(
        architecture=architecture,
        distributions=tuple(found),
        onnxruntime=answer.get("version"),
        problems=tuple(problem for problem in problems if problem),
        providers=answer.get("providers", {}),
        plugins=answer.get("plugins", {}),
        compiled=tuple(answer.get("compiled", ())),
        features=features,
        int8=machine.int8(features, architecture),
        drivers=tuple(machine.drivers()),
        cache=cache,
        verdicts=tuple(verdict(one, answer, architecture) for one in chosen),
    )


def verdict(target: Target, answer: Mapping[str, Any], architecture: str) -> Verdict:
    """Whether a target can run here, from what the probe said."""
    provider, plugin = target.provider.name, target.provider.plugin
    form = plugin.module if plugin and not _built_in(target, answer) else ""
    table = known(provider, form)
    install = table.install if table else ", ".join(target.links)
    if answer.get("error"):
        cpu = known(CPU)
        return Verdict(target.name, provider, answer["error"], cpu.install if cpu and provider == CPU else install)
    reason = _elsewhere(target.architecture, architecture) or _release(target, answer["version"])
    return Verdict(target.name, provider, reason or _provider(target, answer), install)


def _elsewhere(wanted: Sequence[str], architecture: str) -> str | None:
    return f"it is for {'/'.join(wanted)}" if wanted and architecture not in wanted else None


def _release(target: Target, version: str) -> str | None:
    fits = satisfies(version, target.onnxruntime)
    return None if fits else f"it needs onnxruntime {target.onnxruntime}, this is {version}"


def _provider(target: Target, answer: Mapping[str, Any]) -> str | None:
    """What is wrong with its provider, in the better of the forms in which it may be here."""
    provider, plugin = target.provider.name, target.provider.plugin
    if plugin is not None and plugin.module in answer["plugins"]:
        wrong: str | None = answer["plugins"][plugin.module]["wrong"]
        return wrong
    if _built_in(target, answer):
        wrong = answer["providers"][provider]
        return wrong
    if plugin is not None:
        return f"{plugin.module}, which brings {provider}, is not installed"
    return f"{provider} is not in this onnxruntime"


def _built_in(target: Target, answer: Mapping[str, Any]) -> bool:
    """Whether the provider comes from onnxruntime itself, in a form that the profile has options for."""
    provider = target.provider
    if provider.name not in answer.get("providers", {}):
        return False
    if provider.plugin is None:
        return True
    return provider.built_in is not None and provider.plugin.module not in answer["plugins"]
