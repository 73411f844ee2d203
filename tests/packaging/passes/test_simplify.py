from __future__ import annotations

import onnx
import pytest

from edgekit.errors import ModelError
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.simplify import Simplify
from tests import toys


def test_constants_are_folded_and_names_stay() -> None:
    result = Simplify()(toys.detector(metadata={"task": "detect"}))
    operators = [n.op_type for n in result.model.graph.node]
    assert "Concat" not in operators
    assert [v.name for v in (*result.model.graph.input, *result.model.graph.output)] == ["images", "output0"]
    assert result.model.ir_version == 8
    assert [p.key for p in result.model.metadata_props] == ["task"]


def test_the_same_model_gives_the_same_bytes() -> None:
    one, other = (Simplify()(toys.detector()).model.SerializeToString(deterministic=True) for _ in range(2))
    assert one == other


def test_a_failure_of_the_simplifier_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(model: onnx.ModelProto) -> None:
        raise ValueError("first line\nsecond line")

    monkeypatch.setattr("onnxslim.slim", failing)
    with pytest.raises(ModelError, match=r"^onnxslim failed: first line$"):
        Simplify()(toys.detector())


def test_weights_that_are_inputs_become_constants() -> None:
    model = toys.detector(ir=3)
    for tensor in model.graph.initializer:
        model.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    result = SealInitializers()(model)
    assert [i.name for i in result.model.graph.input] == ["images"]
    assert result.model.ir_version == 4
