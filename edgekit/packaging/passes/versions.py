"""Opset and IR: what the board's onnxruntime can read, not what the host's can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.errors import ModelError
from edgekit.packaging import source
from edgekit.packaging.passes import PassResult, copy
from edgekit.packaging.passes.lowering import lower

STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class PinVersions:
    """Bring opset and IR down to what the target reads.

    Ensures: opset <= `opset` and IR <= `ir`, where those are given; older ones are kept, they run everywhere.
    """

    opset: int | None
    ir: int | None
    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Convert where it is too new."""
        out, notes = copy(model), []
        found = source.describe(model).opset
        if self.opset and found > self.opset:
            out = _converted(out, found, self.opset)
            notes.append(f"opset {found} -> {self.opset}")
        if self.ir and out.ir_version > self.ir:
            notes.append(f"IR {out.ir_version} -> {self.ir}")
            out.ir_version = self.ir
        return PassResult(out, changed=bool(notes), notes=tuple(notes))


@dataclass(frozen=True)
class StripImports:
    """Drop opset imports that no node uses.

    Files saved by a current onnxruntime import ai.onnx.ml 5, which onnxruntime 1.16 refuses although no node needs it.
    Ensures: every import is used, and the standard one is there.
    """

    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Keep what is used, once."""
        used = {node.domain or "" for node in source.nodes(model.graph)}
        used |= {node.domain or "" for function in model.functions for node in function.node}
        used = {"" if domain in STANDARD else domain for domain in used} | {""}
        kept = {("" if o.domain in STANDARD else o.domain): o.version for o in model.opset_import}
        dropped = [domain for domain in kept if domain not in used]
        if not dropped and len(kept) == len(model.opset_import):
            return PassResult(model, changed=False)
        out = copy(model)
        del out.opset_import[:]
        out.opset_import.extend(onnx.helper.make_opsetid(d, v) for d, v in kept.items() if d in used)
        return PassResult(out, changed=True, notes=tuple(f"import {domain} dropped" for domain in dropped))


def _converted(model: onnx.ModelProto, found: int, wanted: int) -> onnx.ModelProto:
    props = list(model.metadata_props)
    try:
        out = onnx.version_converter.convert_version(model, wanted)
    except Exception:  # the converter raises RuntimeError and plain ones
        try:
            out = lower(model, wanted)
        except ModelError as e:
            raise ModelError(
                f"the model has opset {found}, the target reads {wanted}, and it cannot be converted: {e}",
                hint=f"export the model again with opset {wanted}",
            ) from e
    del out.metadata_props[:]
    out.metadata_props.extend(props)
    return out
