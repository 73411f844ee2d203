"""What the compile cache costs and saves, in ratios of one run: `python tests/benchmarks/cache.py [MODEL.onnx...]`.

A cold start and a warm one need OpenVINO's provider; the rest does not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
ROUNDS = 7
START = """
import sys, time
from pathlib import Path
from edgekit.runtime import opening
from edgekit.runtime.opening import Opening
requests = opening.of_user(["OpenVINOExecutionProvider"])
start = time.perf_counter()
opened = Opening(Path(sys.argv[1]), requests).open()
print(opened.use.hit, time.perf_counter() - start)
"""
ASK = """
import sys, time
from pathlib import Path
import onnxruntime as ort
from edgekit.cache import CompileCache
from edgekit.runtime.caching import key_of
from edgekit.runtime.opening import Opening
from edgekit.runtime.request import Request
request = Request("OpenVINOExecutionProvider", {"cache_dir": "${cache}"})
start = time.perf_counter()
loan = CompileCache().borrow(key_of(ort, Opening(Path(sys.argv[1]), (request,)), request))
seconds = time.perf_counter() - start
if not loan.hit:
    (loan.folder / "program").write_bytes(b"x" * 1000)
    loan.commit()
loan.close()
print(loan.hit, seconds)
"""


def said(script: str, model: Path, store: Path) -> tuple[bool, float]:
    done = subprocess.run(
        [sys.executable, "-c", script, str(model)],
        env={**os.environ, "EDGEKIT_CACHE_DIR": str(store)},
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )
    hit, seconds = done.stdout.split()
    return hit == "True", float(seconds)


def starts(model: Path, folder: Path) -> None:
    """Cold and warm, in turns, each in a process of its own."""
    cold, warm = [], []
    for number in range(ROUNDS):
        store = folder / f"{model.stem}-{number}"
        for times, expected in ((cold, False), (warm, True)):
            hit, seconds = said(START, model, store)
            assert hit is expected
            times.append(seconds)
    a, b = statistics.median(cold), statistics.median(warm)
    print(f"{model.stem}: cold {a * 1e3:.0f} ms, warm {b * 1e3:.0f} ms, {a / b:.2f} times faster ({ROUNDS} each)")


def asking(folder: Path) -> None:
    """From asking the cache to an entry that is ready, on a hit, for a small model and one of a gigabyte."""
    for megabytes in (10, 1000):
        model = folder / f"{megabytes}.onnx"
        with model.open("wb") as file:
            for _ in range(megabytes):
                file.write(os.urandom(1 << 20))
        store = folder / f"store-{megabytes}"
        assert said(ASK, model, store)[0] is False
        hits = [said(ASK, model, store) for _ in range(ROUNDS)]
        assert all(hit for hit, _ in hits)
        print(f"ask to ready, a model of {megabytes} MB: {statistics.median(s for _, s in hits) * 1e3:.2f} ms")
        model.unlink()


def listing(folder: Path, count: int = 10_000) -> None:
    """`edgekit cache ls` of a crowded store."""
    from edgekit.cache import CompileCache, Entry, Limits, recency
    from edgekit.manifest import FileRecord
    from tests.cache.keys import numbered

    cache = CompileCache(folder / "crowded", Limits())
    for number in range(count):
        key = replace(numbered(number))
        files = {"a": FileRecord(1, "0" * 64)}
        entry = Entry(cache.layout.new(key), key, f"model {number}", "filling", "2026-01-01", 1.0, files)
        entry.data.mkdir(parents=True)
        entry.write()
        (entry.path / "entry.json").write_text((entry.path / "entry.json").read_text().replace("filling", "ready"))
        recency.note(cache.root, entry.name)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "edgekit", "cache", "ls"],
            env={**os.environ, "EDGEKIT_CACHE_DIR": str(cache.root)},
            cwd=HERE,
            capture_output=True,
            text=True,
            check=True,
        )
        times.append(time.perf_counter() - start)
        assert f"{count} entries" in done.stdout
    print(f"edgekit cache ls, {count} entries: {min(times):.2f} s, the process included")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    with tempfile.TemporaryDirectory(prefix="edgekit-") as name:
        asking(Path(name))
        listing(Path(name))
        for given in sys.argv[1:]:
            starts(Path(given), Path(name))
