"""int8 by a recipe: what stays float is found in the graph, ranges by calibration, the rest is QDQ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import onnx

from edgekit.packaging import layers, tune
from edgekit.packaging.accuracy import Budget, Judge
from edgekit.packaging.budget import Outcome, hold
from edgekit.packaging.calibration import CalibrationData, Range, calibrate
from edgekit.packaging.passes import PassResult
from edgekit.packaging.quantizers.kept import float_nodes
from edgekit.packaging.quantizers.qdq import Qdq
from edgekit.packaging.recipe import Recipe
from edgekit.runtime.model import Model


@dataclass(frozen=True)
class Tuning:
    """Who judges the candidates, on other data than what is reported, and what they may cost."""

    judge: Judge
    max_drop: float


@dataclass(frozen=True)
class Int8:
    """Calibrate and quantize, within the accuracy budget if there is one.

    Requires: opset 13, unique node names, fixed shapes.
    Ensures: the tail, and the blocks that the recipe or the budget keeps, are float. Where int8 has to pay and does
    not, the model is left as it was.
    """

    recipe: Recipe
    data: CalibrationData
    open_model: Callable[[onnx.ModelProto], Model]
    progress: Callable[[str], None]
    budget: Budget | None = None
    tuning: Tuning | None = None  # look for a better recipe first
    must_pay: bool = False  # leave the model in float if int8 is not faster here
    tolerance: ClassVar[float | None] = None
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Find the ranges, quantize, and put blocks back to float while the budget asks for it.

        Raises:
            ModelError: there is nothing to quantize.
            GateMissed: the budget cannot be held.
        """

        @cache
        def ranges(method: str) -> Mapping[str, Range]:
            return calibrate(model, None, self.data, method)

        def quantized(recipe: Recipe) -> onnx.ModelProto:
            kept = frozenset(float_nodes(model, recipe))
            return Qdq(recipe, ranges(recipe.calibration), kept)(model).model

        recipe, tuned = self.recipe, None
        if self.tuning:
            tuned = self._tune(model, quantized, self.tuning)
            if tuned.chosen is None:
                return self._left(model, "no int8 recipe is fast enough and good enough", tuned)
            recipe = tuned.chosen.recipe
        out, outcome = quantized(recipe), None
        if self.must_pay:
            turns = tune.speed(model, out, next(iter(self.data)))
            if 1 / turns.ratio < tune.PAYS:
                return self._left(model, f"int8 is {1 / turns.ratio:.2f} times as fast as float here", tuned)
        if self.budget:
            outcome = hold(model, recipe, quantized, self.budget, self.open_model, self.data, self.progress)
            recipe, out = outcome.recipe, outcome.model
        details = {
            "recipe": recipe.to_dict(),
            "calibration": {"images": len(self.data), "notices": list(self.data.notices)},
            "accuracy": self._accuracy(outcome),
            **({"tuning": tuned.to_dict()} if tuned else {}),
            "layers": layers.describe(model, out, ranges(recipe.calibration), float_nodes(model, recipe), self.data),
        }
        return PassResult(out, changed=True, notes=tuple(self._notes(recipe, outcome)), details=details)

    def _tune(
        self, model: onnx.ModelProto, quantized: Callable[[Recipe], onnx.ModelProto], tuning: Tuning
    ) -> tune.Tuned:
        feed = next(iter(self.data))
        return tune.tune(
            model, self.recipe, quantized, tuning.judge, tuning.max_drop, self.open_model, feed, self.progress
        )

    def _left(self, model: onnx.ModelProto, why: str, tuned: tune.Tuned | None) -> PassResult:
        details = {"tuning": tuned.to_dict()} if tuned else {}
        return PassResult(model, changed=False, notes=(f"float is kept: {why}",), details=details)

    def _accuracy(self, outcome: Outcome | None) -> dict[str, Any] | str:
        if outcome is None or self.budget is None:
            return "not measured: no --accuracy was given"
        return {
            "measured": self.budget.judge.what,
            "float": round(outcome.float_score, 5),
            "int8": round(outcome.score, 5),
            "max_drop": self.budget.max_drop,
            "trials": [trial.to_dict() for trial in outcome.trials],
        }

    def _notes(self, recipe: Recipe, outcome: Outcome | None) -> list[str]:
        notes = [f"calibrated on {len(self.data)} images, {recipe.calibration}", *self.data.notices]
        if outcome and self.budget:
            notes.append(f"{self.budget.judge.what}: {outcome.float_score:.4f} in float, {outcome.score:.4f} in int8")
            notes += [f"{name} is back in float: it hurt most" for name in recipe.kept if name not in self.recipe.kept]
        return notes
