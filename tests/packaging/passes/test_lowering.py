"""Newer forms of operators, brought to opset 17: the same numbers come out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgekit.errors import ModelError
from edgekit.packaging.passes.lowering import lower
from edgekit.packaging.passes.versions import PinVersions

X = np.random.default_rng(1).random((1, 6, 8, 8), np.float32)
GRID = np.random.default_rng(2).random((1, 4, 4, 2), np.float32) * 2 - 1


def one(
    operator: str, inputs: Sequence[str], outputs: int = 1, opset: int = 20, **attributes: object
) -> onnx.ModelProto:
    """A model of one operator on x, with the constants that it may need."""
    constants = {
        "grid": GRID,
        "axes": np.array([2, 3]),
        "none": np.array([], np.int64),
        "sizes": np.array([1, 6, 16, 16]),
        "pads": np.array([0, 0, 1, 1, 0, 0, 1, 1]),
        "scale": np.array(0.02, np.float32),
        "zero": np.array(0, np.uint8),
    }
    names = [f"y{i}" for i in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, inputs, names, name="it", **attributes)],
        "one",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)],
        [helper.make_empty_tensor_value_info(name) for name in names],
        [numpy_helper.from_array(value, name) for name, value in constants.items() if name in inputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def run(model: onnx.ModelProto) -> list[np.ndarray]:
    return ort.InferenceSession(model.SerializeToString()).run(None, {"x": X})


@pytest.mark.parametrize(
    "model",
    [
        one("Split", ["x"], 2, axis=1, num_outputs=2),
        one("Split", ["x"], 4, axis=1, num_outputs=4),  # 2, 2, 2 and what is left
        one("Split", ["x"], 3, axis=-1, num_outputs=3),
        one("ReduceMean", ["x", "axes"], keepdims=1),
        one("ReduceMax", ["x"], keepdims=0),
        one("ReduceL2", ["x", "axes"], keepdims=0),
        one("ReduceMin", ["x", "none"], noop_with_empty_axes=0),
        one("GridSample", ["x", "grid"], mode="linear"),
        one("Resize", ["x", "", "", "sizes"], mode="nearest", antialias=0),
        one("Pad", ["x", "pads"], mode="reflect"),
        one("QuantizeLinear", ["x", "scale", "zero"], saturate=1),
        one("AveragePool", ["x"], kernel_shape=[2, 2], dilations=[1, 1]),
        one("Clip", ["x"]),
        one("LayerNormalization", ["x", "x"], axis=-1),
    ],
    ids=lambda model: f"{model.graph.node[0].op_type}-{len(model.graph.node[0].output)}",
)
def test_the_same_comes_out(model: onnx.ModelProto) -> None:
    if model.graph.node[0].op_type == "LayerNormalization":
        model.graph.initializer.append(numpy_helper.from_array(np.ones(8, np.float32), "ones"))
        model.graph.node[0].input[1] = "ones"
    lowered = lower(model, 17)
    assert lowered.opset_import[0].version == 17
    for a, b in zip(run(model), run(lowered), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "why"),
    [
        (one("Gelu", ["x"]), "opset 17 has no Gelu"),
        (one("Resize", ["x", "", "", "sizes"], mode="linear", antialias=1), "no attribute antialias"),
        (one("AveragePool", ["x"], kernel_shape=[2, 2], dilations=[2, 2]), "no attribute dilations"),
        (one("ReduceMean", ["x", "axes"], noop_with_empty_axes=1), "no attribute noop_with_empty_axes"),
    ],
)
def test_what_cannot_be_said_there_is_refused_with_the_node(model: onnx.ModelProto, why: str) -> None:
    with pytest.raises(ModelError, match=rf"it: .*{why}"):
        lower(model, 17)


def test_a_split_of_unknown_size_is_refused() -> None:
    model = one("Split", ["x"], 2, axis=1, num_outputs=2)
    model.graph.input[0].type.tensor_type.shape.dim[1].Clear()
    with pytest.raises(ModelError, match="sizes of its parts"):
        lower(model, 17)


def test_the_model_that_went_in_is_not_changed() -> None:
    model = one("Split", ["x"], 2, axis=1, num_outputs=2)
    before = model.SerializeToString()
    lower(model, 17)
    assert model.SerializeToString() == before


@pytest.mark.parametrize("name", ["yolo11n-pose", "yolov8n-seg_int8"])
def test_a_current_exporters_model_comes_down(zoo: Path, name: str) -> None:
    """Opset 20, with Split 18, which onnx's own converter cannot bring down."""
    model = onnx.load(zoo / "models" / f"{name}.onnx")
    result = PinVersions(opset=17, ir=8)(model)
    assert result.model.opset_import[0].version == 17
    onnx.checker.check_model(result.model, full_check=True)
    size = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    feed = {"images": np.random.default_rng(3).random(size, np.float32)}
    before, after = (ort.InferenceSession(m.SerializeToString()).run(None, feed) for m in (model, result.model))
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3)
