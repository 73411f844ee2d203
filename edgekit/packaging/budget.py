"""The accuracy budget: blocks that hurt most go back to float until the score holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import onnx

from edgekit.errors import GateMissed
from edgekit.packaging import blocks, noise
from edgekit.packaging.accuracy import Budget
from edgekit.packaging.blocks import Block
from edgekit.packaging.probe import Feed
from edgekit.packaging.quantizers.kept import float_nodes
from edgekit.packaging.recipe import Recipe
from edgekit.runtime.model import Model

LOOKED_AT = 4  # images on which noise is measured; the score is what confirms it
Quantize = Callable[[Recipe], onnx.ModelProto]


@dataclass(frozen=True)
class Trial:
    """A block that was put back to float, and what that did to the score."""

    block: str
    lost_decibels: float  # how much more noise leaves the block than enters it
    score: float
    kept: bool  # whether it stays float

    def to_dict(self) -> dict[str, Any]:
        """Plain data for the report."""
        return {
            "block": self.block,
            "lost_decibels": round(self.lost_decibels, 1),
            "score": round(self.score, 5),
            "kept_float": self.kept,
        }


@dataclass(frozen=True)
class Outcome:
    """The recipe that holds the budget, and how it was found."""

    recipe: Recipe
    model: onnx.ModelProto
    float_score: float
    score: float
    trials: tuple[Trial, ...]


def hold(
    original: onnx.ModelProto,
    recipe: Recipe,
    quantize: Quantize,
    budget: Budget,
    open_model: Callable[[onnx.ModelProto], Model],
    feeds: Iterable[Feed],
    progress: Callable[[str], None],
) -> Outcome:
    """Quantize; while the score is too low, put back the block that loses most, if the score confirms it.

    Args:
        original: the float model.
        quantize: makes the quantized model of a recipe.
        feeds: a few of them are looked at.

    Raises:
        GateMissed: no block is left to put back and the budget does not hold.
    """
    samples = [dict(feed) for feed in _copied(islice(feeds, LOOKED_AT))]
    wanted = budget.judge(open_model(original))
    floor = wanted - budget.max_drop
    model = quantize(recipe)
    score = budget.judge(open_model(model))
    trials: list[Trial] = []
    tried = set(recipe.kept)
    while score < floor:
        worst = _worst(original, model, samples, recipe, tried)
        if worst is None:
            raise GateMissed(
                f"int8 costs {wanted - score:.4f} of {wanted:.4f} (at most {budget.max_drop:g}), and no block is left "
                f"to put back to float ({budget.judge.what})",
                hint="--precision fp16 or fp32, or a larger --max-drop",
            )
        block, lost = worst
        progress(f"{block.name} back to float")
        tried.add(block.name)
        candidate = replace(recipe, kept=(*recipe.kept, block.name))
        changed = quantize(candidate)
        found = budget.judge(open_model(changed))
        better = found > score
        trials.append(Trial(block.name, lost, found, better))
        if better:
            recipe, model, score = candidate, changed, found
    return Outcome(recipe, model, wanted, score, tuple(trials))


def _worst(
    original: onnx.ModelProto, model: onnx.ModelProto, feeds: Sequence[Feed], recipe: Recipe, tried: set[str]
) -> tuple[Block, float] | None:
    """The quantized block that adds most noise, and how many decibels it loses between its input and its output."""
    kept = float_nodes(original, recipe)
    candidates = [b for b in blocks.find(original) if b.name not in kept and b.name not in tried]
    if not candidates:
        return None
    loud = _noise(original, model, feeds, {t for b in candidates for t in (b.input, b.output)})
    lost = {b.name: loud.get(b.input, noise.LOUD) - loud.get(b.output, 0.0) for b in candidates}
    worst = max(candidates, key=lambda b: lost[b.name])
    return worst, lost[worst.name]


def _noise(
    original: onnx.ModelProto, model: onnx.ModelProto, feeds: Sequence[Feed], tensors: set[str]
) -> Mapping[str, float]:
    """Signal to noise of these tensors, as they come out of their quantizer where they have one."""
    there = {o for node in model.graph.node for o in node.output} | {i.name for i in model.graph.input}
    here = {o for node in original.graph.node for o in node.output}
    behind = {q.tensor: q.dequantized for q in noise.quantized_tensors(model)}
    pairs = {t: behind.get(t, t) for t in sorted(tensors) if t in here and (t in behind or t in there)}
    return noise.signal_to_noise(original, model, pairs, feeds)


def _copied(feeds: Iterable[Feed]) -> Iterable[Feed]:
    """Feeds of one's own: calibration data gives the same buffers again and again."""
    return ({name: value.copy() for name, value in feed.items()} for feed in feeds)
