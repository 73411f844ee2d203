from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.cache import limits
from edgekit.cache.limits import Limits, parse_size
from edgekit.errors import UsageError


@given(st.integers(0, 2**20), st.sampled_from(["", "K", "M", "G", "T"]), st.sampled_from(["", "B", "iB"]))
def test_a_size_is_a_number_and_a_unit(number: int, unit: str, ending: str) -> None:
    expected = number * limits.UNITS[unit]
    for text in (f"{number}{unit}{ending}", f" {number} {unit.lower()}{ending.lower()} "):
        assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "-1", "1e3", "ten", "1 QB", "1,5GB", "nan"])
def test_what_is_no_size_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="EDGEKIT_CACHE_MAX_SIZE is a size"):
        parse_size(text, "EDGEKIT_CACHE_MAX_SIZE")


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDGEKIT_CACHE_MAX_ENTRIES", raising=False)
    monkeypatch.delenv("EDGEKIT_CACHE_MAX_SIZE", raising=False)
    assert Limits.of_environment() == Limits(8, 10 << 30)
    monkeypatch.setenv("EDGEKIT_CACHE_MAX_ENTRIES", "3")
    monkeypatch.setenv("EDGEKIT_CACHE_MAX_SIZE", "1.5GiB")
    assert Limits.of_environment() == Limits(3, 3 << 29)
    monkeypatch.setenv("EDGEKIT_CACHE_MAX_ENTRIES", "many")
    with pytest.raises(UsageError, match="EDGEKIT_CACHE_MAX_ENTRIES is a whole number, not 'many'"):
        Limits.of_environment()


@pytest.mark.parametrize(("text", "wanted"), [("off", False), ("OFF", False), ("0", False), ("", True), ("on", True)])
def test_the_cache_can_be_switched_off(monkeypatch: pytest.MonkeyPatch, text: str, wanted: bool) -> None:
    monkeypatch.setenv("EDGEKIT_CACHE", text)
    assert limits.enabled() is wanted
