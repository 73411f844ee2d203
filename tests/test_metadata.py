from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit import metadata

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 9), inner, max_size=3),
    max_leaves=6,
)


@given(st.fixed_dictionaries({}, optional={key: st.lists(values, max_size=3) for key in metadata.LITERALS}))
def test_values_survive_as_text(data: dict[str, Any]) -> None:
    assert metadata.parse(metadata.to_props(data)) == data


@given(st.dictionaries(st.sampled_from(sorted(metadata.LITERALS)), st.text()))
def test_any_text_is_read(props: dict[str, str]) -> None:
    metadata.parse(props)


def test_a_literal_is_never_code() -> None:
    text = "__import__('os').getcwd()"
    assert metadata.parse({"names": text}) == {"names": text}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(640, (640, 640)), ([480, 640], (480, 640)), ((480, 640), (480, 640)), (True, None), ("640", None), ([1], None)],
)
def test_image_size(value: Any, expected: tuple[int, int] | None) -> None:
    assert metadata.image_size({"imgsz": value}) == expected


@pytest.mark.parametrize("value", [["a", "b"], {0: "a", 1: "b"}, {"0": "a", "1": "b"}])
def test_class_names(value: Any) -> None:
    assert metadata.class_names(value) == {0: "a", 1: "b"}
