"""What a frame costs around `session.run`: edgekit against code written by hand for this one model.

Both do the same work on the same frame, in turn, in one process; the session is replaced by its recorded outputs, so
that only what is around it counts. CPU time of the thread: min / median over the rounds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

import edgekit

MODEL = Path(__file__).resolve().parents[2] / "examples" / "shapes" / "shapes.onnx"
ROUNDS = 300
CONF, IOU = 0.25, 0.7


class Recorded:
    """Stands in for the session: gives back what it gave for the frame."""

    def __init__(self, outputs: list[NDArray[np.float32]]) -> None:
        self.outputs = outputs

    def run(self, names: list[str], feed: object) -> list[NDArray[np.float32]]:
        return self.outputs


def by_hand(size: int) -> Callable[[NDArray[np.uint8], NDArray[np.float32]], NDArray[np.float32]]:
    """Letterbox, normalize, decode and NMS with OpenCV, buffers allocated once."""
    canvas = np.full((size, size, 3), 114, np.uint8)
    tensor = np.empty((1, 3, size, size), np.float32)

    def run(frame: NDArray[np.uint8], output: NDArray[np.float32]) -> NDArray[np.float32]:
        height, width = frame.shape[:2]
        ratio = min(size / height, size / width)
        new = (round(width * ratio), round(height * ratio))
        left, top = (size - new[0]) // 2, (size - new[1]) // 2
        canvas[top : top + new[1], left : left + new[0]] = cv2.resize(frame, new)
        np.multiply(canvas[:, :, ::-1].transpose(2, 0, 1), np.float32(1 / 255), out=tensor[0])
        scores = output[0, 4:].max(0)
        keep = scores >= CONF
        good = output[0][:, keep].T
        boxes = good[:, :4].copy()
        boxes[:, :2] -= boxes[:, 2:] / 2
        kept = cv2.dnn.NMSBoxesBatched(boxes, scores[keep], good[:, 4:].argmax(1), CONF, IOU)
        boxes = boxes[kept]
        boxes[:, :2] -= (left, top)
        return boxes / ratio

    return run


def main() -> None:
    """Print both, and their ratio."""
    model = edgekit.load(MODEL)
    frame = cv2.resize(cv2.imread(str(MODEL.parent / "scene.jpg")), (1920, 1080))
    assert model.interface.preprocess
    feed, _ = model.prepare(frame)
    outputs = list(model.raw(feed).values())
    hand = by_hand(model.interface.preprocess.size[0])
    model.session = Recorded(outputs)
    found = len(model(frame, conf=CONF, iou=IOU))
    assert found == len(hand(frame, outputs[0])), "the two must do the same work"

    times: dict[str, list[float]] = {"edgekit": [], "by hand": []}
    for _ in range(ROUNDS):
        for name, work in (
            ("edgekit", lambda: model(frame, conf=CONF, iou=IOU)),
            ("by hand", lambda: hand(frame, outputs[0])),
        ):
            start = time.thread_time()
            work()
            times[name].append((time.thread_time() - start) * 1e3)
    for name, values in times.items():
        print(f"{name:8}  {min(values):.2f} / {statistics.median(values):.2f} ms CPU a frame")
    ratios = [a / b for a, b in zip(times["edgekit"], times["by hand"], strict=True)]
    print(f"ratio     {statistics.median(ratios):.2f} (1920x1080 frame, {found} objects, {ROUNDS} rounds)")


if __name__ == "__main__":
    main()
