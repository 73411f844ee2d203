"""Measures mAP of the model on a drawn set, as COCO does. Needs onnxruntime and pycocotools; no torch."""

from __future__ import annotations

import argparse
import contextlib
import io
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
from draw import NAMES
from letterbox import Letterbox
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

MOST = 300  # detections of one picture


@dataclass(frozen=True)
class Detections:
    """What was found in one picture, best first."""

    boxes: NDArray  # (N, 4) x1 y1 x2 y2 in pixels of the picture
    scores: NDArray  # (N,)
    labels: NDArray  # (N,)


class Detector:
    """The model and what belongs before and after it."""

    def __init__(self, path: Path, confidence: float = 0.001, iou: float = 0.7) -> None:
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.side = self.session.get_inputs()[0].shape[-1]
        self.confidence, self.iou = confidence, iou

    def __call__(self, image: NDArray) -> Detections:
        """Detect in `image` (H, W, 3) uint8, blue first."""
        fit = Letterbox.around(image, self.side)
        pixels = fit.pixels[None, ..., ::-1].transpose(0, 3, 1, 2).astype(np.float32) / 255
        (output,) = self.session.run(None, {"images": pixels})
        centres, sizes, scores = np.split(output[0].T, (2, 4), axis=1)
        anchor, label = np.nonzero(scores > self.confidence)  # an anchor may speak for several classes
        xywh = np.concatenate((centres - sizes / 2, sizes), 1)[anchor]
        score = scores[anchor, label]
        kept = np.asarray(cv2.dnn.NMSBoxesBatched(xywh, score, label, self.confidence, self.iou), int).reshape(-1)
        kept = kept[np.argsort(-score[kept], kind="stable")][:MOST]
        corners = np.concatenate((xywh[kept, :2], xywh[kept, :2] + xywh[kept, 2:]), 1)
        height, width = image.shape[:2]
        boxes = np.clip(fit.to_image(corners), 0, (width, height, width, height))
        return Detections(boxes, score[kept], label[kept])


def read_boxes(path: Path, width: int, height: int) -> tuple[NDArray, NDArray]:
    """Labels (N,) and boxes (N, 4) x y w h in pixels of a YOLO label file."""
    rows = np.loadtxt(path, ndmin=2).reshape(-1, 5)
    xywh = rows[:, 1:] * (width, height, width, height)
    xywh[:, :2] -= xywh[:, 2:] / 2
    return rows[:, 0].astype(int), xywh


def measure(detector: Detector, folder: Path) -> dict[str, float]:
    """mAP50-95, mAP50 and, for each class, AP50-95."""
    truth, found = COCO(), []
    images, annotations = [], []
    for number, path in enumerate(sorted((folder / "images").iterdir()), 1):
        image = cv2.imread(str(path))
        height, width = image.shape[:2]
        images.append({"id": number, "width": width, "height": height})
        for label, box in zip(*read_boxes(folder / "labels" / f"{path.stem}.txt", width, height), strict=True):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": int(label),
                    "bbox": box.tolist(),
                    "area": float(box[2] * box[3]),
                    "iscrowd": 0,
                }
            )
        detections = detector(image)
        for box, score, label in zip(detections.boxes, detections.scores, detections.labels, strict=True):
            found.append((number, *box[:2], *(box[2:] - box[:2]), score, label))
    with contextlib.redirect_stdout(io.StringIO()):  # pycocotools tells of every step
        categories = [{"id": label, "name": name} for label, name in enumerate(NAMES)]
        truth.dataset = {"info": {}, "images": images, "annotations": annotations, "categories": categories}
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(np.array(found)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision = evaluation.eval["precision"][..., 0, -1]  # (IoU, recall, class), all sizes, 100 detections
    classes = {name: float(precision[..., label].mean()) for label, name in enumerate(NAMES)}
    return {"mAP50-95": float(evaluation.stats[0]), "mAP50": float(evaluation.stats[1]), **classes}


def main() -> None:
    """Print what was measured, one figure a line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("data", type=Path, help="a folder that draw.py wrote")
    arguments = parser.parse_args()
    for name, figure in measure(Detector(arguments.model), arguments.data).items():
        print(f"{name:9} {figure:.3f}")


if __name__ == "__main__":
    main()
