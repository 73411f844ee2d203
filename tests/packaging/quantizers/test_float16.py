from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from edgekit.packaging.probe import Probe
from edgekit.packaging.quantizers.float16 import Float16
from tests import toys

FEEDS = [{"images": np.random.default_rng(1).random((1, 3, 64, 64), np.float32)}]


def weight_types(model: object) -> dict[str, int]:
    return {i.name: i.data_type for i in model.graph.initializer}  # type: ignore[attr-defined]


def test_weights_become_float16_and_the_interface_stays() -> None:
    model = Float16(FEEDS)(toys.detector()).model
    assert weight_types(model)["weight"] == TensorProto.FLOAT16
    assert model.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT


def test_what_would_overflow_stays_float32() -> None:
    toy = toys.detector(gain=1e6)
    result = Float16(FEEDS)(toy)
    assert sorted(note.split()[0] for note in result.notes) == ["down", "up"]
    difference = Probe.of(toy, FEEDS).differences(result.model)["output0"]
    assert difference.relative < 5e-3


@pytest.mark.parametrize("gain", [1.0, 10.0])
def test_what_does_not_overflow_is_converted(gain: float) -> None:
    assert Float16(FEEDS)(toys.detector(gain=gain)).notes == ()


def test_the_file_is_valid_onnx(zoo: Path) -> None:
    """The converter appends its casts behind the nodes that read them, and onnxruntime opens that all the same."""
    model = onnx.load(zoo / "models" / "efficientnet_lite0.onnx")
    feed = {"input": np.random.default_rng(1).random((1, 3, 224, 224), np.float32)}
    onnx.checker.check_model(Float16([feed])(model).model, full_check=True)
