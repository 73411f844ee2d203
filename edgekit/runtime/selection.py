"""Which variants of a package may run on this machine, best first, and why not the others."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from edgekit.errors import ProviderError, TargetError
from edgekit.manifest import GENERIC, Manifest, Variant
from edgekit.runtime.devices import Device
from edgekit.runtime.providers import CPU

VERSIONS = (("opset", "opset"), ("ir", "IR"))
DEVICES = ("npu", "gpu")  # what is preferred, in this order; then other plugins, this machine's CPU, any CPU


@dataclass(frozen=True)
class Machine:
    """What decides which variant runs."""

    available: Sequence[str]  # the providers in this onnxruntime, and the modules of plugins that are installed
    onnxruntime: str  # its version
    architecture: str = field(default_factory=platform.machine)


@dataclass(frozen=True)
class Choice:
    """The variants that may run, best first, and why each other one may not.

    Law: where a target or a device was asked for and cannot be had, `missed` says so, and only the CPU's variants are
    left.
    """

    candidates: tuple[Variant, ...]
    passed_over: tuple[tuple[str, str], ...] = ()  # variant, reason
    missed: str | None = None


def choose(manifest: Manifest, machine: Machine, *, target: str | None = None, device: Device | None = None) -> Choice:
    """The variants to try: the one named `target` or those for `device`, then those that run on the CPU.

    Raises:
        TargetError: the package has no variant of this name.
        ProviderError: nothing in the package can run here; the message says why for each.
    """
    device = device or Device()
    if target is not None:
        named(manifest, target)
    fitting, passed_over = [], []
    for variant in manifest.variants:
        asked = variant.name == target
        reason = obstacle(variant, machine) or (None if asked else _other_machine(variant, machine))
        if reason:
            passed_over.append((variant.name, reason))
        else:
            fitting.append(variant)
    wanted = [v for v in fitting if (v.name == target if target else device.takes(v))]
    missed = None if wanted else _missed(target, device, passed_over)
    fallbacks = [v for v in fitting if v.provider == CPU and v not in wanted and not _other_machine(v, machine)]
    if target is not None and named(manifest, target).provider == CPU:
        fallbacks = []  # another model on the same provider is not what was asked for
    candidates = (*sorted(wanted, key=_rank), *sorted(fallbacks, key=_rank))
    if not candidates:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in passed_over)
        raise ProviderError(missed if target and missed else f"no variant of the package can run here: {reasons}")
    passed_over += [(v.name, f"{candidates[0].name} comes first") for v in fitting if v is not candidates[0]]
    return Choice(candidates, tuple(passed_over), missed)


def named(manifest: Manifest, target: str) -> Variant:
    """The variant with this name.

    Raises:
        TargetError: the package has none.
    """
    variant = manifest.variant(target)
    if variant is None:
        has = ", ".join(v.name for v in manifest.variants)
        raise TargetError(f"the package has no variant {target!r}, it has {has}")
    return variant


def obstacle(variant: Variant, machine: Machine) -> str | None:
    """Why this machine cannot run a variant, as far as it can be told before its session is made."""
    if not {variant.plugin_module or variant.provider, *_built_in(variant)} & set(machine.available):
        if variant.plugin_module:
            return f"{variant.plugin_module}, which brings {variant.provider}, is not installed"
        return f"{variant.provider} is not in this onnxruntime {machine.onnxruntime}"
    wanted = variant.requirements.get("onnxruntime", "")
    if not satisfies(machine.onnxruntime, wanted):
        about = ", ".join(
            f"{what} {variant.requirements[key]}" for key, what in VERSIONS if key in variant.requirements
        )
        return f"needs onnxruntime {wanted}{f' ({about})' if about else ''}, this is {machine.onnxruntime}"
    return None


def _built_in(variant: Variant) -> tuple[str, ...]:
    return () if variant.built_in is None else (variant.provider,)


def _missed(target: str | None, device: Device, passed_over: Sequence[tuple[str, str]]) -> str | None:
    if target is not None:
        return f"variant {target} cannot run here: {dict(passed_over)[target]}"
    if device.kind == "auto":
        return None
    return f"no variant of the package runs on {device} here"


def _rank(variant: Variant) -> int:
    if variant.provider == CPU:
        return len(DEVICES) + (2 if variant.name == GENERIC else 1)
    return DEVICES.index(variant.device) if variant.device in DEVICES else len(DEVICES)


def _other_machine(variant: Variant, machine: Machine) -> str | None:
    if variant.architectures and machine.architecture not in variant.architectures:
        return f"for {'/'.join(variant.architectures)}, this machine is {machine.architecture}"
    return None


def satisfies(version: str, wanted: str) -> bool:
    """Whether a release is in a range such as `>=1.17,<2`.

    >>> satisfies("1.17.1", ">=1.17"), satisfies("1.9", ">=1.17")
    (True, False)
    """
    tests = {">=": lambda a, b: a >= b, "<": lambda a, b: a < b, "==": lambda a, b: a == b}
    for part in filter(None, (p.strip() for p in wanted.split(","))):
        match = re.fullmatch(r"(>=|<|==)\s*([\d.]+)", part)
        if match is None or not tests[match[1]](_numbers(version), _numbers(match[2])):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(n) for n in re.findall(r"\d+", re.split(r"[+a-z]", version)[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
