from __future__ import annotations

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from edgekit.errors import ModelError
from edgekit.packaging.passes.boundary import NarrowBoundary

TAKEN = ("float32", "int32", "bool")


def counter(element: int = TensorProto.INT64, *, inside: bool = False) -> onnx.ModelProto:
    """y = x + x, z = y + y, both outputs; with `inside`, z is made in a subgraph that reads x."""
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Add", ["y", "y"], ["z"])]
    if inside:
        branch = helper.make_graph([helper.make_node("Add", ["x", "y"], ["b"])], "b", [], [value("b", element, [2])])
        nodes[1] = helper.make_node("If", ["choose"], ["z"], then_branch=branch, else_branch=branch)
    inputs = [value("x", element, [2])] + ([value("choose", TensorProto.BOOL, [])] if inside else [])
    graph = helper.make_graph(nodes, "counter", inputs, [value("y", element, [2]), value("z", element, [2])])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def types(model: onnx.ModelProto) -> list[int]:
    return [v.type.tensor_type.elem_type for v in (*model.graph.input, *model.graph.output)]


@pytest.mark.parametrize(
    ("wide", "narrow"), [(TensorProto.INT64, TensorProto.INT32), (TensorProto.DOUBLE, TensorProto.FLOAT)]
)
def test_wide_inputs_and_outputs_become_narrow_under_their_names(wide: int, narrow: int) -> None:
    result = NarrowBoundary(TAKEN)(counter(wide))
    assert types(result.model) == [narrow] * 3
    onnx.checker.check_model(result.model, full_check=True)
    session = ort.InferenceSession(result.model.SerializeToString())
    x = np.array([1, 2], helper.tensor_dtype_to_np_dtype(narrow))
    y, z = session.run(["y", "z"], {"x": x})
    assert (y.tolist(), z.tolist()) == ([2, 4], [4, 8])
    assert y.dtype == x.dtype
    assert len(result.notes) == 3


def test_what_a_subgraph_takes_from_outside_is_renamed_too() -> None:
    result = NarrowBoundary(TAKEN)(counter(inside=True))
    session = ort.InferenceSession(result.model.SerializeToString())
    z = session.run(["z"], {"x": np.array([1, 2], np.int32), "choose": np.array(True)})[0]
    assert z.tolist() == [3, 6]


def test_dtypes_that_the_target_takes_are_left_alone() -> None:
    model = counter(TensorProto.FLOAT)
    assert not NarrowBoundary(TAKEN)(model).changed


def test_a_dtype_that_nothing_narrower_holds_is_refused_with_its_name() -> None:
    with pytest.raises(ModelError, match=r"input x is float16, the target takes float32, int32, bool"):
        NarrowBoundary(TAKEN)(counter(TensorProto.FLOAT16))
