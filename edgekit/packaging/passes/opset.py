"""A newer opset, where a later pass needs one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import onnx

from edgekit.errors import ModelError
from edgekit.packaging import source
from edgekit.packaging.passes import PassResult
from edgekit.packaging.passes.names import NameNodes


@dataclass(frozen=True)
class RaiseOpset:
    """Convert up to at least `minimum`.

    Ensures: opset >= `minimum`; a newer one is kept. IR is no newer than that opset needs. Nodes that the conversion
    adds have names of their own; the others keep theirs.
    """

    minimum: int = 13
    wanted_by: str = "int8"  # for the sentence when it cannot be done
    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Run onnx's version converter.

        Raises:
            ModelError: it cannot convert this model.
        """
        found = source.describe(model).opset
        if found >= self.minimum:
            return PassResult(model, changed=False)
        try:
            out = onnx.version_converter.convert_version(model, self.minimum)
        except Exception as e:  # the converter raises RuntimeError and plain ones
            reason = (str(e).strip().splitlines() or [type(e).__name__])[0]
            raise ModelError(
                f"the model has opset {found}, {self.wanted_by} needs {self.minimum}, "
                f"and it cannot be converted: {reason}",
                hint=f"export the model again with opset {self.minimum}",
            ) from e
        del out.metadata_props[:]
        out.metadata_props.extend(model.metadata_props)
        needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", self.minimum)])
        out.ir_version = max(model.ir_version, needed)
        return PassResult(NameNodes()(out).model, changed=True, notes=(f"opset {found} -> {self.minimum}",))
