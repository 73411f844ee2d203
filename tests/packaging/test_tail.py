from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edgekit.packaging import tail
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.names import NameNodes
from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.tail import Tail
from tests import toys

SHAPES = Path(__file__).resolve().parents[2] / "examples" / "shapes" / "shapes.onnx"

# the last layers of each branch, as somebody who knows the network would name them, and the size of the tail
ZOO = {
    "yolov8n": ([f"/model.22/cv{branch}.{i}/cv{branch}.{i}.2/Conv" for i in range(3) for branch in (2, 3)], 25),
    "yolov5n": ([f"/model.24/m.{i}/Conv" for i in range(3)], 61),
    "yolo11n-pose": ([f"/model.23/cv{b}.{i}/cv{b}.{i}.2/Conv" for i in range(3) for b in (2, 4, 3)], 37),
    "yolox_nano": ([f"Conv_{n}" for n in (314, 327, 328, 347, 360, 361, 380, 393, 394)], 14),
    "nanodet_m_320": (["Conv_393", "Conv_410", "Conv_427"], 18),
    "deimv2_atto": (["/model/decoder/enc_score_head/MatMul"], 670),
    "efficientnet_lite0": (["/_fc/Gemm"], 0),
    "FastestDet": (["Conv_253", "Conv_257", "Conv_260"], 5),
    "ultraface_rfb320": ([f"Conv_{n}" for n in (27, 29, 37, 39, 45, 47, 51, 52)], 116),
    "yolov8n_collapsed_int8": ([f"/model.22/cv{b}.{i}/cv{b}.{i}.2/Conv" for i in range(3) for b in (2, 3)], 90),
}


def load(path: Path) -> onnx.ModelProto:
    return NameNodes()(onnx.load(path)).model


def build(nodes: list[onnx.NodeProto], outputs: list[str], **weights: np.ndarray) -> onnx.ModelProto:
    """A model that reads x. Weights that nodes call w, w1, ... and that are not given are noise."""
    rng = np.random.default_rng(2)
    for name in (name for node in nodes for name in node.input if name.startswith("w")):
        weights.setdefault(name, rng.normal(size=(4, 4, 1, 1)))
    graph = helper.make_graph(
        nodes,
        "branches",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, None)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [
            numpy_helper.from_array(w if w.dtype.kind == "i" else w.astype(np.float32), name)
            for name, w in weights.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(operator: str, inputs: str, outputs: str, **attributes: object) -> onnx.NodeProto:
    """A node that is named after its first output."""
    return helper.make_node(operator, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)


@pytest.mark.parametrize("name", ZOO)
def test_a_real_model_ends_where_its_branches_do(zoo: Path, name: str) -> None:
    found = tail.find(load(zoo / "models" / f"{name}.onnx"))
    assert (list(found.ends), len(found.nodes)) == ZOO[name]


@pytest.mark.parametrize("name", ["yolov8n", "yolov5n", "yolox_nano", "nanodet_m_320", "ultraface_rfb320"])
def test_passes_in_front_do_not_move_the_ends(zoo: Path, name: str) -> None:
    model = load(zoo / "models" / f"{name}.onnx")
    prepared = RaiseOpset(13)(NameNodes()(Simplify()(SealInitializers()(model).model).model).model).model
    assert len(tail.find(prepared).ends) == len(tail.find(model).ends)


def test_the_expectation_over_bins_is_tail_in_yolov8(zoo: Path) -> None:
    found = tail.find(load(zoo / "models" / "yolov8n.onnx"))
    assert all(name.startswith("/model.22/") for name in found.nodes)
    assert "/model.22/dfl/conv/Conv" in found.nodes


def test_attention_in_the_backbone_is_no_tail(zoo: Path) -> None:
    found = tail.find(load(zoo / "models" / "yolo11n-pose.onnx"))
    assert all(name.startswith("/model.23/") for name in found.nodes)


def test_a_detrs_decoder_is_tail_and_its_encoder_is_not(zoo: Path) -> None:
    found = tail.find(load(zoo / "models" / "deimv2_atto.onnx"))
    assert {name.split("/")[2] for name in found.nodes if name.startswith("/model/")} == {"decoder"}
    assert "/model/decoder/decoder/layers.0/swish_ffn/w12/MatMul" in found.nodes


def test_the_example_ends_at_its_boxes_and_scores() -> None:
    found = tail.find(load(SHAPES))
    assert list(found.ends) == [f"/network/{b}.{i}/{b}.{i}.2/Conv" for b in ("box", "score") for i in range(3)]


def test_a_toy_ends_at_its_convolution_and_what_makes_its_shape_is_tail() -> None:
    found = tail.find(toys.detector())
    assert found == Tail(("conv",), frozenset({"shape", "up", "down", "flatten", "squash", "out"}))


def test_the_activation_behind_an_end_is_tail() -> None:
    model = build(
        [
            node("Conv", "x w1", "stem"),
            node("Relu", "stem", "s"),
            node("Conv", "s w2", "box"),
            node("Conv", "s w3", "class"),
            node("Sigmoid", "class", "squash"),
            node("Concat", "box squash", "y", axis=1),
        ],
        ["y"],
    )
    assert tail.find(model) == Tail(("box", "class"), frozenset({"squash", "y"}))


def test_splits_and_concats_that_a_convolution_follows_are_no_tail() -> None:
    model = build(
        [
            node("Conv", "x w1", "stem"),
            node("Split", "stem", "left right", axis=1),
            node("Conv", "right w2", "inner"),
            node("Concat", "left right inner", "joined", axis=1),
            node("Conv", "joined w3", "last"),
            node("Split", "last", "boxes scores", axis=1),
        ],
        ["boxes", "scores"],
        w2=np.random.default_rng(0).normal(size=(2, 2, 1, 1)),
        w3=np.random.default_rng(0).normal(size=(8, 6, 1, 1)),
    )
    assert tail.find(model) == Tail(("last",), frozenset({"boxes"}))


def test_a_residual_add_that_a_convolution_follows_is_no_tail() -> None:
    model = build(
        [
            node("Conv", "x w1", "stem"),
            node("Conv", "stem w2", "inner"),
            node("Add", "stem inner", "sum"),
            node("Conv", "sum w3", "last"),
        ],
        ["last"],
    )
    assert tail.find(model) == Tail(("last",), frozenset())


def test_at_the_end_a_residual_add_is_tail_and_the_body_that_it_reads_is_not() -> None:
    model = build(
        [
            node("Conv", "x w1", "c1"),
            node("Relu", "c1", "r1"),
            node("Conv", "r1 w2", "c2"),
            node("Add", "r1 c2", "s1"),
            node("Relu", "s1", "r2"),
            node("Conv", "r2 w3", "c3"),
            node("Add", "r2 c3", "y"),
        ],
        ["y"],
    )
    assert tail.find(model) == Tail(("c3",), frozenset({"y"}))


def test_a_convolution_that_two_heads_share_is_no_end() -> None:
    model = build(
        [
            node("Conv", "x w1", "shared"),
            node("Conv", "shared w2", "box"),
            node("Reshape", "box shape", "flat"),
            node("Conv", "shared w3", "class"),
        ],
        ["flat", "class"],
        shape=np.array([1, 4, -1]),
    )
    assert tail.find(model) == Tail(("box", "class"), frozenset({"flat"}))


def test_a_branch_that_feeds_an_output_and_a_further_layer_ends_twice() -> None:
    model = build(
        [
            node("Conv", "x w1", "coarse"),
            node("Relu", "coarse", "active"),
            node("Reshape", "active shape", "early"),
            node("Conv", "active w2", "fine"),
        ],
        ["early", "fine"],
        shape=np.array([1, 4, -1]),
    )
    assert tail.find(model) == Tail(("coarse", "fine"), frozenset({"early"}))


def test_a_layer_that_no_output_needs_does_not_matter() -> None:
    model = build(
        [node("Conv", "x w1", "last"), node("Sigmoid", "last", "y"), node("Conv", "y w2", "unused")],
        ["y"],
    )
    assert tail.find(model) == Tail(("last",), frozenset({"y"}))


@given(bins=st.integers(8, 32), first=st.integers(-20, 20), step=st.floats(0.01, 3), seed=st.integers(0, 99))
def test_weights_that_count_decode_even_if_quantization_moved_them(
    bins: int, first: int, step: float, seed: int
) -> None:
    moved = np.random.default_rng(seed).uniform(-0.1, 0.1, bins)
    model = build(
        [node("Conv", "x w1", "sides"), node("Exp", "sides", "e"), node("Conv", "e bins", "y")],
        ["y"],
        bins=((first + np.arange(bins) + moved) * step).reshape(1, bins, 1, 1),
    )
    assert tail.find(model) == Tail(("sides",), frozenset({"e", "y"}))


@given(inputs=st.integers(8, 64), seed=st.integers(0, 999))
def test_a_trained_layer_with_one_output_is_an_end(inputs: int, seed: int) -> None:
    objectness = np.random.default_rng(seed).normal(size=(1, inputs, 1, 1))
    model = build([node("Conv", "x w1", "stem"), node("Conv", "stem objectness", "y")], ["y"], objectness=objectness)
    assert tail.find(model).ends == ("y",)


def test_an_expectation_over_uneven_bins_decodes() -> None:
    model = build(
        [
            node("Conv", "x w1", "sides"),
            node("Reshape", "sides shape", "flat"),
            node("Softmax", "flat", "chances"),
            node("Transpose", "chances", "turned"),
            node("MatMul", "turned bins", "y"),
        ],
        ["y"],
        shape=np.array([-1, 5]),
        bins=np.array([-4, -1, 0, 1, 4.0]),
    )
    assert tail.find(model) == Tail(("sides",), frozenset({"flat", "chances", "turned", "y"}))


def test_a_matrix_that_turns_centres_into_corners_decodes() -> None:
    corners = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-0.5, 0, 0.5, 0], [0, -0.5, 0, 0.5]])
    model = build([node("Conv", "x w1", "box"), node("MatMul", "box corners", "y")], ["y"], corners=corners)
    assert tail.find(model) == Tail(("box",), frozenset({"y"}))


def test_what_works_on_a_selection_is_tail_with_its_layers() -> None:
    model = build(
        [
            node("MatMul", "x memory", "m"),
            node("MatMul", "m score", "s"),
            node("TopK", "s k", "best index", axis=1),
            node("GatherElements", "m index", "queries", axis=1),
            node("MatMul", "queries w3", "y"),
        ],
        ["y"],
        k=np.array([3]),
        memory=np.random.default_rng(0).normal(size=(4, 4)),
        score=np.random.default_rng(1).normal(size=(4, 9)),
        w3=np.random.default_rng(2).normal(size=(4, 9)),
    )
    assert tail.find(model) == Tail(("m", "s"), frozenset({"best", "queries", "y"}))


def test_the_largest_values_are_features_like_others() -> None:
    model = build(
        [node("Conv", "x w1", "c"), node("TopK", "c k", "values index"), node("Conv", "values w2", "y")],
        ["y"],
        k=np.array([3]),
    )
    assert tail.find(model) == Tail(("y",), frozenset())


def test_a_model_without_layers_is_tail_throughout() -> None:
    model = build([node("Relu", "x", "a"), node("Sigmoid", "a", "y")], ["y"])
    assert tail.find(model) == Tail((), frozenset({"a", "y"}))
