"""Passes, one after the other, each held to what the original model gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx

from edgekit.errors import EdgekitError, ModelError
from edgekit.packaging.passes import Pass, PassResult
from edgekit.packaging.probe import Difference, Probe
from edgekit.packaging.source import Description, describe


@dataclass(frozen=True)
class Step:
    """What one pass did."""

    name: str
    changed: bool
    before: Description
    after: Description
    differences: Mapping[str, Difference]  # of each output to the original's
    notes: tuple[str, ...]
    details: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for report.json."""
        counts = {
            op: [self.before.operators.get(op, 0), self.after.operators.get(op, 0)]
            for op in sorted({*self.before.operators, *self.after.operators})
            if self.before.operators.get(op, 0) != self.after.operators.get(op, 0)
        }
        return {
            "name": self.name,
            "changed": self.changed,
            "nodes": [self.before.nodes, self.after.nodes],
            "bytes": [self.before.bytes, self.after.bytes],
            "operators": counts,
            "differences": {name: d.to_dict() for name, d in self.differences.items()},
            "notes": list(self.notes),
            **({"details": dict(self.details)} if self.details else {}),
        }


def apply(
    steps: Sequence[Pass], model: onnx.ModelProto, probe: Probe, progress: Callable[[str], None]
) -> tuple[onnx.ModelProto, list[Step]]:
    """Run the passes and measure after each that changed something.

    Raises:
        ModelError: a pass failed, or moved an output further than it may; the message names both.
    """
    history = []
    for step in steps:
        progress(type(step).__name__)
        model, done = _apply(step, model, probe)
        history.append(done)
    return model, history


def _apply(step: Pass, model: onnx.ModelProto, probe: Probe) -> tuple[onnx.ModelProto, Step]:
    name, before = type(step).__name__, describe(model)
    try:
        result = step(model)
        differences = probe.differences(result.model) if result.changed else {}
        _hold(name, step.tolerance, differences)
    except EdgekitError as e:
        if not step.optional:
            raise
        result, differences = PassResult(model, changed=False, notes=(f"left out: {e}",)), {}
    return result.model, Step(
        name, result.changed, before, describe(result.model), differences, result.notes, result.details
    )


def _hold(name: str, tolerance: float | None, differences: Mapping[str, Difference]) -> None:
    for output, difference in differences.items():
        if tolerance is not None and difference.relative > tolerance:
            raise ModelError(
                f"{name} moved output {output} by {difference.max_abs:.3g} ({difference.relative:.2%} of its range)"
            )
