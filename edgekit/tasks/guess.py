"""Which decoder a model needs: from what its exporter wrote, else from the shapes of its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgekit.tasks.decoders import DECODERS

ULTRALYTICS_TASKS = ("detect", "segment", "pose", "obb", "classify", "semantic", "depth")
# to shapes, keypoints and angles are more classes, and a class map is a depth map: something else must tell
HIDDEN = frozenset({"yolov8_pose", "yolov8_obb", "end2end_pose", "end2end_obb", "semantic", "depth"})


def candidates(
    shapes: Mapping[str, tuple[int, ...]], size: tuple[int, int], task: str | None = None, classes: int | None = None
) -> list[str]:
    """Names of the decoders that fit; several where the shapes leave it open.

    Args:
        shapes: concrete, by output name.
        size: height and width of the model's input.
        task: only decoders of this task, if given.
        classes: the number of classes, if known: a decoder that would find another number does not fit.

    >>> candidates({"output": (1, 3549, 85)}, (416, 416))
    ['yolox']
    >>> candidates({"output": (1, 8400, 6)}, (640, 640))  # a YOLOX of one class, or 8400 finished detections
    ['yolox', 'end2end']
    """
    return [
        name
        for name, decoder in DECODERS.items()
        if task in (None, decoder.task)
        and (task is not None or name not in HIDDEN)
        and decoder.fits(shapes, size, classes)
    ]


def from_metadata(metadata: Mapping[str, Any]) -> tuple[str, str] | None:
    """Task and decoder that parsed Ultralytics keys tell; None where they tell no task.

    Exports of YOLOv5's own repository carry only stride and names.

    >>> from_metadata({"task": "detect", "args": {"nms": True}})
    ('detect', 'end2end')
    >>> from_metadata({"task": "pose"})
    ('pose', 'yolov8_pose')
    """
    task = metadata.get("task")
    if task not in ULTRALYTICS_TASKS:
        return None
    if task in ("classify", "semantic", "depth"):
        return task, task
    args = metadata.get("args")
    nms = args.get("nms") if isinstance(args, Mapping) else None
    finished = metadata.get("end2end") is True or metadata.get("nms") is True or nms is True
    decoder = "end2end" if finished else "yolov8"
    return task, decoder if task == "detect" else f"{decoder}_{task}"
