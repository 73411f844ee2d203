"""How an image becomes a model's input, as data. The arithmetic is in `edgekit.runtime.transform`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, get_args

from edgekit.errors import UsageError

Resize = Literal["letterbox", "stretch", "crop"]
Interpolation = Literal["linear", "nearest"]
PadPosition = Literal["center", "top-left"]
ColorOrder = Literal["RGB", "BGR"]
Layout = Literal["NCHW", "NHWC"]
Dtype = Literal["float32", "float16", "uint8"]

CHOICES: Mapping[str, tuple[str, ...]] = {
    "resize": get_args(Resize),
    "interpolation": get_args(Interpolation),
    "pad_position": get_args(PadPosition),
    "color": get_args(ColorOrder),
    "layout": get_args(Layout),
    "dtype": get_args(Dtype),
}


@dataclass(frozen=True)
class Preprocess:
    """One image in, one tensor out: resize, pad, reorder, then `(x * scale - mean) / std`.

    Law: `Preprocess.from_dict(p.to_dict()) == p`.

    >>> Preprocess.from_dict({"size": [416, 416], "color": "BGR"}).color
    'BGR'
    """

    resize: Resize = "letterbox"
    size: tuple[int, int] = (640, 640)  # height, width of the model's input
    shorter_side: int | None = None  # crop: the shorter side is brought to this before the centre is cut out
    interpolation: Interpolation = "linear"
    pad_value: int = 114
    pad_position: PadPosition = "center"
    color: ColorOrder = "RGB"
    layout: Layout = "NCHW"
    dtype: Dtype = "float32"
    scale: float = 1 / 255
    mean: tuple[float, float, float] = (0.0, 0.0, 0.0)  # in the order of `color`
    std: tuple[float, float, float] = (1.0, 1.0, 1.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON and YAML."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items() if v is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Preprocess:
        """Read what `to_dict` wrote, or what a user wrote by hand.

        Raises:
            UsageError: an unknown key (the nearest one is suggested), or a value of the wrong kind.
        """
        known = {f.name for f in fields(cls)}
        for key in data:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1)
                raise UsageError(
                    f"pre-processing has no key {key!r}",
                    hint=f"did you mean {near[0]!r}?" if near else f"keys: {', '.join(sorted(known))}",
                )
        return cls(**{key: _value(key, value) for key, value in data.items()})


def _value(key: str, value: Any) -> Any:
    """Check one value and bring it to its type."""
    if key in CHOICES:
        if value not in CHOICES[key]:
            raise UsageError(f"pre-processing: {key} is {value!r}, must be one of {', '.join(CHOICES[key])}")
        return value
    if key == "size":
        sides = _numbers(key, value, 2)
        if any(side != int(side) or side < 1 for side in sides):
            raise UsageError(f"pre-processing: size is {value!r}, must be two whole numbers of pixels: height, width")
        return (int(sides[0]), int(sides[1]))
    if key in ("mean", "std"):
        numbers = _numbers(key, value, 3)
        if key == "std" and 0 in numbers:
            raise UsageError("pre-processing: std must not be 0")
        return numbers
    if value is None and key == "shorter_side":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UsageError(f"pre-processing: {key} is {value!r}, must be a number")
    if key == "scale":
        return float(value)
    low, high = (0, 255) if key == "pad_value" else (1, 2**16)
    if value != int(value) or not low <= value <= high:
        raise UsageError(f"pre-processing: {key} is {value!r}, must be a whole number from {low} to {high}")
    return int(value)


def _numbers(key: str, value: Any, count: int) -> tuple[float, ...]:
    if (
        not isinstance(value, (list, tuple))
        or len(value) != count
        or any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in value)
    ):
        raise UsageError(f"pre-processing: {key} is {value!r}, must be a list of {count} numbers")
    return tuple(float(v) for v in value)


# yolo: Ultralytics LetterBox. yolox: Megvii's ValTransform pads at the bottom right and keeps 0-255 BGR.
# imagenet: torchvision's reference transform. yolo-classify: Ultralytics' classify_transforms, without a margin.
# nanodet: RangiLyu/nanodet config/legacy_v0.x_configs/nanodet-m.yml. fastestdet: dog-qiuqiu/FastestDet test.py.
# ultraface: Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB run_video_face_detect_onnx.py.
PRESETS: Mapping[str, Preprocess] = {
    "yolo": Preprocess(),
    "yolox": Preprocess(pad_position="top-left", color="BGR", scale=1.0),
    "stretch": Preprocess(resize="stretch"),
    "imagenet": Preprocess(
        resize="crop", size=(224, 224), shorter_side=256, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)
    ),
    "yolo-classify": Preprocess(resize="crop", size=(224, 224), shorter_side=224),
    "nanodet": Preprocess(
        resize="stretch",
        size=(320, 320),
        color="BGR",
        scale=1.0,
        mean=(103.53, 116.28, 123.675),
        std=(57.375, 57.12, 58.395),
    ),
    "fastestdet": Preprocess(resize="stretch", size=(352, 352), color="BGR"),
    "ultraface": Preprocess(
        resize="stretch", size=(240, 320), scale=1.0, mean=(127.0, 127.0, 127.0), std=(128.0, 128.0, 128.0)
    ),
}

_LETTERBOXED = (
    *("yolov8", "yolov8_segment", "yolov8_pose", "yolov8_obb", "yolov5", "yolov5_heads"),
    *("end2end", "end2end_segment", "end2end_pose", "end2end_obb"),
    *("edgemdt", "edgemdt_segment", "edgemdt_pose", "semantic"),
)
DECODER_PRESETS: Mapping[str, str] = {
    **dict.fromkeys(_LETTERBOXED, "yolo"),
    "depth": "stretch",
    "yolox": "yolox",
    "detr": "stretch",
    "scored_boxes": "stretch",
    "nanodet": "nanodet",
    "fastestdet": "fastestdet",
    "ssd": "ultraface",
    "classify": "imagenet",
}


def preset(
    name: str, *, size: tuple[int, int] | None = None, layout: Layout = "NCHW", dtype: Dtype = "float32"
) -> Preprocess:
    """A named preset for a model's input size, layout and dtype.

    A uint8 input gets the pixels as they are: such a graph normalizes by itself.

    Raises:
        UsageError: no preset has this name; the nearest one is suggested.
    """
    if name not in PRESETS:
        near = difflib.get_close_matches(name, PRESETS, n=1)
        raise UsageError(
            f"no pre-processing preset {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"presets: {', '.join(PRESETS)}",
        )
    return fitted(PRESETS[name], size=size, layout=layout, dtype=dtype)


def fitted(preprocess: Preprocess, *, size: tuple[int, int] | None, layout: Layout, dtype: Dtype) -> Preprocess:
    """The same pre-processing for an input of this size, layout and dtype."""
    out = replace(preprocess, layout=layout, dtype=dtype)
    if size is not None:
        # the margin around the crop keeps its proportion, as 256 is to 224
        shorter = out.shorter_side and round(out.shorter_side * min(size) / min(out.size))
        out = replace(out, size=size, shorter_side=shorter)
    if dtype == "uint8":
        out = replace(out, scale=1.0, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    return out
