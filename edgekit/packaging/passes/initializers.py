"""Weights that are also graph inputs, as exporters before IR 4 wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.packaging.passes import PassResult, copy


@dataclass(frozen=True)
class SealInitializers:
    """Make constants of weights that a caller could override.

    Ensures: no initializer is a graph input; IR is at least 4, the first that allows it (onnx docs, IR.md). Without
    this, nothing that depends on a weight can be folded.
    """

    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Take initializers out of the inputs."""
        weights = {i.name for i in model.graph.initializer}
        inputs = [i for i in model.graph.input if i.name not in weights]
        if len(inputs) == len(model.graph.input):
            return PassResult(model, changed=False)
        out = copy(model)
        del out.graph.input[:]
        out.graph.input.extend(inputs)
        out.ir_version = max(out.ir_version, 4)
        return PassResult(
            out, changed=True, notes=(f"{len(model.graph.input) - len(inputs)} weights were graph inputs",)
        )
