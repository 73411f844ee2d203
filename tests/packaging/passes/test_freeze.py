from __future__ import annotations

from edgekit.packaging.passes.freeze import FreezeShapes
from tests import toys


def dims(value: object) -> list[int | str]:
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]  # type: ignore[attr-defined]


def test_free_dimensions_become_fixed_inside_too() -> None:
    model = toys.detector(batch="N", height="h", width="w")
    result = FreezeShapes({"images": (1, 3, 64, 96)})(model)
    assert result.changed
    assert dims(result.model.graph.input[0]) == [1, 3, 64, 96]
    assert {v.name: dims(v) for v in result.model.graph.value_info}["raw"] == [1, 7, 8, 12]


def test_a_model_that_is_fixed_is_left_alone() -> None:
    model = toys.detector()
    result = FreezeShapes({"images": (1, 3, 64, 64)})(model)
    assert not result.changed
    assert result.model is model


def test_the_model_that_went_in_is_not_changed() -> None:
    model = toys.detector(batch="N")
    before = model.SerializeToString()
    FreezeShapes({"images": (1, 3, 64, 64)})(model)
    assert model.SerializeToString() == before
