from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edgekit.packaging import blocks
from edgekit.packaging.blocks import Block
from edgekit.packaging.passes.names import NameNodes

# operators of the blocks, and how many there are
ZOO = {
    "yolov8n": {"Conv Sigmoid Mul": 57, "Conv": 7},
    "yolo11n-pose": {"Conv Sigmoid Mul": 83, "Conv": 14},
    "yolox_nano": {"Conv Sigmoid Mul": 104, "Conv Sigmoid": 6, "Conv": 3},
    "nanodet_m_320": {"Conv LeakyRelu": 48, "Conv": 25},
    "FastestDet": {"Conv Relu": 47, "Conv Sigmoid": 1, "Conv": 22},
    "efficientnet_lite0": {"Conv Clip": 33, "Conv": 16, "Gemm": 1},
    "ultraface_rfb320": {"Conv BatchNormalization Relu": 27, "Conv BatchNormalization": 8, "Conv Relu": 9, "Conv": 8},
    "yolov8n_collapsed_int8": {},  # its weights come from DequantizeLinear
}

# (operator, inputs, output) behind a layer that makes t; the last makes y
ACTIVATIONS = {
    "ReLU": [("Relu", "t", "y")],
    "PReLU": [("PRelu", "t c4", "y")],
    "ReLU6": [("Clip", "t c0 c6", "y")],
    "SiLU": [("Sigmoid", "t", "g"), ("Mul", "t g", "y")],
    "SiLU, factors swapped": [("Sigmoid", "t", "g"), ("Mul", "g t", "y")],
    "hard swish of a gate": [("HardSigmoid", "t", "g"), ("Mul", "t g", "y")],
    "hard swish written out": [
        ("Add", "t c3", "a"),
        ("Clip", "a c0 c6", "b"),
        ("Mul", "t b", "c"),
        ("Div", "c c6", "y"),
    ],
    "hard swish, gate divided": [
        ("Add", "t c3", "a"),
        ("Clip", "a c0 c6", "b"),
        ("Div", "b c6", "c"),
        ("Mul", "t c", "y"),
    ],
    "Mish": [("Softplus", "t", "a"), ("Tanh", "a", "b"), ("Mul", "t b", "y")],
    "GELU": [
        *(("Div", "t c3", "a"), ("Erf", "a", "b"), ("Add", "b c1", "c")),
        *(("Mul", "t c", "d"), ("Mul", "d c05", "y")),
    ],
    "GELU by Tanh": [
        *(("Pow", "t c3", "a"), ("Mul", "a c05", "b"), ("Add", "t b", "c"), ("Mul", "c c05", "d"), ("Tanh", "d", "e")),
        *(("Add", "e c1", "f"), ("Mul", "t f", "g"), ("Mul", "g c05", "y")),
    ],
}


def build(*nodes: tuple[str, str, str], outputs: str = "z") -> onnx.ModelProto:
    """A model that reads x, its nodes named after their output; w... are weights of 4 by 4, c... constants."""
    rng = np.random.default_rng(2)
    scalars = {"c0": 0, "c05": 0.5, "c1": 1, "c3": 3, "c6": 6}
    weights = {name: np.array(value, np.float32) for name, value in scalars.items()}
    weights["c4"] = np.ones(4, np.float32)
    for name in {name for _, inputs, _ in nodes for name in inputs.split() if name.startswith("w")}:
        weights[name] = rng.normal(size=(4, 4)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node(op, inputs.split(), output.split(), name=output.split()[0]) for op, inputs, output in nodes],
        "layers",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs.split()],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def nodes_of(model: onnx.ModelProto) -> list[tuple[str, ...]]:
    return [block.nodes for block in blocks.find(model)]


@pytest.mark.parametrize("name", ZOO)
def test_the_layers_of_a_real_model_with_their_activations(zoo: Path, name: str) -> None:
    model = NameNodes()(onnx.load(zoo / "models" / f"{name}.onnx")).model
    operators = {node.name: node.op_type for node in model.graph.node}
    found: dict[str, int] = {}
    for nodes in nodes_of(model):
        kind = " ".join(operators[node] for node in nodes)
        found[kind] = found.get(kind, 0) + 1
    assert found == ZOO[name]


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_activation_belongs_to_its_layer(activation: str) -> None:
    chain = ACTIVATIONS[activation]
    model = build(("Conv", "x w1", "t"), *chain, ("Conv", "y w2", "z"))
    first, second = blocks.find(model)
    assert first == Block("t", ("t", *(output for _, _, output in chain)), "x", "y", "w1")
    assert second == Block("z", ("z",), "y", "z", "w2")


def test_a_normalization_between_belongs_to_the_layer() -> None:
    model = build(("Conv", "x w1", "t"), ("BatchNormalization", "t c4 c4 c4 c4", "n"), ("Relu", "n", "z"))
    assert nodes_of(model) == [("t", "n", "z")]


def test_the_bias_of_a_matmul_belongs_to_the_layer() -> None:
    model = build(("MatMul", "x w1", "t"), ("Add", "c4 t", "b"), ("Relu", "b", "z"))
    assert nodes_of(model) == [("t", "b", "z")]


def test_a_matmul_names_its_weight_and_its_input_on_either_side() -> None:
    (block,) = blocks.find(build(("MatMul", "w1 x", "z")))
    assert (block.input, block.weight) == ("x", "w1")


def test_a_product_of_two_activations_is_no_block() -> None:
    assert blocks.find(build(("Relu", "x", "a"), ("MatMul", "a x", "z"))) == []


@pytest.mark.parametrize("operator", ["Add", "Mul", "Concat"])
def test_what_joins_another_branch_belongs_to_no_layer(operator: str) -> None:
    model = build(("Conv", "x w1", "t"), (operator, "t x", "s"), ("Relu", "s", "z"))
    assert nodes_of(model) == [("t",)]


def test_a_scaling_alone_is_no_activation() -> None:
    model = build(("Conv", "x w1", "t"), ("Mul", "t c3", "s"), ("Reshape", "s c4", "z"))
    assert nodes_of(model) == [("t",)]


def test_an_activation_that_begins_behind_two_readers_is_shared_by_none() -> None:
    model = build(("Conv", "x w1", "t"), ("Relu", "t", "a"), ("Conv", "t w2", "b"), ("Add", "a b", "z"))
    assert nodes_of(model) == [("t",), ("b",)]


def test_a_gate_that_others_read_stays_outside() -> None:
    model = build(("Conv", "x w1", "t"), ("Sigmoid", "t", "g"), ("Mul", "t g", "y"), ("Concat", "y g", "z"))
    assert nodes_of(model) == [("t",)]


def test_a_layer_that_is_an_output_itself_stands_alone() -> None:
    model = build(("Conv", "x w1", "t"), ("Sigmoid", "t", "z"), outputs="t z")
    assert nodes_of(model) == [("t",)]


def test_a_layer_that_heads_share_is_one_block() -> None:
    model = build(
        *(("Conv", "x w1", "t"), ("Sigmoid", "t", "g"), ("Mul", "t g", "s")),
        *(("Conv", "s w2", "y"), ("Conv", "s w3", "z")),
        outputs="y z",
    )
    assert nodes_of(model) == [("t", "g", "s"), ("y",), ("z",)]


def test_a_weight_in_a_constant_node_counts() -> None:
    model = build(("Conv", "x w1", "z"))
    held = next(tensor for tensor in model.graph.initializer if tensor.name == "w1")
    model.graph.node.insert(0, helper.make_node("Constant", [], ["w1"], name="held", value=held))
    model.graph.initializer.remove(held)
    assert nodes_of(model) == [("z",)]


@given(st.lists(st.sampled_from(list(ACTIVATIONS)), min_size=1, max_size=6))
def test_nothing_outside_a_block_reads_a_tensor_inside(chain: list[str]) -> None:
    nodes, tensor = [], "x"
    for i, name in enumerate(chain):
        rename = {"t": f"t{i}", "y": f"y{i}"} | {letter: f"{letter}{i}_" for letter in "abcdefg"}
        nodes.append(("Conv", f"{tensor} w{i}", f"t{i}"))
        for operator, inputs, output in ACTIVATIONS[name]:
            nodes.append((operator, " ".join(rename.get(n, n) for n in inputs.split()), rename[output]))
        tensor = f"y{i}"
    model = build(*nodes, outputs=tensor)
    found = blocks.find(model)
    assert [node for block in found for node in block.nodes] == [node.name for node in model.graph.node]
    for block in found:
        inside = {output for n in model.graph.node if n.name in block.nodes for output in n.output} - {block.output}
        assert all(inside.isdisjoint(n.input) for n in model.graph.node if n.name not in block.nodes)
