"""What every decoder is, and what they share in refusing outputs that are not theirs."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks.predictions import Prediction, Settings

Size = tuple[int, int]  # height, width
Shapes = Mapping[str, tuple[int, ...]]
Outputs = Mapping[str, NDArray[Any]]


class Decoder(Protocol):
    """One way in which outputs encode a task. Frozen, so one instance serves a model for its lifetime."""

    name: ClassVar[str]
    task: ClassVar[str]

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> Decoder:
        """The decoder of a model with this input size, with the options that its package carries.

        Raises:
            ModelError: the decoder has no such option.
        """

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Whether outputs of these concrete shapes look like this decoder's. Only `classes` that is known counts."""

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """The number of classes in outputs that fit; None where the shapes don't tell."""

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """What the outputs hold, by meaning: `boxes`, `scores`, `labels`, as far as the format has them. Views.

        Raises:
            ModelError: the outputs are not this decoder's.
        """

    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """One prediction per image of the batch, in pixels of the model's input. What is not finite is dropped.

        Raises:
            ModelError: the outputs are not this decoder's.
        """


def check_options(decoder: str, options: Mapping[str, Any], known: Collection[str] = ()) -> None:
    """Refuse an option that the decoder does not know."""
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, n=1)
            hint = f"options: {', '.join(known)}" if known else "it takes none"
            raise ModelError(
                f"decoder {decoder} has no option {option!r}", hint=f"did you mean {near[0]!r}?" if near else hint
            )


def mismatch(decoder: str, expects: str, outputs: Outputs) -> ModelError:
    """The error for outputs of another model."""
    given = ", ".join(f"{name} {array.dtype}{list(array.shape)}" for name, array in outputs.items()) or "none"
    return ModelError(
        f"decoder {decoder} expects {expects}; the outputs are {given}", hint="--task raw gives the outputs as they are"
    )


def only_shape(shapes: Shapes) -> tuple[int, ...] | None:
    """The shape of the output if there is just one."""
    return next(iter(shapes.values())) if len(shapes) == 1 else None


def only_output(decoder: str, expects: str, outputs: Outputs, *, ndim: int) -> NDArray[np.float32]:
    """The single output, as float32."""
    arrays = list(outputs.values())
    if len(arrays) != 1 or arrays[0].ndim != ndim:
        raise mismatch(decoder, expects, outputs)
    return arrays[0].astype(np.float32, copy=False)
