from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from edgekit.cache import recency

names = st.sampled_from(["a", "b", "c", "d"])


@given(st.lists(names, max_size=20), st.lists(names, max_size=5))
def test_the_last_use_counts_and_compacting_keeps_the_order(tmp_path_factory, used: list[str], gone: list[str]) -> None:
    root = tmp_path_factory.mktemp("root")
    for name in used:
        recency.note(root, name)
    expected = list(dict.fromkeys(reversed(used)))[::-1]
    assert _order(root) == expected
    left = set(used) - set(gone)
    longest, recency.LONGEST, recency.PER_ENTRY = (recency.LONGEST, recency.PER_ENTRY), 0, 0
    recency.compact(root, left)
    recency.LONGEST, recency.PER_ENTRY = longest
    assert _order(root) == [name for name in expected if name in left]


@given(st.binary(max_size=200))
def test_a_damaged_log_costs_the_order_and_nothing_else(tmp_path_factory, junk: bytes) -> None:
    root: Path = tmp_path_factory.mktemp("root")
    (root / recency.FILE).write_bytes(junk)
    recency.note(root, "mine")
    assert max(recency.uses(root).items(), key=lambda item: item[1].order)[0] == "mine"


def _order(root: Path) -> list[str]:
    return [name for name, use in sorted(recency.uses(root).items(), key=lambda item: item[1].order)]
