from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgekit.cache import CompileCache
from tests.cache.keys import numbered
from tests.cache.programs import write
from tests.conftest import run_edgekit


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileCache:
    """Three entries, used in the order of their numbers; the second is the largest."""
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "store"))
    cache = CompileCache()
    for number, size in ((1, 100), (2, 5000), (3, 100)):
        loan = cache.borrow(numbered(number), label=f"model {number}")
        write(loan.folder, {"program": b"x" * size})
        loan.commit(2.0)
        loan.close()
    return cache


def labels(*arguments: str) -> list[str]:
    done = run_edgekit("cache", "ls", "--json", *arguments)
    assert done.exit_code == 0
    return [entry["label"] for entry in json.loads(done.stdout)["entries"]]


def test_ls_shows_the_last_used_first(cache: CompileCache) -> None:
    done = run_edgekit("cache", "ls")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["entry", "model", "provider", "size", "compiled", "in", "last", "used"]
    assert [line[14:21] for line in lines[1:4]] == ["model 3", "model 2", "model 1"]
    assert lines[4].startswith("3 entries, 5.1 KiB in ")
    assert labels("--sort", "size") == ["model 2", "model 1", "model 3"] or labels("--sort", "size")[0] == "model 2"
    assert labels("--filter", "label=2") == ["model 2"]
    assert labels("--filter", "provider=Nothing") == []


def test_ls_q_gives_names_for_rm(cache: CompileCache) -> None:
    names = run_edgekit("cache", "ls", "-q").stdout.split()
    assert set(names) == {e.name for e in cache.entries()}
    done = run_edgekit("cache", "rm", *names)
    assert done.exit_code == 0
    assert cache.entries() == []


def test_an_empty_cache_is_said_to_be_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "none"))
    assert run_edgekit("cache", "ls").stdout.startswith("0 entries, 0 B in ")
    assert run_edgekit("cache", "verify").stdout == "nothing is kept\n"
    assert run_edgekit("cache", "prune").stdout == "freed 0 B (0 entries)\n"
    assert not (tmp_path / "none" / "programs").exists()


def test_a_dry_run_says_the_bytes_and_removes_nothing(cache: CompileCache) -> None:
    for arguments in (("rm", "--all"), ("prune", "--max-entries", "0")):
        done = run_edgekit("cache", *arguments, "--dry-run")
        assert done.stdout.splitlines()[-1] == "would free 5.1 KiB (3 entries)"
    assert len(cache.entries()) == 3
    assert run_edgekit("cache", "prune", "--max-size", "1KB").stdout.splitlines()[-1] == "freed 5.0 KiB (2 entries)"
    assert labels() == ["model 3"]


def test_what_is_in_use_stays_and_is_named(cache: CompileCache) -> None:
    loan = cache.borrow(numbered(1))
    done = run_edgekit("cache", "rm", "--all")
    assert f"{loan.entry.name[:12]} (model 1) is in use and stays" in done.stderr
    assert labels() == ["model 1"]
    assert "in use" in run_edgekit("cache", "ls").stdout


def test_verify_finds_what_is_damaged(cache: CompileCache) -> None:
    assert run_edgekit("cache", "verify").exit_code == 0
    [bad] = [e for e in cache.entries() if e.label == "model 2"]
    (bad.data / "program").write_bytes(b"x" * 4999 + b"y")
    done = run_edgekit("cache", "verify")
    assert done.exit_code == 4
    assert "the content of program has changed" in done.stdout
    assert "error: 1 of 3 entries are damaged" in done.stderr
    assert f"edgekit cache rm {bad.name[:12]}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rm",), "name the entries to remove, or give --all"),
        (("rm", "0000", "--all"), "name the entries to remove, or give --all"),
        (("rm", "0000"), "the cache has no entry '0000'"),
        (("prune", "--max-size", "lots"), "--max-size is a size such as 500MB or 10GiB, not 'lots'"),
        (("ls", "--filter", "colour=red"), "--filter takes provider=TEXT or model=TEXT"),
        (("why", "nowhere"), "nowhere does not exist"),
        (("warm", "nowhere"), "nowhere does not exist"),
    ],
)
def test_wrong_input_costs_a_sentence(cache: CompileCache, arguments: tuple[str, ...], said: str) -> None:
    done = run_edgekit("cache", *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(cache.entries()) == 3


@pytest.mark.parametrize("name", ["EDGEKIT_CACHE_MAX_ENTRIES", "EDGEKIT_CACHE_MAX_SIZE"])
def test_a_limit_that_is_none_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "many")
    done = run_edgekit("cache", "ls")
    assert done.exit_code == 2
    assert name in done.stderr


def test_prune_sweeps_what_crashed(cache: CompileCache) -> None:
    write(cache.layout.trash / "left", {"file": b"x" * 2048})
    done = run_edgekit("cache", "prune")
    assert "removed 2.0 KiB that crashed processes had left" in done.stderr
    assert not (cache.layout.trash / "left").exists()


def test_why_needs_something_to_keep(cache: CompileCache, toy_package: Path) -> None:
    done = run_edgekit("cache", "why", toy_package)
    assert done.exit_code == 2
    assert "CPUExecutionProvider keeps nothing" in done.stderr


def test_warm_takes_a_folder_of_packages(cache: CompileCache, toy_package: Path) -> None:
    done = run_edgekit("cache", "warm", toy_package.parent, "--json")
    assert done.exit_code == 0
    [warmed] = json.loads(done.stdout)["warmed"]
    assert warmed["found"] == "nothing to keep"
    assert "[1/1]" in done.stderr
