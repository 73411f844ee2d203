"""A model in pieces gives what the whole one gives."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from edgekit.packaging import probe
from edgekit.packaging.calibration.graph import activations
from edgekit.packaging.calibration.pieces import Pieces
from tests import toys
from tests.packaging.calibration.linear import feeds, linear, model


def branching() -> onnx.ModelProto:
    """Two tensors that are read again at the end, one of them inside an If only."""
    inner = helper.make_graph(
        [helper.make_node("Add", ["doubled", "doubled"], ["four"])],
        "then",
        [],
        [helper.make_tensor_value_info("four", TensorProto.FLOAT, None)],
    )
    outer = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["same"])],
        "else",
        [],
        [helper.make_tensor_value_info("same", TensorProto.FLOAT, None)],
    )
    return model(
        [
            helper.make_node("Mul", ["x", "two"], ["doubled"]),
            helper.make_node("Relu", ["x"], ["positive"]),
            helper.make_node("Neg", ["positive"], ["negative"]),
            helper.make_node("ReduceMax", ["x"], ["largest"], keepdims=0),
            helper.make_node("Less", ["largest", "two"], ["small"]),
            helper.make_node("If", ["small"], ["chosen"], then_branch=inner, else_branch=outer),
            helper.make_node("Add", ["chosen", "negative"], ["y"]),
        ],
        ["y"],
    )


MODELS = {"linear": linear(), "old": linear(opset=9, ir=3), "branching": branching(), "detector": toys.detector()}


@pytest.mark.parametrize("limit", [1, 100, 1 << 30])
@pytest.mark.parametrize("name", list(MODELS))
def test_pieces_give_what_the_whole_gives(name: str, limit: int) -> None:
    toy = MODELS[name]
    feed = feeds([-1, 0.5, 1])[0]
    if name == "detector":
        feed = {"images": np.random.default_rng(1).random((1, 3, 64, 64), np.float32)}
    names = activations(toy, None)
    whole = onnx.ModelProto()
    whole.CopyFrom(toy)
    whole.graph.ClearField("output")
    whole.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names if n not in feed)
    expected = probe.run(whole, [feed])[0] | feed
    found = dict(Pieces.of(toy, dict.fromkeys(names, 100), limit).run(feed))
    assert found.keys() == expected.keys()
    for tensor, values in found.items():
        # the whole one runs other kernels, at a higher optimization level
        np.testing.assert_allclose(values, expected[tensor], rtol=1e-3, atol=1e-5)


def test_a_piece_holds_no_more_than_the_limit() -> None:
    pieces = Pieces.of(branching(), dict.fromkeys(["doubled", "positive", "negative", "chosen", "y"], 40), 80).pieces
    assert [len(piece.wanted) for piece in pieces] == [2, 2, 1]


def test_nodes_behind_what_is_wanted_do_not_run() -> None:
    (piece,) = Pieces.of(linear(), {"doubled": 8}, 100).pieces
    assert piece.outputs == ("doubled",)


def test_what_is_not_read_again_is_let_go() -> None:
    pieces = Pieces.of(branching(), dict.fromkeys(["doubled", "positive", "negative", "chosen", "y"], 1), 1).pieces
    assert [sorted(piece.carried) for piece in pieces] == [
        ["doubled", "x"],
        ["doubled", "positive", "x"],
        ["doubled", "negative", "small", "x"],
        ["chosen", "negative"],
        [],
    ]
