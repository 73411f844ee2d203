"""A store that cannot be written: what it holds is used, and what it does not hold costs no run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edgekit.cache import CompileCache
from tests.cache.keys import KEY
from tests.cache.programs import keep

# a process without the right to write where its user has none: root alone has it otherwise, also here
WITHOUT_CAPABILITIES = "import ctypes; [ctypes.CDLL(None).prctl(24, c, 0, 0, 0) for c in (1, 2)]; "
linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux's capabilities and limits")
START = """
import sys, pathlib
from edgekit.cache import CompileCache
from edgekit.errors import CacheError
from tests.cache.keys import KEY, numbered
from tests.cache.programs import files, read, write
def start(key):
    try:
        loan = CompileCache().borrow(key)
        if not loan.hit:
            write(loan.folder, files(key)); loan.commit()
        print("hit" if loan.hit else "kept", read(loan.folder) == files(key)); loan.close()
    except (CacheError, OSError) as e:
        print("uncached:", e)
        if "loan" in locals(): loan.close()
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileCache:
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "store"))
    return CompileCache()


def started(script: str, before: str) -> list[str]:
    """What a process says that has given up rights, or has no room, before it starts Python anew."""
    outer = f"{before}; import os, sys; os.execv(sys.executable, [sys.executable, '-c', sys.argv[1]])"
    done = subprocess.run(
        [sys.executable, "-c", outer, START + script],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@linux
def test_a_root_that_cannot_be_written_is_used_for_what_it_holds(cache: CompileCache) -> None:
    keep(cache, KEY)
    folders = [cache.root, *(p for p in cache.root.rglob("*") if p.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        said = started("start(KEY); start(numbered(9))", WITHOUT_CAPABILITIES.rstrip("; "))
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert said[0] == "hit True"
    assert said[1].startswith("uncached: the cache ")
    assert len(said) == 2


@linux
def test_a_full_disk_costs_the_cache_and_nothing_else(cache: CompileCache) -> None:
    keep(cache, KEY)
    said = started(
        "start(KEY); start(numbered(9))", "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    )
    assert said[0] == "hit True"
    assert said[1].startswith("uncached: ")
    assert cache.sweep() >= 0
    assert cache.garbage() == []
    assert keep(cache, KEY) is True


@linux
def test_two_mounts_of_one_store_are_one_store(cache: CompileCache, tmp_path: Path) -> None:
    keep(cache, KEY)
    mount = tmp_path / "mount"
    mount.mkdir()
    script = 'mount --bind "$0" "$1" && EDGEKIT_CACHE_DIR="$1" exec "$2" -c "$3"'
    waits = "loan = CompileCache().borrow(KEY); print(loan.hit, flush=True); input()"
    command = ["unshare", "--mount", "sh", "-c", script, str(cache.root), str(mount), sys.executable, START + waits]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, cwd=Path(__file__).parents[2], **pipes) as other:
        assert other.stdout is not None
        said = other.stdout.readline().strip()
        if not said:
            pytest.skip(f"no mounts can be made here: {other.communicate()[1]}")
        assert said == "True"
        [entry] = cache.entries()
        assert cache.evict(entry) is False  # in use, through the other mount
        other.communicate("\n")
        assert cache.evict(entry) is True
