"""Models whose ranges can be worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

Feed = dict[str, np.ndarray]


def linear(*, opset: int = 17, ir: int = 8) -> onnx.ModelProto:
    """x -> doubled = 2 x -> moved = doubled + 1 -> kept = max(moved, 0), of any length."""
    one = helper.make_node("Constant", [], ["one"], value=numpy_helper.from_array(np.array(1, np.float32)))
    return model(
        [
            one,
            helper.make_node("Mul", ["x", "two"], ["doubled"]),
            helper.make_node("Add", ["doubled", "one"], ["moved"]),
            helper.make_node("Relu", ["moved"], ["kept"]),
        ],
        ["kept"],
        opset=opset,
        ir=ir,
    )


def model(nodes: Sequence[onnx.NodeProto], outputs: Sequence[str], *, opset: int = 17, ir: int = 8) -> onnx.ModelProto:
    """Nodes between `x`, of any length, and `outputs`; there is a weight `two`."""
    graph = helper.make_graph(
        nodes,
        "linear",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n"])],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.array(2, np.float32), "two")],
    )
    if ir < 4:
        graph.input.append(helper.make_tensor_value_info("two", TensorProto.FLOAT, []))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir)


def feeds(*images: Sequence[float]) -> list[Feed]:
    return [{"x": np.array(image, np.float32)} for image in images]
