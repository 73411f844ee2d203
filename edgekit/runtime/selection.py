"""Which variant of a package runs on this machine, and why not the others."""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass

from edgekit.errors import ProviderError, TargetError
from edgekit.manifest import GENERIC, Manifest, Variant
from edgekit.runtime.providers import CPU

VERSIONS = (("opset", "opset"), ("ir", "IR"))
DEVICES = ("npu", "gpu")  # what is preferred, in this order; then other plugins, this machine's CPU, any CPU


@dataclass(frozen=True)
class Choice:
    """The variant that was taken, and why each other one was not."""

    variant: Variant
    passed_over: tuple[tuple[str, str], ...] = ()  # variant, reason


def choose(
    manifest: Manifest, *, target: str | None, available: Sequence[str], onnxruntime: str, machine: str | None = None
) -> Choice:
    """Take the variant named `target`, else the best one that this machine can run.

    Args:
        available: the providers in this onnxruntime, and the modules of plugins that are installed.
        onnxruntime: its version.
        machine: the processor, as `platform.machine()` names it; this one's if not given.

    Raises:
        TargetError: the package has no variant of this name.
        ProviderError: nothing in the package can run here; the message says why for each.
    """
    machine = machine or platform.machine()
    if target is not None:
        variant = manifest.variant(target)
        if variant is None:
            raise TargetError(
                f"the package has no variant {target!r}, it has {', '.join(v.name for v in manifest.variants)}"
            )
        if reason := _obstacle(variant, available, onnxruntime):
            raise ProviderError(f"variant {target} cannot run here: {reason}")
        return Choice(variant)
    fitting, passed_over = [], []
    for variant in manifest.variants:
        reason = _obstacle(variant, available, onnxruntime) or _other_machine(variant, machine)
        if reason:
            passed_over.append((variant.name, reason))
        else:
            fitting.append(variant)
    if not fitting:
        raise ProviderError(f"no variant of the package can run here: {'; '.join(f'{n}: {r}' for n, r in passed_over)}")
    best = min(fitting, key=_rank)
    passed_over += [(v.name, f"{best.name} comes first") for v in fitting if v is not best]
    return Choice(best, tuple(passed_over))


def _rank(variant: Variant) -> int:
    if variant.provider == CPU:
        return len(DEVICES) + (2 if variant.name == GENERIC else 1)
    return DEVICES.index(variant.device) if variant.device in DEVICES else len(DEVICES)


def _obstacle(variant: Variant, available: Sequence[str], onnxruntime: str) -> str | None:
    if variant.plugin_module:
        if variant.plugin_module not in available:
            return f"{variant.plugin_module}, which brings {variant.provider}, is not installed"
    elif variant.provider not in available:
        return f"{variant.provider} is not in this onnxruntime {onnxruntime}"
    wanted = variant.requirements.get("onnxruntime", "")
    if not satisfies(onnxruntime, wanted):
        about = ", ".join(
            f"{what} {variant.requirements[key]}" for key, what in VERSIONS if key in variant.requirements
        )
        return f"needs onnxruntime {wanted}{f' ({about})' if about else ''}, this is {onnxruntime}"
    return None


def _other_machine(variant: Variant, machine: str) -> str | None:
    if variant.architectures and machine not in variant.architectures:
        return f"for {'/'.join(variant.architectures)}, this machine is {machine}"
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
