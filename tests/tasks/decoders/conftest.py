"""What real models give for one real photo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

Outputs = dict[str, NDArray[Any]]
Prepare = Callable[[NDArray[np.uint8]], NDArray[np.float32]]


@pytest.fixture(scope="session")
def run(zoo: Path) -> Callable[..., Outputs]:
    """run(model, photo, prepare, **inputs): a zoo model's outputs for a photo, by name."""
    cv2 = pytest.importorskip("cv2")
    onnxruntime = pytest.importorskip("onnxruntime")

    def run(model: str, photo: str, prepare: Prepare, **inputs: NDArray[Any]) -> Outputs:
        session = onnxruntime.InferenceSession(zoo / "models" / model, providers=["CPUExecutionProvider"])
        image = session.get_inputs()[0].name
        names = [output.name for output in session.get_outputs()]
        feed = {image: prepare(cv2.imread(str(zoo / "images" / photo))), **inputs}
        return dict(zip(names, session.run(names, feed), strict=True))

    return run


@pytest.fixture(scope="session")
def letterboxed() -> Prepare:
    """640x640 with a grey margin around, RGB, 0 to 1."""
    return lambda image: _planes(_padded(image, 640, centre=True)[..., ::-1]) / np.float32(255)


@pytest.fixture(scope="session")
def at_the_top_left() -> Prepare:
    """416x416 with a grey margin at the right or the bottom, BGR, 0 to 255."""
    return lambda image: _planes(_padded(image, 416, centre=False))


@pytest.fixture(scope="session")
def stretched() -> Prepare:
    """320x320 whatever the proportions, RGB, 0 to 1."""
    cv2 = pytest.importorskip("cv2")
    return lambda image: _planes(cv2.resize(image, (320, 320))[..., ::-1]) / np.float32(255)


@pytest.fixture(scope="session")
def centred() -> Prepare:
    """224x224 out of the middle of the photo at 256 pixels on its shorter side, RGB, as the classifier wants it."""
    cv2 = pytest.importorskip("cv2")

    def prepare(image: NDArray[np.uint8]) -> NDArray[np.float32]:
        height, width = image.shape[:2]
        scale = 256 / min(height, width)
        image = cv2.resize(image, (round(width * scale), round(height * scale)))
        top, left = (image.shape[0] - 224) // 2, (image.shape[1] - 224) // 2
        return (_planes(image[top : top + 224, left : left + 224, ::-1]) - 127) / np.float32(128)

    return prepare


def _padded(image: NDArray[np.uint8], side: int, *, centre: bool) -> NDArray[np.uint8]:
    import cv2

    height, width = image.shape[:2]
    scale = side / max(height, width)
    height, width = round(height * scale), round(width * scale)
    top, left = ((side - height) // 2, (side - width) // 2) if centre else (0, 0)
    canvas = np.full((side, side, 3), 114, np.uint8)
    canvas[top : top + height, left : left + width] = cv2.resize(image, (width, height))
    return canvas


def _planes(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    return np.ascontiguousarray(image.transpose(2, 0, 1)[None], dtype=np.float32)
