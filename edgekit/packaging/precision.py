"""Which precision a target's model gets."""

from __future__ import annotations

from dataclasses import dataclass

from edgekit.errors import UsageError
from edgekit.packaging import guard
from edgekit.packaging.source import Source
from edgekit.target import Target

AUTO = "auto"
QDQ, NONE = "qdq", "none"
AS_IT_IS = "int8"  # what a model that arrives quantized is in


def with_quantizer(precision: str, quantizer: str) -> str:
    """What a quantizer that was named says of the precision.

    Raises:
        UsageError: the two contradict each other.
    """
    if (quantizer, precision) == (QDQ, AUTO):
        return "int8"
    if (quantizer == QDQ and precision != "int8") or (quantizer == NONE and precision == "int8"):
        raise UsageError(f"--quantizer {quantizer} and --precision {precision} contradict each other")
    return "fp32" if (quantizer, precision) == (NONE, AUTO) else precision


@dataclass(frozen=True)
class Asked:
    """What the user said of precision."""

    precision: str = AUTO
    calibrated: bool = False  # there are images to calibrate on


def choose(target: Target, asked: Asked, original: Source) -> str:
    """The precision to build: what was asked for, if the target runs it.

    `auto` is int8 where there are images to calibrate on and the target runs it, else the target's default.

    Raises:
        UsageError: the target does not run it, or it cannot be made; nothing is quantized on synthetic pictures
            unless int8 is asked for by name.
    """
    allowed, wanted = target.precision.allowed, asked.precision
    if guard.is_quantized(original.model):
        if wanted not in (AUTO, AS_IT_IS):
            raise UsageError(
                f"{original.path} is quantized already: it cannot become {wanted}", hint="package the float model"
            )
        if AS_IT_IS not in allowed:
            raise UsageError(
                f"{original.path} is quantized, and {target.name} runs {_listed(target)} only",
                hint="package the float model",
            )
        return AS_IT_IS
    if wanted != AUTO:
        if wanted not in allowed:
            raise UsageError(f"{target.name} does not run {wanted}, it runs {_listed(target)}")
        return wanted
    if target.precision.default == "int8" and not asked.calibrated:
        others = [f"--precision {p}" for p in allowed if p != "int8"]
        raise UsageError(
            f"{target.name} runs int8, which needs photos like those of the application to calibrate on",
            hint=", or ".join(["--calibration FOLDER", *others]),
        )
    return "int8" if asked.calibrated and "int8" in allowed else target.precision.default


def _listed(target: Target) -> str:
    return ", ".join(target.precision.allowed)
