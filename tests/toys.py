"""Models of a few nodes, made on the spot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIZE, CLASSES = 64, 3
METADATA = {
    "description": "a toy",
    "task": "detect",
    "names": "{0: 'cat', 1: 'dog', 2: 'hen'}",
    "imgsz": "[64, 64]",
    "stride": "8",
}


def detector(
    *,
    opset: int = 17,
    ir: int = 8,
    height: int | str = SIZE,
    width: int | str = SIZE,
    batch: int | str = 1,
    metadata: dict[str, str] | None = None,
    imports: Sequence[tuple[str, int]] = (),
    gain: float = 1.0,
) -> onnx.ModelProto:
    """A detector in YOLOv8's form: one convolution of stride 8. What it finds is noise.

    A chain of constants stands in front of the Reshape, so that there is something to fold. `gain` scales one
    activation up and back again.
    """
    rng = np.random.default_rng(7)
    weights = {
        "weight": rng.normal(0, 0.05, (4 + CLASSES, 3, 8, 8)).astype(np.float32),
        "scale": np.array([32, 32, 16, 16] + [1] * CLASSES, np.float32).reshape(1, -1, 1),
        "head": np.array([0], np.int64),
        "tail": np.array([4 + CLASSES, -1], np.int64),
        "up": np.array(gain, np.float32),
    }
    nodes = [
        helper.make_node("Concat", ["head", "tail"], ["shape"], name="shape", axis=0),
        helper.make_node("Conv", ["images", "weight"], ["raw"], name="conv", strides=[8, 8]),
        helper.make_node("Mul", ["raw", "up"], ["large"], name="up"),
        helper.make_node("Div", ["large", "up"], ["back"], name="down"),
        helper.make_node("Reshape", ["back", "shape"], ["flat"], name="flatten"),
        helper.make_node("Sigmoid", ["flat"], ["squashed"], name="squash"),
        helper.make_node("Mul", ["squashed", "scale"], ["output0"], name="out"),
    ]
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [batch, 3, height, width])],
        [helper.make_tensor_value_info("output0", TensorProto.FLOAT, [batch, 4 + CLASSES, None])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in imports)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=ir, producer_name="toys")
    if metadata:
        helper.set_model_props(model, metadata)
    return model


def save(model: onnx.ModelProto, path: Path, *, external: bool = False) -> Path:
    """Write a model, its weights beside it if asked."""
    if external:
        onnx.save(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=0)
    else:
        onnx.save(model, path)
    return path


def typed(dtype: str) -> onnx.ModelProto:
    """The toy detector behind an input of another dtype, which it normalizes itself where that is uint8."""
    model = detector()
    element = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model.graph.input[0].type.tensor_type.elem_type = element
    factor = np.array(1 / 255 if dtype == "uint8" else 1.0, np.float32)
    model.graph.initializer.append(numpy_helper.from_array(factor, "factor"))
    front = [
        helper.make_node("Cast", ["images"], ["floats"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["floats", "factor"], ["normalized"]),
    ]
    rest = list(model.graph.node)
    next(n for n in rest if n.op_type == "Conv").input[0] = "normalized"
    del model.graph.node[:]
    model.graph.node.extend([*front, *rest])
    return model


def quantized() -> onnx.ModelProto:
    """One convolution between QuantizeLinear and DequantizeLinear, (1, 3, 16, 16) to (1, 8, 14, 14)."""
    scales = {"xs": 1 / 255, "ws": 0.01, "ys": 0.05}
    zeros = {"xz": 0, "wz": 128, "yz": 128}
    weights = np.random.default_rng(0).integers(0, 255, (8, 3, 3, 3)).astype(np.uint8)
    initializers = [
        numpy_helper.from_array(weights, "w"),
        *(numpy_helper.from_array(np.array(value, np.float32), name) for name, value in scales.items()),
        *(numpy_helper.from_array(np.array(value, np.uint8), name) for name, value in zeros.items()),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"]),
        helper.make_node("Conv", ["xd", "wd"], ["c"], name="conv"),
        helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["cq"]),
        helper.make_node("DequantizeLinear", ["cq", "ys", "yz"], ["y"]),
    ]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 16, 16])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 8, 14, 14])]
    graph = helper.make_graph(nodes, "quantized", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
