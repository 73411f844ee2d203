"""A stand-in for MIGraphX, Vitis AI and Core ML, whose hardware is not here: it compiles nothing, and caches as badly.

It imitates what was seen of them (facts/targets, "Every EP's own cache key is too weak"): a key of the file's name
without weights or options, writes that are not atomic, more files at the first run, nothing ever removed, and a
variable that wins over the option. Its session is the CPU's; `program` says what it would run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from edgekit.runtime import session as sessions
from edgekit.runtime.providers import CPU
from edgekit.runtime.request import Request

VARIABLE = "ORT_MIGRAPHX_CACHE_DIR"


class StandInSession:
    """The CPU's session, and a program from the cache, right or not."""

    def __init__(self, real: Any, program: bytes, folder: Path | None) -> None:
        self._real, self.program, self._folder = real, program, folder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def get_providers(self) -> list[str]:
        return ["StandInExecutionProvider", CPU]

    def run(self, outputs: Any, feed: Any, options: Any = None) -> Any:
        if self._folder is not None:
            (self._folder / "for-this-shape.mxr").write_bytes(b"late " + self.program)
        return self._real.run(outputs, feed, options)


class StandInProvider:
    """Takes the place of `edgekit.runtime.session.create` for requests of its own."""

    def __init__(self) -> None:
        self.compiled = 0
        self.fails: str | None = None  # "half": dies over a half-written file; "reads": refuses whatever it finds
        self._create = sessions.create

    def create(self, model: Path, requests: Sequence[Request], **said: Any) -> Any:
        options = dict(requests[0].options)
        folder = Path(os.environ.get(VARIABLE) or options.get("cache_dir") or "/nowhere")
        usable = folder.is_dir() or "cache_dir" in options
        real = self._create(model, (Request(),), **said)
        program = self._program(model, options, folder if usable else None)
        return StandInSession(real, program, folder if usable else None)

    def _program(self, model: Path, options: Mapping[str, str], folder: Path | None) -> bytes:
        file = folder / f"{model.stem}-1x3.mxr" if folder else None  # no weights, no options
        if file and file.exists():
            if self.fails == "reads":
                from edgekit.errors import ProviderError

                raise ProviderError("the stand-in cannot read what it finds")
            return file.read_bytes()  # damaged or of another model: taken without a word
        self.compiled += 1
        program = model.read_bytes() + repr(sorted((k, v) for k, v in options.items() if k != "cache_dir")).encode()
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as out:  # in two writes, under its final name
                out.write(program[:50])
                out.flush()
                if self.fails == "half":
                    raise RuntimeError("the stand-in died in the midst of writing")
                out.write(program[50:])
        return program
