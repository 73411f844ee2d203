"""Whether an accelerator's outputs give away that the CPU made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import EdgekitError
from edgekit.runtime import interface as interfaces
from edgekit.runtime.model import Model
from edgekit.runtime.request import Request

SEED = 20
FLOATS = ("float32", "float16")


def same_as_cpu(model: Model) -> bool:
    """Whether all floating point outputs equal those of the CPU's provider bit for bit, on seeded noise.

    Two implementations of a network round differently; equal bits mean that one and the same ran. Not so where the
    provider's operators are exact, as in some integer models: this is a reason to look, no proof.
    """
    try:
        on_cpu = replace(model.opening, requests=(Request(),)).session()
    except EdgekitError:
        return False  # the CPU's provider cannot run it, so it did not
    feed = _noise(model)
    names = [o.name for o in model.interface.outputs if o.dtype in FLOATS]
    ours, theirs = model.raw(feed), dict(zip(names, on_cpu.run(names, dict(feed)), strict=True))
    return bool(names) and all(np.array_equal(ours[name], theirs[name], equal_nan=True) for name in names)


def _noise(model: Model) -> Mapping[str, NDArray[Any]]:
    """Inputs that a model takes, with noise for floats and images."""
    random, size = np.random.default_rng(SEED), model.interface.preprocess.size if model.interface.preprocess else None
    feed = interfaces.grey_feed(model.interface.inputs, size)
    for spec in model.interface.inputs:
        array = feed[spec.name]
        if spec.dtype in FLOATS:
            feed[spec.name] = random.random(array.shape, np.float32).astype(array.dtype)
        elif spec.role == "image":
            feed[spec.name] = random.integers(0, 256, array.shape, np.uint8)
    return feed
