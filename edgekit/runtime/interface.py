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
from edgekit.runtime.decoding import Choice, choose
from edgekit.runtime.hints import Hints
from edgekit.tasks import decoders
from edgekit.tasks.layout import batched

DTYPES = {
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(bool)": "bool",
    "tensor(string)": "str",
}
IMAGE_DTYPES = ("float32", "float16", "uint8")
SMALLEST_SIDE = 16  # pixels of an image, where no batch axis shows that it is one
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
    sample = dict(zip([spec.name for spec in outputs], session.run(None, grey_feed(inputs, size)), strict=True))
    has_batch_axis = image is None or len(image.shape) == 4
    names = dict(hints.names) if hints.names is not None else metadata.class_names(known.get("names"))
    choice = choose(sample if has_batch_axis else batched(sample), size, known, hints, len(names) or None)
    if not names and choice.classes:
        names = {i: f"class_{i}" for i in range(choice.classes)}
    preprocess = _preprocess(image, size, known, choice.decoder, hints) if image and size else None
    options = dict(choice.options) if has_batch_axis or not choice.decoder else {**choice.options, "batch_axis": False}
    interface = Interface(
        inputs=inputs,
        outputs=outputs,
        task=choice.task,
        decoder=choice.decoder,
        decoder_options=options,
        preprocess=preprocess,
        postprocess=dict(decoders.SETTINGS.get(choice.decoder or "", {})),
        metadata=_metadata(known, choice, size, names),
    )
    return Identified(interface, choice.guesses)


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
    places = (3, *size) if layout(spec) == "NCHW" else (*size, 3)
    if len(spec.shape) == 3:
        return places
    return (spec.shape[0] if isinstance(spec.shape[0], int) and spec.shape[0] > 0 else 1, *places)


def layout(spec: TensorSpec) -> Layout:
    """Channels first unless only the last dimension can be the channels."""
    return "NHWC" if spec.shape[-1] == 3 and spec.shape[-3] != 3 else "NCHW"


def _spec(tensor: Any) -> TensorSpec:
    dtype = DTYPES.get(tensor.type) or str(tensor.type).removeprefix("tensor(").removesuffix(")")
    return TensorSpec(tensor.name, dtype, tuple(-1 if d is None else d for d in tensor.shape))


def with_role(spec: TensorSpec) -> TensorSpec:
    """The input with what it is for, as far as its shape and name tell."""
    if spec.dtype in IMAGE_DTYPES and _is_image(spec.shape):
        return replace(spec, role="image")
    if spec.name == SIZE_INPUT and len(spec.shape) == 2:
        return replace(spec, role="size")
    return spec


def _is_image(shape: tuple[int | str, ...]) -> bool:
    """Three channels, first or last; without a batch axis also sides that points in space, (N, 3), do not have."""
    if len(shape) == 4:
        return 3 in (shape[1], shape[3])
    if len(shape) != 3 or 3 not in (shape[0], shape[2]):
        return False
    sides = shape[1:] if shape[0] == 3 else shape[:2]
    return all(isinstance(side, int) and side >= SMALLEST_SIDE for side in sides)


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
    height, width = image.shape[-2:] if layout(image) == "NCHW" else image.shape[-3:-1]
    both = isinstance(height, int) and isinstance(width, int) and height > 0 and width > 0
    return (int(height), int(width)) if both else None


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
    known: Mapping[str, Any], choice: Choice, size: tuple[int, int] | None, names: Mapping[int, str]
) -> dict[str, Any]:
    """The model's own keys, with those that every reader needs filled in."""
    out = {key: metadata.plain(value) for key, value in known.items()}
    # a model whose outputs are given as they are keeps the task that its exporter wrote
    task = known.get("task", choice.task) if choice.task == "raw" else choice.task
    out |= {"stride": known.get("stride", 32), "task": task, "batch": 1, "channels": 3, "names": dict(names)}
    if "kpt_shape" in choice.options:
        out["kpt_shape"] = choice.options["kpt_shape"]
    if size:
        out["imgsz"] = list(size)
    return out
