from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.cache import CacheKey
from tests.cache.keys import KEY, PARTS, keys, pairs, text


@given(keys(), st.sampled_from(PARTS), st.data())
def test_changing_any_part_of_a_key_changes_its_digest(key: CacheKey, part: str, data: st.DataObject) -> None:
    value = data.draw(
        (text if isinstance(getattr(key, part), str) else pairs).filter(lambda v: v != getattr(key, part))
    )
    other = replace(key, **{part: value})
    assert other.digest != key.digest
    assert other != key


@given(keys(), keys())
def test_two_keys_are_equal_exactly_when_their_digests_are(one: CacheKey, other: CacheKey) -> None:
    assert (one == other) == (one.digest == other.digest)


@given(keys())
def test_a_key_comes_back_from_json(key: CacheKey) -> None:
    assert CacheKey.from_dict(json.loads(json.dumps(key.to_dict()))) == key


def test_pairs_that_join_to_the_same_text_are_different_keys() -> None:
    one = replace(KEY, environment=(("A", "1"), ("B", "2")))
    assert one.digest != replace(KEY, environment=(("A", "1B2"),)).digest
    assert one.digest != replace(KEY, environment=(), provider_options=(("A", "1"), ("B", "2"))).digest


def test_differences_name_the_option_that_changed() -> None:
    other = replace(KEY, provider_version="1.8.2", provider_options=(("cache_dir", "${cache}"), ("precision", "fp32")))
    assert KEY.differences(other) == {
        "provider_version": ("1.8.1", "1.8.2"),
        "provider_options.precision": ("fp16", "fp32"),
    }
    assert KEY.differences(replace(KEY, environment=())) == {"environment.TEST_FAST_MATH": ("1", "-")}
    assert KEY.differences(KEY) == {}


@pytest.mark.parametrize("part", PARTS)
def test_a_record_without_a_part_of_the_key_is_no_key(part: str) -> None:
    data = KEY.to_dict()
    del data[part]
    with pytest.raises(ValueError):
        CacheKey.from_dict(data)
    with pytest.raises(ValueError):
        CacheKey.from_dict({**KEY.to_dict(), "of the future": "x"})
