from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from edgekit import target
from edgekit.errors import UsageError
from edgekit.packaging.calibration import METHODS
from edgekit.packaging.recipe import INTEGERS, Recipe

recipes = st.builds(
    Recipe,
    operators=st.lists(st.sampled_from(["Conv", "Add", "Mul"]), max_size=3).map(tuple),
    activation=st.sampled_from(INTEGERS),
    weight=st.sampled_from(INTEGERS),
    per_channel=st.booleans(),
    reduce_range=st.booleans(),
    calibration=st.sampled_from(list(METHODS)),
    first_float=st.integers(0, 4),
    ends_float=st.booleans(),
    kept=st.lists(st.text(max_size=4), max_size=2).map(tuple),
)


@given(recipes)
def test_a_recipe_survives_as_yaml(recipe: Recipe) -> None:
    assert Recipe.from_dict(yaml.safe_load(yaml.safe_dump(recipe.to_dict()))) == recipe


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "needs the key 'operators'"),
        ({"operators": ["Conv"], "opertors": []}, "no key 'opertors'"),
        ({"operators": "Conv"}, "operators is 'Conv'"),
        ({"operators": ["Conv"], "first_float": "two"}, "first_float is 'two'"),
        ({"operators": ["Conv"], "per_channel": 1}, "per_channel is 1"),
        ({"operators": ["Conv"], "weight": "int4"}, "one of int8, uint8"),
        ({"operators": ["Conv"], "calibration": "best"}, "minmax, average"),
    ],
)
def test_a_recipe_that_is_wrong_is_a_sentence(data: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Recipe.from_dict(data)


@pytest.mark.parametrize("content", [b"[1]", b"\xff\xfe", b"a: ["])
def test_a_file_that_is_no_recipe_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "r.yaml").write_bytes(content)
    with pytest.raises(UsageError, match=r"r\.yaml"):
        Recipe.read(tmp_path / "r.yaml")


@pytest.mark.parametrize(("name", "activation"), [("cpu-x86_64", "uint8"), ("cpu-arm64", "int8")])
def test_a_target_has_a_recipe(name: str, activation: str) -> None:
    scheme = target.load(name).scheme
    assert scheme
    recipe = Recipe.for_scheme(scheme)
    assert (recipe.activation, recipe.weight, recipe.per_channel) == (activation, "int8", True)
    assert "Sigmoid" in recipe.operators
