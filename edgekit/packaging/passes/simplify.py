"""Constant folding and dead code, by onnxslim."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.errors import ModelError
from edgekit.packaging.passes import PassResult, copy


@dataclass(frozen=True)
class Simplify:
    """Fold constants, fuse and drop what has no effect.

    Ensures: the same inputs and outputs, by name.
    """

    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = True

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Run onnxslim on a copy."""
        import onnxslim

        logging.getLogger("onnxslim").setLevel(logging.ERROR)
        try:
            out = onnxslim.slim(copy(model))
        except Exception as e:  # onnxslim raises whatever its parts raise
            raise ModelError(
                f"onnxslim failed: {str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__}"
            ) from e
        if out is None or not _same_interface(model, out):
            raise ModelError("onnxslim changed the model's inputs or outputs")
        out.ir_version = model.ir_version  # onnxslim stamps its own
        del out.metadata_props[:]
        out.metadata_props.extend(model.metadata_props)
        return PassResult(out, changed=True)


def _same_interface(before: onnx.ModelProto, after: onnx.ModelProto) -> bool:
    return all(
        [v.name for v in getattr(before.graph, kind)] == [v.name for v in getattr(after.graph, kind)]
        for kind in ("input", "output")
    )
