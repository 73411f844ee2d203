from __future__ import annotations

import onnx
import pytest

from edgekit.errors import ModelError
from edgekit.packaging.passes.versions import PinVersions, StripImports
from tests import toys


@pytest.mark.parametrize(("opset", "ir", "expected"), [(21, 10, (17, 8)), (13, 7, (13, 7)), (17, 9, (17, 8))])
def test_what_is_too_new_is_brought_down_and_nothing_else_is(opset: int, ir: int, expected: tuple[int, int]) -> None:
    result = PinVersions(opset=17, ir=8)(toys.detector(opset=opset, ir=ir))
    assert (result.model.opset_import[0].version, result.model.ir_version) == expected
    assert result.changed == ((opset, ir) != expected)


def test_metadata_survives_the_conversion() -> None:
    result = PinVersions(opset=17, ir=8)(toys.detector(opset=21, ir=10, metadata={"task": "detect"}))
    assert [(p.key, p.value) for p in result.model.metadata_props] == [("task", "detect")]


def test_an_opset_that_cannot_be_converted_is_named() -> None:
    model = toys.detector(opset=20)
    model.graph.node.append(onnx.helper.make_node("Gelu", ["output0"], ["gelu"], name="gelu"))
    model.graph.output[0].name = "gelu"
    with pytest.raises(ModelError, match=r"opset 20.*cannot be converted"):
        PinVersions(opset=17, ir=8)(model)


def test_imports_that_no_node_uses_are_dropped() -> None:
    result = StripImports()(toys.detector(imports=[("ai.onnx.ml", 5), ("com.microsoft", 1)]))
    assert [o.domain for o in result.model.opset_import] == [""]


def test_imports_in_use_are_kept() -> None:
    model = toys.detector(imports=[("com.microsoft", 1)])
    model.graph.node[5].domain = "com.microsoft"
    result = StripImports()(model)
    assert not result.changed
    assert {o.domain for o in result.model.opset_import} == {"", "com.microsoft"}
