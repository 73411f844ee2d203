from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgekit.tasks.guess import candidates, from_metadata


def concrete_shapes(path: Path, size: tuple[int, int]) -> dict[str, tuple[int, ...]]:
    """The shapes of a model's outputs, from one run: the declared ones may be symbolic."""
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {i.name: np.zeros((1, 3, *size), np.float32) for i in session.get_inputs() if len(i.shape) == 4}
    if len(session.get_inputs()) > len(feed):
        feed["orig_target_sizes"] = np.array([size[::-1]], np.int64)
    names = [output.name for output in session.get_outputs()]
    return {name: array.shape for name, array in zip(names, session.run(names, feed), strict=True)}


@pytest.mark.parametrize(
    ("model", "size", "decoder"),
    [
        ("yolov8n.onnx", (640, 640), ["yolov8"]),
        ("yolov8n_collapsed_int8.onnx", (640, 640), ["yolov8"]),
        ("yolov5n.onnx", (640, 640), ["yolov5"]),
        ("yolox_nano.onnx", (416, 416), ["yolox"]),
        ("deimv2_atto.onnx", (320, 320), ["detr"]),
        ("efficientnet_lite0.onnx", (224, 224), ["classify"]),
        ("yolov8n-seg_int8.onnx", (320, 320), ["yolov8_segment"]),
        ("nanodet_m_320.onnx", (320, 320), ["nanodet"]),
        ("FastestDet.onnx", (352, 352), ["fastestdet"]),
        ("ultraface_rfb320.onnx", (240, 320), ["ssd"]),
    ],
)
def test_a_real_model_fits_its_decoder_and_no_other(
    zoo: Path, model: str, size: tuple[int, int], decoder: list[str]
) -> None:
    assert candidates(concrete_shapes(zoo / "models" / model, size), size) == decoder


@pytest.mark.parametrize(
    ("shape", "size", "decoders"),
    [
        ((1, 300, 6), (640, 640), ["end2end"]),
        ((1, 34000, 85), (1280, 1280), ["yolox"]),
        ((1, 102000, 85), (1280, 1280), ["yolov5"]),
        ((1, 84, 34000), (1280, 1280), ["yolov8"]),
        ((1, 84, 8401), (640, 640), []),
        ((1, 84, 34000), (640, 640), ["yolov8"]),  # a P2 head: strides 4 to 32
        ((4, 84, 8400), (640, 640), ["yolov8"]),
        ((1, 84, 6300), (480, 640), ["yolov8"]),
        ((1, 1000, 1, 1), (224, 224), ["classify"]),
        ((1, 85, 22, 22), (352, 352), ["fastestdet"]),
        ((1, 85, 22, 22), (640, 640), []),
        ((1, 1), (224, 224), []),
    ],
)
def test_a_single_output_is_known_by_its_shape(
    shape: tuple[int, ...], size: tuple[int, int], decoders: list[str]
) -> None:
    assert candidates({"output": shape}, size) == decoders


@pytest.mark.parametrize(
    ("shape", "size", "decoders"),
    [
        ((1, 8400, 6), (640, 640), ["yolox", "end2end"]),  # one class on the grid, or 8400 finished detections
        ((1, 25200, 6), (640, 640), ["yolov5", "end2end"]),
        ((1, 6, 6), (8, 24), ["yolov8", "yolox", "end2end"]),
        ((1, 21, 21), (32, 32), ["yolov8", "yolox"]),
    ],
)
def test_shapes_that_leave_it_open_give_every_decoder_that_fits(
    shape: tuple[int, ...], size: tuple[int, int], decoders: list[str]
) -> None:
    assert candidates({"output": shape}, size) == decoders


def test_the_number_of_classes_settles_it() -> None:
    shapes = {"output": (1, 21, 21)}
    assert candidates(shapes, (32, 32), classes=17) == ["yolov8"]
    assert candidates(shapes, (32, 32), classes=16) == ["yolox"]
    assert candidates({"output": (1, 84, 8400)}, (640, 640), classes=79) == []


def test_only_decoders_of_the_task_are_considered() -> None:
    shapes = {"output": (1, 84, 8400)}
    assert candidates(shapes, (640, 640), task="detect") == ["yolov8"]
    assert candidates(shapes, (640, 640), task="classify") == []


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"task": "detect", "end2end": False, "args": {"nms": False}}, ("detect", "yolov8")),
        ({"task": "detect"}, ("detect", "yolov8")),
        ({"task": "detect", "args": "unreadable"}, ("detect", "yolov8")),
        ({"task": "detect", "end2end": True}, ("detect", "end2end")),
        ({"task": "detect", "args": {"nms": True}}, ("detect", "end2end")),
        ({"task": "classify"}, ("classify", "classify")),
        ({"task": "segment"}, ("segment", "yolov8_segment")),
        ({"task": "pose", "end2end": True}, ("pose", "end2end_pose")),
        ({"task": "obb"}, ("obb", "yolov8_obb")),
        ({"task": "semantic"}, ("semantic", "semantic")),
        ({"task": "depth", "args": {"nms": True}}, ("depth", "depth")),
        ({"stride": 32, "names": {0: "person"}}, None),  # as YOLOv5's own repository exports
        ({"task": "translate"}, None),
        ({}, None),
    ],
)
def test_metadata_tells_task_and_decoder(metadata: dict, told: tuple[str, str | None] | None) -> None:
    assert from_metadata(metadata) == told
