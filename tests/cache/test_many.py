"""A store of 10,000 entries."""

from __future__ import annotations

import random

import pytest

from edgekit.cache import CompileCache, Entry, Limits, recency
from edgekit.manifest import FileRecord
from tests.cache.keys import numbered

COUNT = 10_000


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[CompileCache, list[int]]:
    """The store, and its models in the order of their last use."""
    cache = CompileCache(tmp_path_factory.mktemp("store"), Limits(entries=COUNT))
    order = list(range(COUNT))
    random.Random(7).shuffle(order)
    for number in order:
        key = numbered(number)
        entry = Entry(
            cache.layout.new(key), key, f"model {number}", "ready", "2026-01-01", 1.0, {"a": FileRecord(number, "0")}
        )
        entry.data.mkdir(parents=True)
        (entry.data / "a").touch()
        entry.write()
        recency.note(cache.root, entry.name)
    return cache, order


def test_pruning_to_a_hundred_leaves_the_last_that_were_used(crowded: tuple[CompileCache, list[int]]) -> None:
    cache, order = crowded
    plan = cache.plan_prune(max_entries=100)
    assert [int(e.key.model, 16) for e in plan.entries] == order[:-100]


def test_pruning_to_bytes_takes_the_least_recently_used_first_and_no_more_than_it_must(
    crowded: tuple[CompileCache, list[int]],
) -> None:
    cache, order = crowded
    plan = cache.plan_prune(max_bytes=sum(order[-50:]))
    assert [int(e.key.model, 16) for e in plan.entries] == order[:-50]
    assert plan.freed == sum(order[:-50])


def test_what_is_pruned_is_gone_and_the_rest_is_there(crowded: tuple[CompileCache, list[int]]) -> None:
    cache, order = crowded
    cache.plan_prune(max_entries=100).execute()
    assert {int(e.key.model, 16) for e in cache.entries()} == set(order[-100:])
