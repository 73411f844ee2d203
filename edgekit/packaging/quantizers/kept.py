"""Which nodes stay float, and why."""

from __future__ import annotations

import onnx

from edgekit.packaging import blocks, tail
from edgekit.packaging.recipe import Recipe


def float_nodes(model: onnx.ModelProto, recipe: Recipe) -> dict[str, str]:
    """The names of the nodes that stay float, each with the reason.

    Whole blocks: half a block is quantized again by onnxruntime, in silence and per tensor (WeightBiasQuantization).
    """
    found = tail.find(model)
    body = [block for block in blocks.find(model) if block.name not in found.nodes]
    out = dict.fromkeys(found.nodes, "tail: boxes and scores must not share a scale")
    for block in body[: min(recipe.first_float, len(body) // 4)]:  # of a small model not all of it
        out |= dict.fromkeys(block.nodes, "first block")
    meet = len(found.ends) > 1  # a classifier's last layer decodes nothing
    for block in body:
        if recipe.ends_float and meet and block.name in found.ends:
            out |= dict.fromkeys(block.nodes, "last block of a branch")
        if block.name in recipe.kept:
            out |= dict.fromkeys(block.nodes, "accuracy budget")
    return out
