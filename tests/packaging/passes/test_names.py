from __future__ import annotations

import onnx
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper

from edgekit.packaging import source
from edgekit.packaging.passes.names import NameNodes
from tests import toys


def chain(names: list[str]) -> onnx.ModelProto:
    """One Relu behind the other, named so."""
    nodes = [helper.make_node("Relu", [f"t{i}"], [f"t{i + 1}"], name=name) for i, name in enumerate(names)]
    ends = [helper.make_tensor_value_info(f"t{i}", TensorProto.FLOAT, [1]) for i in (0, len(names))]
    return helper.make_model(helper.make_graph(nodes, "chain", ends[:1], ends[1:]))


def names(model: onnx.ModelProto) -> list[str]:
    return [node.name for node in source.nodes(model.graph)]


@given(st.lists(st.sampled_from(["", "a", "a_1", "b", "Relu", "Relu_1"]), min_size=1))
def test_every_node_has_a_name_of_its_own_and_the_first_to_bear_one_keeps_it(given: list[str]) -> None:
    named = names(NameNodes()(chain(given)).model)
    assert all(named)
    assert len(set(named)) == len(named)
    assert all(named[given.index(name)] == name for name in set(given) - {""})


def test_a_model_whose_names_are_unique_is_left_alone() -> None:
    model = toys.detector()
    result = NameNodes()(model)
    assert not result.changed
    assert result.model is model


def test_nodes_in_subgraphs_are_named_too() -> None:
    branch = chain(["twin"]).graph
    branch.ClearField("input")
    branch.node[0].input[0] = "x"
    choice = helper.make_node("If", ["which"], ["y"], name="twin", then_branch=branch, else_branch=branch)
    inputs = [
        helper.make_tensor_value_info("which", TensorProto.BOOL, []),
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])]
    model = helper.make_model(helper.make_graph([choice], "choice", inputs, outputs))
    assert names(NameNodes()(model).model) == ["twin", "twin_1", "twin_2"]


def test_the_same_model_gets_the_same_names() -> None:
    one, other = (NameNodes()(chain(["", "x", "", "x"])).model for _ in range(2))
    assert names(one) == names(other) == ["Relu_1", "x", "Relu_2", "x_1"]


def test_the_model_that_went_in_is_not_changed() -> None:
    model = chain(["", ""])
    NameNodes()(model)
    assert names(model) == ["", ""]
