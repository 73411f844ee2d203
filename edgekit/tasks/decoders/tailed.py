"""What the decoders of boxes with a task's extras share: which output is which, and how wide the extras are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks.decoders.decoder import Outputs, Shapes, check_options
from edgekit.tasks.tails import Coefficients, Keypoints, Tail


def build(kind: type[Tail], decoder: str, options: Mapping[str, Any]) -> Tail:
    """The tail with its option from the package.

    Raises:
        ModelError: the option is unknown, missing or wrong.
    """
    check_options(decoder, options, [kind.option] if kind.option else [])
    if kind.option and kind.option not in options:
        raise ModelError(f"decoder {decoder} needs the option {kind.option}")
    return kind.build(options.get(kind.option) if kind.option else None)


def rows(kind: type[Tail], shapes: Shapes) -> tuple[int, ...] | None:
    """The shape of the output with the boxes; None where the outputs are not those of this tail."""
    names = _names(kind, shapes)
    return shapes[names[0]] if names else None


def extras(kind: type[Tail], shapes: Shapes) -> int | None:
    """How many columns the extras are, as far as the shapes tell."""
    names = _names(kind, shapes)
    if names is None or kind is Keypoints:
        return None
    return kind.build(None).width(shapes[names[1]] if len(names) == 2 else None)


def arrays(kind: type[Tail], outputs: Outputs) -> tuple[NDArray[np.float32], NDArray[np.float32] | None] | None:
    """The output with the boxes, and the prototypes (B, M, h, w) where the tail has some."""
    names = _names(kind, {name: array.shape for name, array in outputs.items()})
    if names is None:
        return None
    found = [outputs[name].astype(np.float32, copy=False) for name in names]
    return found[0], found[1] if len(found) == 2 else None


def _names(kind: type[Tail], shapes: Shapes) -> list[str] | None:
    """Which output is which: one has three dimensions, prototypes have four."""
    wanted = [3, 4] if issubclass(kind, Coefficients) else [3]
    by_rank = sorted(shapes, key=lambda name: len(shapes[name]))
    return by_rank if [len(shapes[name]) for name in by_rank] == wanted else None
