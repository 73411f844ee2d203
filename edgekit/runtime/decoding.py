"""Which decoder reads a model's outputs: as the user says, as the metadata says, else by the outputs' shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit import metadata
from edgekit.errors import ModelError
from edgekit.runtime.hints import Hints
from edgekit.tasks import decoders, guess
from edgekit.tasks.decoders.decoder import Outputs, Size
from edgekit.tasks.layout import arrangements, channels_first
from edgekit.tasks.tails import Keypoints

AS_THEY_ARE = "--task raw gives the outputs as they are"


@dataclass(frozen=True)
class Choice:
    """A task, its decoder with its options, and sentences on what was guessed."""

    task: str = "raw"
    decoder: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: int | None = None  # as far as the outputs tell
    guesses: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Evidence:
    """What is known of a model."""

    outputs: Outputs  # of one run, with a batch axis
    size: Size
    known: Mapping[str, Any]  # its metadata
    classes: int | None  # how many names there are

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: array.shape for name, array in self.outputs.items()}

    def __str__(self) -> str:
        return ", ".join(f"{name} {shape}" for name, shape in self.shapes.items())


def choose(
    outputs: Outputs,
    size: Size | None,
    known: Mapping[str, Any],
    hints: Hints,
    classes: int | None,
) -> Choice:
    """Find the decoder.

    Args:
        outputs: what the model gave for some image, with a batch axis.
        size: height and width of its image input, if it has one.
        known: its metadata.
        classes: how many class names there are, if there are any.

    Raises:
        ModelError: the decoder that was said does not fit, or several do; the message names the option.
    """
    seen = _Evidence(outputs, size or (0, 0), known, classes)
    if hints.decoder:
        return _said_by_user(seen, hints.decoder, hints.task)
    if hints.task == "raw" or size is None:
        return Choice()
    said = guess.from_metadata(known)
    if said and hints.task in (None, said[0]):
        last = _arrangement(seen, said[1])
        if last is not None:
            return _chosen(seen, said[1], last)
    return _guessed(seen, hints.task or (said[0] if said else None), asked=hints.task is not None)


def _said_by_user(seen: _Evidence, decoder: str, task: str | None) -> Choice:
    kind = decoders.get(decoder)
    if task and task != kind.task:
        raise ModelError(f"decoder {decoder} gives {kind.task}, not {task}")
    last = _arrangement(seen, decoder)
    if last is None:
        raise ModelError(f"decoder {decoder} does not fit the outputs: {seen}")
    return _chosen(seen, decoder, last)


def _arrangement(seen: _Evidence, decoder: str) -> tuple[str, ...] | None:
    """Which outputs have their channels last, if the decoder fits at all."""
    kind = decoders.get(decoder)
    fitting = [last for last, shapes in arrangements(seen.shapes) if kind.fits(shapes, seen.size)]
    return fitting[0] if fitting else None


def _guessed(seen: _Evidence, task: str | None, *, asked: bool) -> Choice:
    last, fitting = _candidates(seen, task, seen.classes)
    if not fitting and seen.classes:  # names of another model must not make this one raw
        last, fitting = _candidates(seen, task, None)
    if len(fitting) > 1:
        raise ModelError(
            f"several decoders fit the outputs {seen}: {', '.join(fitting)}", hint=f"--decoder {fitting[0]}"
        )
    if fitting:
        chosen = decoders.get(fitting[0])
        said = f"task {chosen.task} and decoder {chosen.name} guessed from the outputs {seen}"
        return _chosen(seen, chosen.name, last, said)
    if asked:
        raise ModelError(f"no decoder for {task} fits the outputs {seen}", hint=AS_THEY_ARE)
    return Choice(guesses=(f"no decoder fits the outputs {seen}: they are given as they are (task raw)",))


def _candidates(seen: _Evidence, task: str | None, classes: int | None) -> tuple[tuple[str, ...], list[str]]:
    """The decoders that fit, and which outputs have their channels last for them."""
    for last, shapes in arrangements(seen.shapes):
        fitting = guess.candidates(shapes, seen.size, task=task, classes=classes)
        if fitting:
            return last, fitting
    return (), []


def _chosen(seen: _Evidence, decoder: str, last: tuple[str, ...], *guesses: str) -> Choice:
    kind = decoders.get(decoder)
    outputs = channels_first(seen.outputs, last)
    count = kind.class_count({name: array.shape for name, array in outputs.items()})
    options, more = _options(seen, decoder, outputs)
    if seen.classes and count and seen.classes != count:  # every label would be in doubt
        raise ModelError(
            f"there are {seen.classes} class names, the outputs have {count} classes ({decoder}, {seen})",
            hint="--names FILE with one name for each class",
        )
    if last:
        options["channels_last"] = list(last)
    return Choice(kind.task, decoder, options, count, (*guesses, *more))


def _options(seen: _Evidence, decoder: str, outputs: Outputs) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The decoder's options, and what was guessed of them."""
    if decoder == "yolov5_heads" and "anchors" in seen.known:
        return {"anchors": metadata.plain(seen.known["anchors"])}, ()
    if decoder == "classify":
        return {"softmax": _are_logits(next(iter(outputs.values())))}, ()
    if decoder in decoders.POSES:
        return _keypoints(seen, decoders.POSES[decoder].keypoint_values(outputs), has_classes=decoder == "yolov8_pose")
    return {}, ()


def _are_logits(values: NDArray[Any]) -> bool:
    values = np.asarray(values, np.float64).ravel()
    return not (values.min() >= 0 and abs(values.sum() - 1) < 1e-2)


def _keypoints(seen: _Evidence, values: int, *, has_classes: bool) -> tuple[dict[str, Any], tuple[str, ...]]:
    """How many keypoints there are: from the metadata, else as many as there is room for.

    Args:
        values: columns beside the box; with `has_classes` a score for each class is among them.
    """
    room = values - (seen.classes or 1) * has_classes
    if "kpt_shape" in seen.known:
        points, each = Keypoints.build(metadata.plain(seen.known["kpt_shape"])).shape
        more_classes = has_classes and not seen.classes and points * each < room
        if points * each != room and not more_classes:
            names = f", with {seen.classes or 1} classes" if has_classes else ""
            raise ModelError(f"kpt_shape [{points}, {each}] does not fit the outputs: {seen}{names}", hint=AS_THEY_ARE)
        return {"kpt_shape": [points, each]}, ()
    each = next((each for each in (3, 2) if room >= each and room % each == 0), 0)
    if not each:
        raise ModelError(
            f"the metadata has no kpt_shape, and no keypoints of 3 or 2 values fit the outputs: {seen}",
            hint=AS_THEY_ARE,
        )
    shape = [room // each, each]
    return {"kpt_shape": shape}, (f"kpt_shape {shape} guessed from the outputs {seen}",)
