"""A process, so that another one can tell later whether it still lives."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
NO = "0"  # this system does not say


@dataclass(frozen=True)
class Owner:
    """Who holds something: a process id alone would do for whoever gets the same number later."""

    boot: str  # of the system, hexadecimal
    namespace: str  # of process ids: a container has its own
    pid: int
    started: str  # in clock ticks after the boot

    def __str__(self) -> str:
        return f"{self.boot}-{self.namespace}-{self.pid}-{self.started}"

    @classmethod
    def parse(cls, text: str) -> Owner | None:
        """Read what `str` gave; None if it did not."""
        found = re.fullmatch(r"([0-9a-f]+)-(\d+)-(\d+)-(\d+)", text)
        return cls(found[1], found[2], int(found[3]), found[4]) if found else None

    @classmethod
    def current(cls) -> Owner:
        """This process."""
        return cls(_boot(), _namespace(), os.getpid(), _started(os.getpid()) or NO)

    @property
    def alive(self) -> bool | None:
        """Whether the process still runs; None where it cannot be told from here: another container, system or boot."""
        if NO in (self.boot, self.namespace, self.started):
            return None
        if (self.boot, self.namespace) != (_boot(), _namespace()):
            return None
        return _started(self.pid) == self.started


@functools.cache
def _boot() -> str:
    try:
        text = (PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        return NO
    return re.sub(r"[^0-9a-f]", "", text)[:16] or NO


def _namespace() -> str:
    try:
        return re.sub(r"\D", "", str((PROC / "self/ns/pid").readlink())) or NO
    except OSError:
        return NO


def _started(pid: int) -> str | None:
    """Field 22 of /proc/PID/stat, proc(5); None if there is no such process, or it is a zombie."""
    try:
        text = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # the name before it may hold spaces and brackets
    return fields[19] if len(fields) > 19 and fields[0] not in "ZX" else None
