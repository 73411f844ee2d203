"""The store: hit, miss, damage, late files, in use, least recently used."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from edgekit.cache import CacheKey, CompileCache, Limits, entry, recency
from edgekit.errors import CacheError, UsageError
from tests.cache.keys import KEY, keys, numbered
from tests.cache.programs import files, keep, kept, read, write

MANY = Limits(entries=1000, size=1 << 40)


@pytest.fixture
def cache(tmp_path: Path) -> CompileCache:
    return CompileCache(tmp_path / "store", MANY)


def names(cache: CompileCache) -> set[str]:
    return {e.key.model.lstrip("0") for e in cache.entries()}


def test_the_first_start_is_a_miss_and_the_second_a_hit(cache: CompileCache) -> None:
    assert keep(cache, KEY) is False
    assert keep(cache, KEY) is True
    assert [e.seconds for e in cache.entries()] == [1.5]


def test_a_miss_says_why(cache: CompileCache) -> None:
    assert cache.borrow(KEY).reason == "nothing is kept for this provider yet"
    keep(cache, KEY)
    assert cache.borrow(numbered(7)).reason == "nothing is kept for this model yet"
    other = replace(KEY, driver="6.0", provider_options=(("precision", "fp16"),))
    assert cache.borrow(other).reason == (
        "what was kept does not fit: driver was 5.4, is 6.0; provider_options.cache_dir was ${cache}, is -"
    )


@given(keys(), keys())
def test_no_key_finds_the_entry_of_another(tmp_path_factory: pytest.TempPathFactory, one: CacheKey, two: CacheKey):
    one, two = replace(one, provider="A"), replace(two, provider="A")
    root = tmp_path_factory.mktemp("store")
    keep(CompileCache(root, MANY), one)
    assert keep(CompileCache(root, MANY), two) is (one == two)  # `keep` reads the content too
    shutil.rmtree(root)


def test_two_keys_whose_digests_were_the_same_are_told_apart_by_their_parts(cache: CompileCache) -> None:
    keep(cache, KEY)
    [held] = cache.entries()
    text = (held.path / entry.FILE).read_text()
    (held.path / entry.FILE).write_text(text.replace('"5.4"', '"5.5"'))
    assert cache.borrow(KEY).hit is False


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 5)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def deleted(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    path.unlink()
    path.mkdir()


def linked_elsewhere(path: Path) -> None:
    other = path.with_name("other")
    path.rename(other)
    path.symlink_to(other)


DAMAGE = [truncated, emptied, flipped, deleted, replaced, linked_elsewhere]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((f"{entry.DATA}/{name}", damage) for name in files(KEY) for damage in DAMAGE),
        *((entry.FILE, damage) for damage in (truncated, emptied, deleted, replaced)),
    ],
)
def test_damage_is_found_before_the_provider_sees_it(
    cache: CompileCache, name: str, damage: Callable[[Path], None]
) -> None:
    keep(cache, KEY)
    [held] = cache.entries()
    damage(held.path / name)
    loan = cache.borrow(KEY)
    assert not loan.hit
    assert read(loan.folder) == {}
    write(loan.folder, files(KEY))
    loan.commit()
    loan.close()
    assert keep(cache, KEY) is True
    cache.sweep()
    assert len(list(cache.layout.folders())) == 1


@pytest.mark.parametrize("bit", range(8))
def test_a_record_with_a_flipped_bit_leads_to_no_wrong_program(cache: CompileCache, bit: int) -> None:
    keep(cache, KEY)
    [held] = cache.entries()
    record = held.path / entry.FILE
    text = record.read_bytes()
    for place in range(0, len(text), 7):
        broken = bytearray(text)
        broken[place] ^= 1 << bit
        record.write_bytes(broken)
        found = cache.find(KEY)
        assert not found.hit or read(found.entry.data) == files(KEY)


def test_what_a_provider_left_half_written_when_it_was_killed_is_gone_before_the_next_start(
    cache: CompileCache,
) -> None:
    keep(cache, KEY)
    [held] = cache.entries()
    write(held.data, {"late.bin": b"half"})  # of a session that never came to its end
    assert read(kept(cache, KEY).folder) == files(KEY)


def test_what_a_provider_adds_while_it_runs_is_recorded(cache: CompileCache) -> None:
    loan = kept(cache, KEY)
    write(loan.folder, {"late.bin": b"for another shape"})
    assert loan.written_to
    loan.update()
    assert not loan.written_to
    write(loan.folder, {"later.bin": b"for a third one"})
    loan.close()
    found = cache.borrow(KEY)
    assert read(found.folder) == {**files(KEY), "late.bin": b"for another shape", "later.bin": b"for a third one"}


def test_whoever_is_not_alone_works_in_a_folder_of_its_own(cache: CompileCache) -> None:
    first, second = kept(cache, KEY), kept(cache, KEY)
    assert second.hit
    assert second.folder != first.folder
    write(second.folder, {"half.bin": b"ha"})
    assert "half.bin" not in read(first.folder)
    write(second.folder, {"half.bin": b"whole"})
    second.close()
    assert not second.folder.exists()
    assert read(first.folder)["half.bin"] == b"whole"
    first.close()
    assert "half.bin" in read(cache.borrow(KEY).folder)
    assert len(cache.entries()) == 1


def test_what_nothing_was_written_to_is_no_entry(cache: CompileCache) -> None:
    loan = cache.borrow(KEY)
    assert loan.commit() is False
    loan.close()
    assert list(cache.layout.folders()) == []
    assert list((cache.root / "leases").iterdir()) == []


def test_what_comes_only_while_running_is_kept_at_the_end(cache: CompileCache) -> None:
    loan = cache.borrow(KEY)
    assert loan.commit() is False
    write(loan.folder, files(KEY))
    loan.close()
    assert keep(cache, KEY) is True


def test_a_failed_session_leaves_nothing(cache: CompileCache) -> None:
    loan = cache.borrow(KEY)
    write(loan.folder, {"half.bin": b"ha"})
    loan.abandon()
    assert list(cache.layout.folders()) == []
    assert cache.borrow(KEY).hit is False


def test_the_least_recently_used_goes_first_by_count(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, Limits(entries=3, size=1 << 40))
    for number in (1, 2, 3):
        keep(cache, numbered(number))
    keep(cache, numbered(1))
    keep(cache, numbered(4))
    assert names(cache) == {"1", "3", "4"}


def test_the_count_is_for_each_provider(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, Limits(entries=1, size=1 << 40))
    for provider in ("A", "B"):
        for number in (1, 2):
            keep(cache, numbered(number, provider=provider))
    assert sorted((e.key.provider, e.key.model[-1]) for e in cache.entries()) == [("A", "2"), ("B", "2")]


def test_the_least_recently_used_goes_first_by_bytes(cache: CompileCache) -> None:
    for number, size in ((1, 1000), (2, 5000), (3, 1000), (4, 1000)):
        keep(cache, numbered(number), size)
    keep(cache, numbered(1), 1000)
    total = sum(e.size for e in cache.entries())
    plan = cache.plan_prune(max_bytes=total - 1)
    assert [e.key.model[-1] for e in plan.entries] == ["2"]
    before = total
    assert plan.execute() == plan.freed
    assert sum(e.size for e in cache.entries()) == before - plan.freed
    assert [e.key.model[-1] for e in cache.plan_prune(max_bytes=0).entries] == ["3", "4", "1"]


def test_what_is_in_use_stays(cache: CompileCache) -> None:
    loan = kept(cache, numbered(1))
    keep(cache, numbered(2))
    plan = cache.plan_prune(max_bytes=0)
    assert [e.key.model[-1] for e in plan.entries] == ["2"]
    assert [e.key.model[-1] for e in plan.kept_in_use] == ["1"]
    assert [e.key.model[-1] for e in cache.plan_remove(cache.entries()).kept_in_use] == ["1"]
    plan.execute()
    assert cache.evict(loan.entry) is False
    assert read(loan.folder) == files(numbered(1))
    loan.close()
    assert cache.evict(loan.entry) is True
    assert names(cache) == set()


def test_a_plan_changes_nothing_and_does_not_take_what_has_come_into_use_since(cache: CompileCache) -> None:
    keep(cache, numbered(1))
    plan = cache.plan_prune(max_entries=0)
    assert names(cache) == {"1"}
    loan = kept(cache, numbered(1))
    assert plan.execute() == 0
    assert read(loan.folder) == files(numbered(1))


def test_entries_are_chosen_by_how_their_names_begin(cache: CompileCache) -> None:
    keep(cache, numbered(1))
    [held] = cache.entries()
    assert cache.select([held.name[:6]]) == [held]
    for wrong in ("zzzz", held.name[:3], ""):
        with pytest.raises(UsageError, match="the cache has no entry"):
            cache.select([wrong])


def test_two_entries_for_one_key_are_swept_down_to_one(cache: CompileCache) -> None:
    one, two = cache.borrow(KEY), None
    one._release()  # as without locks
    two = cache.borrow(KEY)
    for loan in (one, two):
        assert not loan.hit
        write(loan.folder, files(KEY))
        loan.commit()
        loan.close()
    assert len(cache.entries()) == 2
    cache.sweep()
    assert len(cache.entries()) == 1
    assert keep(cache, KEY) is True


def test_only_entries_are_ever_removed(cache: CompileCache, tmp_path: Path) -> None:
    keep(cache, KEY)
    strangers = [
        cache.root / "programs" / KEY.provider / "model.mxr",
        cache.root / "programs" / KEY.provider / "mine" / "model.mxr",
        cache.root / "model.mxr",
    ]
    for path in strangers:
        write(cache.root, {str(path.relative_to(cache.root)): b"a user's own"})
    cache.plan_prune(max_bytes=0).execute()
    cache.sweep()
    assert cache.entries() == []
    assert all(path.exists() for path in strangers)


def test_the_order_does_not_follow_the_clock(cache: CompileCache, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, date in ((1, "2031-01-01"), (2, "1970-01-01"), (3, "2000-01-01")):
        monkeypatch.setattr(recency, "now", lambda date=date: date)
        keep(cache, numbered(number))
    monkeypatch.setattr(recency, "now", lambda: "1970-01-01")
    keep(cache, numbered(1))
    assert [h.entry.key.model[-1] for h in cache.held()] == ["2", "3", "1"]


def test_a_store_that_is_a_file_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(CacheError, match="cannot be used"):
        CompileCache(tmp_path / "file").borrow(KEY)
    assert CompileCache(tmp_path / "file").entries() == []


@pytest.mark.parametrize("place", ["with spaces", "пути/кэш 缓存", "a\nline"])
def test_any_path_will_do(tmp_path: Path, place: str) -> None:
    cache = CompileCache(tmp_path / place, MANY)
    assert [keep(cache, KEY), keep(cache, KEY)] == [False, True]
    assert cache.evict(cache.entries()[0])


def test_two_paths_to_one_store_are_one_store(cache: CompileCache, tmp_path: Path) -> None:
    keep(cache, KEY)
    (tmp_path / "mount").symlink_to(cache.root)
    other = CompileCache(tmp_path / "mount", MANY)
    loan = kept(other, KEY)
    assert loan.hit
    assert cache.evict(cache.entries()[0]) is False


def test_no_entry_goes_while_a_copy_of_it_is_used(cache: CompileCache) -> None:
    first, second = kept(cache, KEY), kept(cache, KEY)
    first.close()
    assert cache.evict(first.entry) is False
    second.close()
    assert cache.evict(first.entry) is True
