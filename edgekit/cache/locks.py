"""Locks between processes, as far as the file system has them. They save work; nothing is wrong without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

POLL = 0.05  # seconds


class Lock:
    """A lock that was asked for; `held` says whether it was got."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held = False
        self._lock: Any = None

    def acquire(self, wait: float = 0, *, waiting: Callable[[], None] | None = None) -> bool:
        """Try to get it.

        Args:
            wait: seconds at most.
            waiting: called once if another process has it.

        Returns:
            False if another process has it. True if nobody else does, or nobody can tell.
        """
        try:
            import filelock
        except ImportError:
            return True
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # not per thread: a session may be closed in another thread than the one that opened it
            self._lock = filelock.FileLock(self.path, thread_local=False)
            try:
                self._lock.acquire(timeout=0)
            except filelock.Timeout:
                if not wait:
                    return False
                if waiting is not None:
                    waiting()
                self._lock.acquire(timeout=wait, poll_interval=POLL)
            self.held = True
        except filelock.Timeout:
            return False
        except (OSError, NotImplementedError):  # a file system without locks, or a read-only one
            self._lock = None
        return True

    def release(self) -> None:
        """Let others have it."""
        if self._lock is not None:
            with suppress(OSError):
                self._lock.release()
        self._lock, self.held = None, False


@contextmanager
def held(path: Path, wait: float) -> Iterator[None]:
    """Run the block with the lock, or without it if it cannot be had in time."""
    lock = Lock(path)
    lock.acquire(wait)
    try:
        yield
    finally:
        lock.release()
