"""A data set's classes become the model's: by name, by order, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.evaluation.datasets.classes import match, named

OURS = {0: "person", 1: "traffic light", 2: "dog"}
UNNAMED = {i: f"class_{i}" for i in range(3)}


def test_the_same_classes_need_no_word() -> None:
    matching = match({0: "person", 2: "dog"}, OURS, where="data")
    assert (matching.ids, matching.notice) == ({0: 0, 2: 2}, None)


def test_names_decide_whatever_the_ids() -> None:
    matching = match({7: "Dog", 18: "traffic_light"}, OURS, where="data")
    assert matching.ids == {7: 2, 18: 1}
    assert matching.notice == "classes of data matched with the model's by name"


@pytest.mark.parametrize("ours", [UNNAMED, {}])
def test_a_model_without_names_takes_them_in_order(ours: dict[int, str]) -> None:
    matching = match({90: "c", 1: "a", 13: "b"}, ours, where="data")
    assert matching.ids == {1: 0, 13: 1, 90: 2}
    assert "taken in their order" in str(matching.notice)


def test_a_list_that_is_spelled_otherwise_in_places_is_the_same_list() -> None:
    matching = match({1: "person", 2: "semaphore", 3: "dog"}, OURS, where="data")
    assert matching.ids == {1: 0, 2: 1, 3: 2}


def test_classes_that_the_model_lacks_are_left_out_and_named() -> None:
    matching = match({1: "dog", 2: "zebra"}, OURS, where="data")
    assert matching.ids == {1: 2}
    assert matching.notice == "classes of data that the model does not have are left out: zebra"


@pytest.mark.parametrize(
    ("theirs", "ours"), [({1: "zebra", 2: "cow"}, OURS), ({i: f"kind {i}" for i in range(4)}, UNNAMED)]
)
def test_classes_that_have_nothing_in_common_are_refused(theirs: dict[int, str], ours: dict[int, str]) -> None:
    with pytest.raises(UsageError, match="data has no class of the model") as caught:
        match(theirs, ours, where="data")
    assert "--names" in str(caught.value.hint)


def test_a_name_that_two_classes_share_decides_nothing() -> None:
    names = {0: "crane", 1: "crane", 2: "dog"}
    assert (named("crane", names), named("Dog", names)) == (None, 2)


@given(st.dictionaries(st.integers(0, 99), st.text("abc", min_size=1), min_size=1), st.permutations(range(100)))
def test_names_find_their_class_under_any_ids(names: dict[int, str], ids: list[int]) -> None:
    ours = {i: f"{name} {i}" for i, name in names.items()}
    theirs = {ids[i]: name for i, name in ours.items()}
    assert match(theirs, ours, where="data").ids == {ids[i]: i for i in ours}
