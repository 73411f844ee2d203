"""Packages opened by Ultralytics: task, names and image size must be intact, and the objects the same."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import edgekit
from edgekit.packaging import package

pytestmark = pytest.mark.ultralytics  # several gigabytes

THEIRS = """
import json, sys
from ultralytics import YOLO
model = YOLO(sys.argv[1])
result = model.predict(sys.argv[2], conf=0.25, iou=0.7, verbose=False, device="cpu")[0]
print(json.dumps({
    "task": model.task, "names": {str(k): v for k, v in model.names.items()},
    "imgsz": list(model.predictor.model.imgsz),
    "boxes": result.boxes.xyxy.tolist(), "classes": result.boxes.cls.tolist(),
}))
"""


def test_ultralytics_reads_the_same_model(zoo: Path, tmp_path: Path) -> None:
    made = package(zoo / "models" / "yolov8n.onnx", ["cpu"], output=tmp_path / "p").path
    photo = zoo / "images" / "photos" / "bus.jpg"
    command = [os.environ["ULTRALYTICS_PYTHON"], "-c", THEIRS, str(made / "model.onnx"), str(photo)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    theirs = json.loads(done.stdout.splitlines()[-1])
    ours = edgekit.load(made)
    result = ours(photo)
    assert (theirs["task"], theirs["imgsz"]) == ("detect", [640, 640])
    assert theirs["names"] == {str(k): v for k, v in ours.names.items()}
    assert theirs["classes"] == result.boxes.cls.tolist()
    assert np.allclose(theirs["boxes"], result.boxes.xyxy, atol=0.5)  # pixels
