"""An older opset where onnx's own version converter gives up: it has no way down for Split 18, which every current
exporter writes.

A node is kept if the older definition of its operator takes all that it says, and rewritten if the two differ in form
only. That its meaning stays is held by whoever runs the pass: outputs are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import defs, helper, numpy_helper

from edgekit.errors import ModelError
from edgekit.packaging import tensors
from edgekit.packaging.passes import copy
from edgekit.packaging.tensors import Tensor

STANDARD = ("", "ai.onnx")
SUMS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "SumSquare")  # ReduceSum has axes since 13
NAMES_OF_MODES = {b"linear": b"bilinear", b"cubic": b"bicubic"}  # GridSample before opset 20


def lower(model: onnx.ModelProto, wanted: int) -> onnx.ModelProto:
    """A copy of the model with a lower opset.

    Raises:
        ModelError: a node says what the older operator cannot; the message names it.
    """
    out = copy(model)
    work = _Lowering(out, wanted, tensors.read(model))
    for node in list(out.graph.node):
        if node.domain in STANDARD:
            work.lower(node)
    for opset in out.opset_import:
        if opset.domain in STANDARD:
            opset.version = wanted
    del out.graph.value_info[:]
    return out


@dataclass(frozen=True)
class _Lowering:
    model: onnx.ModelProto
    wanted: int
    known: dict[str, Tensor]

    def lower(self, node: onnx.NodeProto) -> None:
        """Bring one node to the older form of its operator."""
        if adapter := ADAPTERS.get(node.op_type):
            adapter(self, node)
        try:
            schema = defs.get_schema(node.op_type, self.wanted)
        except defs.SchemaError:
            raise self.refused(node, f"opset {self.wanted} has no {node.op_type}") from None
        for attribute in list(node.attribute):
            if attribute.name not in schema.attributes:
                self._drop_default(node, attribute)
        if len(node.input) > schema.max_input or any(a.HasField("g") or a.graphs for a in node.attribute):
            raise self.refused(node, f"{node.op_type} cannot say the same there")

    def refused(self, node: onnx.NodeProto, why: str) -> ModelError:
        """The error for a node that has no older form."""
        return ModelError(f"{node.name or node.output[0]}: {why}")

    def _drop_default(self, node: onnx.NodeProto, attribute: onnx.AttributeProto) -> None:
        """Leave out an attribute that came later, if it says what was the only way before."""
        if attribute.name not in ONLY_WAY or helper.get_attribute_value(attribute) != ONLY_WAY[attribute.name]:
            raise self.refused(node, f"{node.op_type} has no attribute {attribute.name} there")
        node.attribute.remove(attribute)

    def constant(self, name: str) -> list[int] | None:
        """The integers of an initializer or a Constant."""
        nodes = (n for n in self.model.graph.node if n.op_type == "Constant" and n.output[0] == name)
        held = next((i for i in self.model.graph.initializer if i.name == name), None)
        held = held or next((a.t for n in nodes for a in n.attribute if a.name == "value"), None)
        return None if held is None else [int(v) for v in numpy_helper.to_array(held).ravel()]

    def split(self, node: onnx.NodeProto) -> None:
        """Split 18 may give the number of parts: earlier, their sizes are given, or they are equal."""
        number = next((a for a in node.attribute if a.name == "num_outputs"), None)
        if number is None:
            return
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        tensor = self.known.get(node.input[0])
        if tensor is None or tensor.shape is None or tensor.shape[axis] < 0:
            raise self.refused(node, "Split needs the sizes of its parts there, and they are not known")
        size, count = tensor.shape[axis], int(number.i)
        part = -(-size // count)  # the last one may be smaller (onnx docs, Split 18)
        sizes = [part] * (count - 1) + [size - part * (count - 1)]
        name = f"{node.output[0]}/sizes"
        self.model.graph.initializer.append(numpy_helper.from_array(np.array(sizes, np.int64), name))
        node.attribute.remove(number)
        node.input[:] = [node.input[0], name]

    def reduce(self, node: onnx.NodeProto) -> None:
        """From opset 18 on, axes are an input."""
        if len(node.input) < 2 or not node.input[1]:
            return
        axes = self.constant(node.input[1])
        if axes is None:
            raise self.refused(node, f"the axes of {node.op_type} have to be constant there")
        node.input[:] = node.input[:1]
        if axes:
            node.attribute.append(helper.make_attribute("axes", axes))

    def grid_sample(self, node: onnx.NodeProto) -> None:
        """Opset 20 renamed the modes."""
        for attribute in node.attribute:
            if attribute.name == "mode":
                attribute.s = NAMES_OF_MODES.get(attribute.s, attribute.s)


ADAPTERS: dict[str, Callable[[_Lowering, onnx.NodeProto], None]] = {
    "Split": _Lowering.split,
    "GridSample": _Lowering.grid_sample,
    **dict.fromkeys([f"Reduce{kind}" for kind in SUMS], _Lowering.reduce),
}
# attributes that came after opset 13, with the value that says what there was before
ONLY_WAY = {
    "antialias": 0,
    "keep_aspect_ratio_policy": b"stretch",
    "saturate": 1,
    "block_size": 0,
    "output_dtype": 0,
    "precision": 0,
    "allowzero": 0,
    "ceil_mode": 0,
    "dilations": [1, 1],
    "noop_with_empty_axes": 0,
}
