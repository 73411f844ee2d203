from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from edgekit.errors import ModelError
from edgekit.preprocessing import PRESETS, Preprocess
from edgekit.runtime.hints import Hints
from edgekit.runtime.interface import identify
from tests import toys


def session(model: Any) -> Any:
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


ZOO = [
    ("yolov8n", "detect", "yolov8", (640, 640), 80),
    ("yolov5n", "detect", "yolov5", (640, 640), 80),
    ("yolox_nano", "detect", "yolox", (416, 416), 80),
    ("deimv2_atto", "detect", "detr", (320, 320), 0),
    ("efficientnet_lite0", "classify", "classify", (224, 224), 1000),
    ("FastestDet", "detect", "fastestdet", (352, 352), 80),
    ("nanodet_m_320", "detect", "nanodet", (320, 320), 80),
    ("ultraface_rfb320", "detect", "ssd", (240, 320), 1),
]


@pytest.mark.parametrize(("name", "task", "decoder", "size", "classes"), ZOO)
def test_real_models_are_recognised(
    zoo: Path, name: str, task: str, decoder: str | None, size: tuple[int, int], classes: int
) -> None:
    opened = ort.InferenceSession(str(zoo / "models" / f"{name}.onnx"), providers=["CPUExecutionProvider"])
    found = identify(opened, Hints()).interface
    assert (found.task, found.decoder) == (task, decoder)
    assert found.preprocess
    assert found.preprocess.size == size
    assert len(found.metadata["names"]) == classes


def test_what_was_guessed_is_said_and_what_is_known_is_not() -> None:
    assert identify(session(toys.detector()), Hints(decoder="yolov8")).guesses == ()
    assert identify(session(toys.detector(metadata=toys.METADATA)), Hints()).guesses == ()
    assert "guessed from the outputs output0 (1, 7, 64)" in identify(session(toys.detector()), Hints()).guesses[0]


def test_a_task_that_the_outputs_do_not_have_is_said() -> None:
    model = toys.detector(metadata={**toys.METADATA, "task": "pose"})
    with pytest.raises(ModelError, match="no kpt_shape, and no keypoints of 3 or 2 values fit the outputs"):
        identify(session(model), Hints())
    assert identify(session(model), Hints(task="raw")).interface.decoder is None


def test_task_and_decoder_must_agree() -> None:
    with pytest.raises(ModelError, match="decoder yolov8 gives detect, not classify"):
        identify(session(toys.detector()), Hints(task="classify", decoder="yolov8"))
    with pytest.raises(ModelError, match="no decoder for classify fits"):
        identify(session(toys.detector()), Hints(task="classify"))


def test_a_free_size_comes_from_the_user_then_from_metadata() -> None:
    model = toys.detector(height="h", width="w", metadata={"imgsz": "[96, 64]"})

    def size(hints: Hints) -> tuple[int, int]:
        preprocess = identify(session(model), hints).interface.preprocess
        assert preprocess
        return preprocess.size

    assert size(Hints(decoder="yolov8")) == (96, 64)
    assert size(Hints(decoder="yolov8", size=(32, 32))) == (32, 32)


def test_pre_processing_is_fitted_to_the_input() -> None:
    given = Preprocess(resize="crop", size=(224, 224), shorter_side=256, color="BGR")
    found = identify(session(toys.detector()), Hints(decoder="yolov8", preprocess=given)).interface.preprocess
    assert found
    assert (found.size, found.shorter_side, found.color) == ((64, 64), 73, "BGR")


def test_a_uint8_input_gets_the_pixels_as_they_are() -> None:
    found = identify(session(toys.typed("uint8")), Hints(decoder="yolov8")).interface.preprocess
    assert found
    assert (found.dtype, found.scale) == ("uint8", 1.0)


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets_survive_as_data(name: str) -> None:
    assert Preprocess.from_dict(PRESETS[name].to_dict()) == PRESETS[name]


def test_probabilities_are_told_from_logits(zoo: Path) -> None:
    opened = ort.InferenceSession(str(zoo / "models" / "efficientnet_lite0.onnx"), providers=["CPUExecutionProvider"])
    assert identify(opened, Hints()).interface.decoder_options == {"softmax": True}


def test_values_come_from_the_session_by_name(toy_package: Path) -> None:
    import edgekit

    model = edgekit.load(toy_package)
    outputs = model.run({"images": np.zeros((1, 3, 64, 64), np.float32)})
    assert outputs["output0"].shape == (1, 7, 64)
    assert model.providers == ["CPUExecutionProvider"]
