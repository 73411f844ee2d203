"""What a model takes and gives: read from the session, its metadata and its output shapes; guesses are said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from edgekit import metadata
from edgekit.errors import ModelError
from edgekit.manifest import Interface, TensorSpec
from edgekit.preprocessing import DECODER_PRESETS, Dtype, Layout, Preprocess, fitted, preset
from edgekit.runtime.hints import Hints
from edgekit.tasks import decoders, guess

DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(bool)": "bool",
    "tensor(string)": "str",
}
IMAGE_DTYPES = ("float32", "float16", "uint8")
SIZE_INPUT = "orig_target_sizes"  # as the DETR family's exporters name it: (B, 2) int64, width and height


@dataclass(frozen=True)
class Identified:
    """A model's interface, and the sentences on what was guessed."""

    interface: Interface
    guesses: tuple[str, ...] = field(default=())


Run = Callable[[Mapping[str, NDArray[Any]]], Sequence[NDArray[Any]]]


def read(session: Any) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...], dict[str, Any]]:
    """Inputs, outputs and metadata of a session, as they are declared."""
    inputs = tuple(with_role(_spec(i)) for i in session.get_inputs())
    outputs = tuple(_spec(o) for o in session.get_outputs())
    return inputs, outputs, metadata.parse(session.get_modelmeta().custom_metadata_map)


def identify(session: Any, hints: Hints) -> Identified:
    """Find out task, decoder and pre-processing.

    Runs the model once, on a grey image, since only outputs that exist have shapes that can be trusted.

    Raises:
        ModelError: the size is free and not given, or several decoders fit; the message names the option.
    """
    inputs, outputs, known = read(session)
    image = next((i for i in inputs if i.role == "image"), None)
    size = _size(image, known, hints) if image else None
    sample = session.run(None, grey_feed(inputs, size))
    shapes = {spec.name: tuple(np.shape(array)) for spec, array in zip(outputs, sample, strict=True)}
    names = dict(hints.names) if hints.names is not None else metadata.class_names(known.get("names"))
    task, decoder, guesses = _decoder(shapes, size, known, hints, len(names) or None)
    preprocess = None
    if image and size:
        preprocess = _preprocess(image, size, known, decoder, hints)
    interface = Interface(
        inputs=inputs,
        outputs=outputs,
        task=task,
        decoder=decoder,
        decoder_options=_decoder_options(decoder, sample, known),
        preprocess=preprocess,
        postprocess=dict(decoders.SETTINGS.get(decoder or "", {})),
        metadata=_metadata(known, task, decoder, size, names, shapes),
    )
    return Identified(interface, tuple(guesses))


def grey_feed(inputs: Sequence[TensorSpec], size: tuple[int, int] | None) -> dict[str, NDArray[Any]]:
    """Inputs that any model accepts: mid-grey images, sizes that agree, and ones. Free dimensions become 1."""
    feed = {}
    for spec in inputs:
        shape = [d if isinstance(d, int) and d > 0 else 1 for d in spec.shape]
        if spec.role == "image" and size:
            shape = list(image_shape(spec, size))
        if spec.role == "size":
            feed[spec.name] = size_feed(spec, size or (1, 1))
        elif spec.dtype == "str":
            feed[spec.name] = np.full(shape, "", dtype=object)
        else:
            value = 128 if spec.dtype == "uint8" else (0.5 if spec.role == "image" else 1)
            feed[spec.name] = np.full(shape, value, dtype=np.dtype(spec.dtype))
    return feed


def size_feed(spec: TensorSpec, size: tuple[int, int]) -> NDArray[Any]:
    """The model's own input size as the image's size, width first: boxes then come out in input pixels."""
    batch = spec.shape[0] if isinstance(spec.shape[0], int) and spec.shape[0] > 0 else 1
    return np.tile(np.array([[size[1], size[0]]], dtype=np.dtype(spec.dtype)), (batch, 1))


def image_shape(spec: TensorSpec, size: tuple[int, int]) -> tuple[int, ...]:
    """The concrete shape of an image input."""
    batch = spec.shape[0] if isinstance(spec.shape[0], int) and spec.shape[0] > 0 else 1
    return (batch, 3, *size) if layout(spec) == "NCHW" else (batch, *size, 3)


def layout(spec: TensorSpec) -> Layout:
    """Channels first unless only the last dimension can be the channels."""
    return "NHWC" if spec.shape[3] == 3 and spec.shape[1] != 3 else "NCHW"


def _spec(tensor: Any) -> TensorSpec:
    dtype = DTYPES.get(tensor.type) or str(tensor.type).removeprefix("tensor(").removesuffix(")")
    return TensorSpec(tensor.name, dtype, tuple(-1 if d is None else d for d in tensor.shape))


def with_role(spec: TensorSpec) -> TensorSpec:
    """The input with what it is for, as far as its shape and name tell."""
    if len(spec.shape) == 4 and spec.dtype in IMAGE_DTYPES and 3 in (spec.shape[1], spec.shape[3]):
        return replace(spec, role="image")
    if spec.name == SIZE_INPUT and len(spec.shape) == 2:
        return replace(spec, role="size")
    return spec


def _size(image: TensorSpec, known: Mapping[str, Any], hints: Hints) -> tuple[int, int]:
    """Height and width of the input: fixed in the model, given, or in its metadata."""
    fixed = fixed_size(image)
    if fixed is not None:
        if hints.size and hints.size != fixed:
            raise ModelError(
                f"input {image.name} is fixed at {_said(fixed)}: it cannot become {_said(hints.size)}",
                hint="export the model again at that size, or leave --imgsz out",
            )
        return fixed
    size = hints.size or metadata.image_size(known)
    if size is None:
        raise ModelError(
            f"input {image.name} has a free height or width", hint="--imgsz 640, or --imgsz 480,640 (height,width)"
        )
    return size


def _said(size: tuple[int, int]) -> str:
    return f"{size[0]},{size[1]}"


def fixed_size(image: TensorSpec) -> tuple[int, int] | None:
    """Height and width of an image input, if the model fixes both."""
    height, width = image.shape[2:] if layout(image) == "NCHW" else image.shape[1:3]
    both = isinstance(height, int) and isinstance(width, int) and height > 0 and width > 0
    return (int(height), int(width)) if both else None


def _decoder(
    shapes: Mapping[str, tuple[int, ...]],
    size: tuple[int, int] | None,
    known: Mapping[str, Any],
    hints: Hints,
    classes: int | None,
) -> tuple[str, str | None, list[str]]:
    """Task, decoder, and what was guessed."""
    if hints.decoder:
        kind = decoders.get(hints.decoder)
        if hints.task and hints.task != kind.task:
            raise ModelError(f"decoder {hints.decoder} gives {kind.task}, not {hints.task}")
        if not kind.fits(shapes, size or (0, 0)):
            raise ModelError(f"decoder {hints.decoder} does not fit the outputs: {_described(shapes)}")
        _check_names(hints.decoder, shapes, classes)
        return kind.task, hints.decoder, []
    if hints.task == "raw" or size is None:
        return "raw", None, []
    said = guess.from_metadata(known)
    if said and not hints.task:
        task, decoder = said
        if decoder is None:
            raise ModelError(
                f"the model's metadata says task {task}, which has no decoder yet",
                hint="--task raw gives the outputs as they are",
            )
        if decoders.get(decoder).fits(shapes, size):
            _check_names(decoder, shapes, classes)
            return task, decoder, []
    fitting = guess.candidates(shapes, size, task=hints.task, classes=classes)
    if not fitting and classes:  # names of another model must not make this one raw
        fitting = guess.candidates(shapes, size, task=hints.task)
    if len(fitting) > 1:
        raise ModelError(
            f"several decoders fit the outputs {_described(shapes)}: {', '.join(fitting)}",
            hint=f"--decoder {fitting[0]}",
        )
    if fitting:
        _check_names(fitting[0], shapes, classes)
        task = decoders.get(fitting[0]).task
        return task, fitting[0], [f"task {task} and decoder {fitting[0]} guessed from the outputs {_described(shapes)}"]
    if hints.task:
        raise ModelError(
            f"no decoder for {hints.task} fits the outputs {_described(shapes)}",
            hint="--task raw gives the outputs as they are",
        )
    return "raw", None, [f"no decoder fits the outputs {_described(shapes)}: they are given as they are (task raw)"]


def _check_names(decoder: str, shapes: Mapping[str, tuple[int, ...]], classes: int | None) -> None:
    """Refuse names of another number of classes: every label would be in doubt."""
    count = decoders.get(decoder).class_count(shapes)
    if classes and count and classes != count:
        raise ModelError(
            f"there are {classes} class names, the outputs have {count} classes ({decoder}, {_described(shapes)})",
            hint="--names FILE with one name for each class",
        )


def _described(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def _decoder_options(decoder: str | None, sample: Sequence[NDArray[Any]], known: Mapping[str, Any]) -> dict[str, Any]:
    """classify: whether the model's outputs are still logits. yolov5_heads: the anchors that its exporter wrote."""
    if decoder == "yolov5_heads" and "anchors" in known:
        return {"anchors": metadata.plain(known["anchors"])}
    if decoder != "classify":
        return {}
    values = np.asarray(sample[0], np.float64).ravel()
    return {"softmax": not (values.min() >= 0 and abs(values.sum() - 1) < 1e-2)}


def _preprocess(
    image: TensorSpec, size: tuple[int, int], known: Mapping[str, Any], decoder: str | None, hints: Hints
) -> Preprocess:
    dtype = cast(Dtype, image.dtype)
    if isinstance(hints.preprocess, Preprocess):
        return fitted(hints.preprocess, size=size, layout=layout(image), dtype=dtype)
    name = hints.preprocess or default_preset(decoder, known)
    return preset(name, size=size, layout=layout(image), dtype=dtype)


def default_preset(decoder: str | None, known: Mapping[str, Any]) -> str:
    """The preset that goes with a decoder; Ultralytics' classifiers have one of their own."""
    if decoder == "classify" and known.get("task") == "classify":
        return "yolo-classify"
    return DECODER_PRESETS.get(decoder or "", "stretch")


def _metadata(
    known: Mapping[str, Any],
    task: str,
    decoder: str | None,
    size: tuple[int, int] | None,
    names: Mapping[int, str],
    shapes: Mapping[str, tuple[int, ...]],
) -> dict[str, Any]:
    """The model's own keys, with those that every reader needs filled in."""
    out = {key: metadata.plain(value) for key, value in known.items()}
    count = decoders.get(decoder).class_count(shapes) if decoder else None
    if not names and count:
        names = {i: f"class_{i}" for i in range(count)}
    # a model whose outputs are given as they are keeps the task that its exporter wrote
    out |= {"stride": known.get("stride", 32), "task": known.get("task", task) if task == "raw" else task}
    out |= {"batch": 1, "channels": 3, "names": dict(names)}
    if size:
        out["imgsz"] = list(size)
    return out
