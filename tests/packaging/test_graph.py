from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edgekit.packaging.graph import Graph, reads
from tests import toys


def value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def diamond() -> onnx.ModelProto:
    """x goes two ways and comes together again; a constant joins through a Constant node and a Transpose."""
    two = numpy_helper.from_array(np.full((2, 2), 2, np.float32), "two")
    nodes = [
        helper.make_node("Constant", [], ["held"], name="constant", value=two),
        helper.make_node("Transpose", ["held"], ["turned"], name="turn"),
        helper.make_node("Relu", ["x"], ["left"], name="left"),
        helper.make_node("Sigmoid", ["x"], ["right"], name="right"),
        helper.make_node("MatMul", ["left", "turned"], ["product"], name="product"),
        helper.make_node("Add", ["product", "right"], ["y"], name="sum"),
        helper.make_node("Tanh", ["right"], ["unused"], name="aside"),
    ]
    return helper.make_model(helper.make_graph(nodes, "diamond", [value("x")], [value("y")]))


def test_a_tensor_knows_who_makes_it_and_who_reads_it() -> None:
    graph = Graph.of(diamond())
    assert graph.producers["product"] == "product"
    assert graph.consumers["x"] == ("left", "right")
    assert graph.consumers["right"] == ("sum", "aside")
    assert graph.outputs == ("y",)


def test_walking_back_finds_all_that_a_tensor_needs_and_nothing_else() -> None:
    graph = Graph.of(diamond())
    assert graph.before(["product"]) == {"product", "left", "turn", "constant"}
    assert graph.before(["x"]) == set()


def test_walking_on_finds_all_that_depends_on_a_tensor() -> None:
    graph = Graph.of(diamond())
    assert graph.behind(["right"]) == {"sum", "aside"}
    assert graph.behind(["y"]) == set()


def test_what_is_made_of_constants_alone_is_constant() -> None:
    graph = Graph.of(diamond())
    assert graph.constants == {"held", "turned"}
    assert graph.variables(graph.nodes["product"]) == ["left"]


def test_the_value_behind_a_rearranged_constant_is_the_stored_one() -> None:
    graph = Graph.of(diamond())
    stored = graph.value("turned")
    assert stored is not None
    assert stored.tolist() == [[2, 2], [2, 2]]
    assert graph.value("left") is None


def test_the_weight_of_a_matmul_may_stand_on_either_side() -> None:
    model = diamond()
    product = next(n for n in model.graph.node if n.name == "product")
    product.input[:] = ["turned", "left"]
    graph = Graph.of(model)
    assert graph.weight(graph.nodes["product"]) == "turned"


def test_a_product_of_two_activations_has_no_weight() -> None:
    model = diamond()
    product = next(n for n in model.graph.node if n.name == "product")
    product.input[:] = ["left", "right"]
    graph = Graph.of(model)
    assert graph.weight(graph.nodes["product"]) is None


def test_an_operator_of_another_domain_has_no_weight_that_we_know_of() -> None:
    model = toys.detector(imports=[("vendor", 1)])
    conv = next(n for n in model.graph.node if n.name == "conv")
    conv.domain = "vendor"
    graph = Graph.of(model)
    assert graph.weight(graph.nodes["conv"]) is None


def test_a_subgraph_reads_what_it_takes_from_outside() -> None:
    inner = [
        helper.make_node("Relu", ["outside"], ["own"], name="relu"),
        helper.make_node("Add", ["own", "farther"], ["sum"], name="add"),
    ]
    branch = helper.make_graph(inner, "branch", [], [value("sum")])
    choice = helper.make_node("If", ["which"], ["y"], name="choice", then_branch=branch, else_branch=branch)
    assert set(reads(choice)) == {"which", "outside", "farther"}


def test_nodes_stay_themselves_while_the_graph_is_held() -> None:
    graph = Graph.of(toys.detector())
    assert all(graph.nodes[name] is node for name, node in graph.nodes.items())
    assert list(graph.nodes) == [n.name for n in toys.detector().graph.node]
