from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgekit.packaging import blocks, tail
from edgekit.packaging.passes.names import NameNodes
from tests import toys

# the last convolutions of each branch, as somebody who knows the network would name them
ZOO = [
    ("yolov8n", 6, 64),
    ("yolov5n", 3, 60),
    ("yolo11n-pose", 9, 97),
    ("yolox_nano", 9, 113),
    ("nanodet_m_320", 3, 73),
    ("deimv2_atto", 11, 98),
    ("efficientnet_lite0", 1, 50),
    ("FastestDet", 3, 70),
]


def named(zoo: Path, name: str) -> onnx.ModelProto:
    return NameNodes()(onnx.load(zoo / "models" / f"{name}.onnx")).model


@pytest.mark.parametrize(("name", "ends", "count"), ZOO)
def test_real_models_end_where_their_branches_do(zoo: Path, name: str, ends: int, count: int) -> None:
    model = named(zoo, name)
    found = tail.find(model)
    assert len(found.ends) == ends
    assert len(blocks.find(model)) == count
    operators = {n.name: n.op_type for n in model.graph.node}
    assert all(operators[end] in tail.WEIGHTED for end in found.ends)


def test_the_expectation_over_bins_decodes(zoo: Path) -> None:
    found = tail.find(named(zoo, "yolov8n"))
    assert "/model.22/dfl/conv/Conv" in found.nodes
    assert {"/model.22/cv2.0/cv2.0.2/Conv", "/model.22/cv3.2/cv3.2.2/Conv"} <= set(found.ends)
    assert "/model.22/Concat_3" in found.nodes
    assert not any(name.startswith("/model.21/") for name in found.nodes)


def test_attention_in_the_backbone_is_no_tail(zoo: Path) -> None:
    found = tail.find(named(zoo, "yolo11n-pose"))
    assert all(name.startswith("/model.23/") for name in found.nodes)


def two_branches() -> onnx.ModelProto:
    """x -> c1 -> SiLU -> (boxes, scores -> Sigmoid) -> Concat."""
    rng = np.random.default_rng(2)
    weights = {name: rng.normal(size=(3, 3, 1, 1)).astype(np.float32) for name in ("w1", "w2", "w3")}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], name="c1"),
        helper.make_node("Sigmoid", ["a"], ["g"], name="gate"),
        helper.make_node("Mul", ["a", "g"], ["s"], name="silu"),
        helper.make_node("Conv", ["s", "w2"], ["boxes"], name="box"),
        helper.make_node("Conv", ["s", "w3"], ["logits"], name="class"),
        helper.make_node("Sigmoid", ["logits"], ["scores"], name="squash"),
        helper.make_node("Concat", ["boxes", "scores"], ["y"], name="join", axis=1),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "branches",
        [value("x", TensorProto.FLOAT, [1, 3, 4, 4])],
        [value("y", TensorProto.FLOAT, [1, 6, 4, 4])],
        [numpy_helper.from_array(w, name) for name, w in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def test_the_activation_behind_an_end_is_tail() -> None:
    found = tail.find(two_branches())
    assert found == tail.Tail(ends=("box", "class"), nodes=frozenset({"squash", "join"}))


def test_a_block_is_a_layer_with_its_activation() -> None:
    found = blocks.find(two_branches())
    assert [(b.name, b.nodes, b.input, b.output) for b in found] == [
        ("c1", ("c1", "gate", "silu"), "x", "s"),
        ("box", ("box",), "s", "boxes"),
        ("class", ("class", "squash"), "s", "scores"),
    ]


def test_an_activation_that_others_read_is_no_part_of_the_block() -> None:
    model = two_branches()
    model.graph.node.append(helper.make_node("Relu", ["a"], ["z"], name="elsewhere"))
    assert blocks.find(model)[0].nodes == ("c1",)


def test_a_model_without_weights_has_no_ends() -> None:
    model = toys.detector()
    node = next(n for n in model.graph.node if n.op_type == "Conv")
    node.op_type, node.name = "Relu", "relu"
    del node.input[1:]
    del node.attribute[:]
    assert tail.find(model).ends == ()
