from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.probe import Probe
from tests import toys


@pytest.mark.parametrize(("opset", "expected"), [(11, 13), (12, 13), (13, 13), (17, 17)])
def test_what_is_too_old_is_raised_and_nothing_else_is(opset: int, expected: int) -> None:
    result = RaiseOpset(13)(toys.detector(opset=opset, metadata={"task": "detect"}))
    assert result.model.opset_import[0].version == expected
    assert result.changed == (opset < 13)
    assert [p.key for p in result.model.metadata_props] == ["task"]


@pytest.mark.parametrize(("name", "size"), [("yolov8n", 640), ("yolov5n", 640), ("yolox_nano", 416)])
def test_real_models_give_the_same_at_the_newer_opset(zoo: Path, name: str, size: int) -> None:
    model = onnx.load(zoo / "models" / f"{name}.onnx")
    feed = {model.graph.input[0].name: np.random.default_rng(0).random((1, 3, size, size), np.float32)}
    differences = Probe.of(model, [feed]).differences(RaiseOpset(13)(model).model)
    assert max(d.relative for d in differences.values()) < 1e-5
