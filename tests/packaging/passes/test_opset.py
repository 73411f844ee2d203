from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edgekit.errors import ModelError
from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.probe import Probe
from tests import toys


def squeezing(opset: int) -> onnx.ModelProto:
    """A model whose Unsqueeze and Squeeze have axes as attributes, which opset 13 makes inputs."""
    nodes = [
        helper.make_node("Unsqueeze", ["x"], ["wide"], name="Constant_1", axes=[0]),
        helper.make_node("Softmax", ["wide"], ["soft"], name="soft", axis=1),
        helper.make_node("Squeeze", ["soft"], ["y"], name="squeeze", axes=[0]),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3, 4]) for name in "xy")
    graph = helper.make_graph(nodes, "squeezing", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=6)


def opset(model: onnx.ModelProto) -> int:
    return next(o.version for o in model.opset_import if not o.domain)


def test_an_old_model_is_raised_with_its_metadata_and_gives_what_it_gave() -> None:
    model = toys.detector(opset=11, ir=6, metadata={"task": "detect"})
    feed = {"images": np.random.default_rng(0).random((1, 3, 64, 64), dtype=np.float32)}
    result = RaiseOpset()(model)
    assert opset(result.model) == 13
    assert [(p.key, p.value) for p in result.model.metadata_props] == [("task", "detect")]
    assert result.model.producer_name == "toys"
    assert Probe.of(model, [feed]).differences(result.model)["output0"].max_abs == 0
    assert result.notes == ("opset 11 -> 13",)


def test_what_the_conversion_adds_is_named_and_the_others_keep_their_names() -> None:
    model = squeezing(opset=11)
    after = [node.name for node in RaiseOpset()(model).model.graph.node]
    assert {"Constant_1", "soft", "squeeze"} < set(after)
    assert all(after)
    assert len(set(after)) == len(after)


def test_a_softmax_over_all_that_follows_gives_what_it_gave() -> None:
    model = squeezing(opset=11)
    feed = {"x": np.random.default_rng(0).random((3, 4), dtype=np.float32)}
    assert Probe.of(model, [feed]).differences(RaiseOpset()(model).model)["y"].relative < 1e-6


@pytest.mark.parametrize(("minimum", "before", "after"), [(13, 6, 7), (13, 9, 9), (17, 7, 8)])
def test_the_ir_is_raised_no_further_than_the_opset_needs(minimum: int, before: int, after: int) -> None:
    assert RaiseOpset(minimum)(toys.detector(opset=11, ir=before)).model.ir_version == after


@pytest.mark.parametrize("found", [13, 17])
def test_a_model_that_is_new_enough_is_left_alone(found: int) -> None:
    model = toys.detector(opset=found)
    result = RaiseOpset(13)(model)
    assert not result.changed
    assert result.model is model


def test_an_operator_that_cannot_be_converted_is_a_sentence_with_what_to_do() -> None:
    model = squeezing(opset=8)
    model.graph.node[1].op_type = "Upsample"
    with pytest.raises(ModelError, match=r"opset 8, int8 needs 13, and it cannot be converted: \S") as failure:
        RaiseOpset()(model)
    assert failure.value.hint == "export the model again with opset 13"


@pytest.mark.parametrize(
    "name",
    ["FastestDet", "nanodet_m_320", "ultraface_rfb320", "yolov5n", "yolov8n", "yolov8n_collapsed_int8", "yolox_nano"],
)
def test_a_real_model_gives_what_it_gave(zoo: Path, name: str) -> None:
    model = onnx.load(zoo / "models" / f"{name}.onnx")
    weights = {tensor.name for tensor in model.graph.initializer}
    (image,) = (i for i in model.graph.input if i.name not in weights)
    shape = [d.dim_value for d in image.type.tensor_type.shape.dim]
    probe = Probe.of(model, [{image.name: np.random.default_rng(0).random(shape, dtype=np.float32)}])
    result = RaiseOpset(13)(model)
    assert opset(result.model) == 13
    assert {n.name for n in model.graph.node} - {""} <= {n.name for n in result.model.graph.node}
    assert max(d.relative for d in probe.differences(result.model).values()) < 1e-5
