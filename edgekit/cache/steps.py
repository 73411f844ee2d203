"""The points at which filling and evicting may be cut short, so that a test can cut them at each."""

from __future__ import annotations

import os
import signal

VARIABLE = "EDGEKIT_FAULT"  # the name of a step: the process that reaches it is killed there
STEPS = (
    "fill: leased",
    "fill: folder made",
    "fill: marked",
    "fill: provider done",
    "fill: files hashed",
    "fill: files synced",
    "record: written",
    "fill: ready",
    "fill: use noted",
    "hit: leased",
    "hit: checked",
    "copy: made",
    "close: late files hashed",
    "close: late files recorded",
    "close: lease dropped",
    "evict: marked",
    "evict: renamed",
    "evict: half deleted",
    "evict: deleted",
)


def reach(step: str) -> None:
    """Go on, unless a test asked for the end of this process here."""
    assert step in STEPS
    if os.environ.get(VARIABLE) == step:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
