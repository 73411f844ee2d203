from __future__ import annotations

from pathlib import Path

import numpy as np

from edgekit.runtime import load
from edgekit.tasks.decoders.ssd import Ssd
from edgekit.tasks.predictions import Settings


def test_the_background_is_no_class_and_boxes_are_relative() -> None:
    boxes = np.array([[[0, 0, 0.5, 1], [0.5, 0.5, 1, 1]]], np.float32)
    scores = np.array([[[0.3, 0.7], [0.9, 0.1]]], np.float32)
    (found,) = Ssd.build((100, 200), {})({"scores": scores, "boxes": boxes}, Settings())
    assert found.boxes.tolist() == [[0, 0, 100, 100]]
    assert found.class_ids.tolist() == [0]


def test_more_classes_do_not_show_whether_one_is_the_background() -> None:
    shapes = {"scores": (1, 4420, 2), "boxes": (1, 4420, 4)}
    assert Ssd.fits(shapes, (240, 320))
    assert Ssd.fits(shapes, (240, 320), 1)
    assert not Ssd.fits(shapes, (240, 320), 2)
    assert not Ssd.fits({**shapes, "scores": (1, 4420, 21)}, (240, 320))
    assert not Ssd.fits({**shapes, "scores": (1, 4420, 21)}, (240, 320), 20)


def test_both_faces_are_found_and_none_is_invented(zoo: Path) -> None:
    result = load(zoo / "models" / "ultraface_rfb320.onnx")(zoo / "images" / "photos" / "zidane.jpg")
    assert len(result.boxes) == 2
    left, right = sorted(result.boxes.xyxy.tolist())
    assert 500 < left[0] < left[2] < 700
    assert 850 < right[0] < right[2] < 1150
