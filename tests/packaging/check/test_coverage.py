from __future__ import annotations

from dataclasses import replace

import onnx
import pytest
from onnx import TensorProto, helper

from edgekit.packaging.check import Coverage
from edgekit.target import Limits, OperatorList
from tests import toys

ALL = ("Conv", "Concat", "Reshape", "Mul", "Div", "Sigmoid")


def listed(*operators: str, dtypes: tuple[str, ...] = ()) -> OperatorList:
    return OperatorList("a provider", "a test", "1", operators or ALL, dtypes=dtypes)


def test_all_that_is_listed_is_taken() -> None:
    coverage = Coverage.of(toys.detector(), listed(), Limits())
    assert (coverage.node_share, coverage.mac_share, coverage.partitions, coverage.left) == (1, 1, 1, ())


def test_what_is_not_listed_is_left_with_its_work_and_divides_the_graph() -> None:
    coverage = Coverage.of(toys.detector(), listed("Mul", "Div", "Reshape", "Sigmoid"), Limits())
    assert [(n.name, n.operator) for n in coverage.left] == [("conv", "Conv")]
    assert coverage.mac_share == 0
    assert coverage.macs == 7 * 8 * 8 * 3 * 8 * 8
    middle = Coverage.of(toys.detector(), listed(*(op for op in ALL if op != "Reshape")), Limits())
    assert (middle.partitions, middle.mac_share) == (2, 1)


def test_what_depends_on_no_input_does_not_count() -> None:
    """A chain of constants in front of a Reshape is folded before any provider is asked."""
    assert Coverage.of(toys.detector(), listed(*(op for op in ALL if op != "Concat")), Limits()).left == ()


def test_a_dtype_that_the_provider_does_not_take_keeps_a_node_from_it() -> None:
    coverage = Coverage.of(toys.detector(), listed(dtypes=("float16",)), Limits())
    assert coverage.node_share == 0
    assert {n.why for n in coverage.left} == {"float32 is no dtype that it takes"}


def test_a_rank_above_the_limit_keeps_a_node_from_it() -> None:
    coverage = Coverage.of(toys.detector(), listed(), Limits(rank_max=3))
    assert [n.name for n in coverage.left] == ["conv", "up", "down", "flatten"]


def test_a_free_dimension_keeps_a_node_from_a_provider_of_fixed_shapes() -> None:
    model = toys.detector(batch="N")
    assert Coverage.of(model, listed(), Limits()).node_share == 1
    left = Coverage.of(model, listed(), Limits(static_shapes=True)).left
    assert {n.why for n in left} == {"no fixed shape"}


def test_a_provider_that_gives_up_takes_nothing() -> None:
    some = replace(listed("Conv", "Mul", "Reshape"), gives_up_above=2)  # Div and Sigmoid are left
    assert Coverage.of(toys.detector(), some, Limits()).mac_share == 1
    coverage = Coverage.of(toys.detector(), replace(some, gives_up_above=1), Limits())
    assert (coverage.mac_share, coverage.partitions, len(coverage.left)) == (0, 0, coverage.nodes)
    assert "takes nothing where it leaves more than 1 nodes" in coverage.left[0].why


def test_an_operator_of_another_domain_is_another_operator() -> None:
    model = toys.detector()
    next(n for n in model.graph.node if n.op_type == "Sigmoid").domain = "com.example"
    assert [n.operator for n in Coverage.of(model, listed(), Limits()).left] == ["com.example:Sigmoid"]
    assert Coverage.of(model, listed(*ALL, "com.example:Sigmoid"), Limits()).left == ()


def test_work_that_is_not_known_is_said_to_be_unknown() -> None:
    node = helper.make_node("MatMul", ["x", "x"], ["y"], name="product")
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "free", [value("x", TensorProto.FLOAT, ["n", "n"])], [value("y", TensorProto.FLOAT, ["n", "n"])]
    )
    coverage = Coverage.of(helper.make_model(graph), listed("MatMul"), Limits())
    assert (coverage.macs, coverage.mac_share) == (None, None)
    assert coverage.to_dict()["macs"] == {"total": None, "share": None}


@pytest.mark.parametrize("missing", ["Sigmoid", "Mul"])
def test_the_shares_of_a_real_model_add_up(zoo: object, missing: str) -> None:
    model = onnx.load(f"{zoo}/models/yolov8n.onnx")
    every = {node.op_type for node in model.graph.node}
    coverage = Coverage.of(model, listed(*(every - {missing})), Limits())
    count = sum(node.op_type == missing for node in model.graph.node)
    assert coverage.node_share == pytest.approx(1 - count / coverage.nodes)
    assert coverage.mac_share == 1
    assert coverage.partitions > 10
