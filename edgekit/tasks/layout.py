"""Outputs as decoders read them: with a batch axis, and with the channels before the places."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]


def arrangements(shapes: Shapes) -> Iterator[tuple[tuple[str, ...], dict[str, Shape]]]:
    """What the outputs can be: as they are, or all, the maps, or the rows of them with their channels last.

    Yields:
        The names of the outputs with channels last, and the shapes with channels first.
    """
    for ranks in ((), (3, 4), (4,), (3,)):
        last = tuple(name for name, shape in shapes.items() if len(shape) in ranks)
        if last or not ranks:
            yield last, {name: _moved(shape) if name in last else tuple(shape) for name, shape in shapes.items()}


def channels_first(outputs: Mapping[str, NDArray[Any]], last: Collection[str]) -> dict[str, NDArray[Any]]:
    """The outputs, as views, with the channels of those named in `last` moved behind the batch."""
    return {name: _moved_view(array) if name in last else array for name, array in outputs.items()}


def batched(outputs: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The outputs of a model without a batch axis as those of a batch of one."""
    return {name: array[None] for name, array in outputs.items()}


def _moved(shape: Shape) -> Shape:
    return (shape[0], shape[-1], *shape[1:-1])


def _moved_view(array: NDArray[Any]) -> NDArray[Any]:
    return array.transpose(0, array.ndim - 1, *range(1, array.ndim - 1)) if array.ndim > 2 else array
