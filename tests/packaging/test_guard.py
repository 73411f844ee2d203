from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import edgekit
from edgekit.packaging import guard
from edgekit.packaging.golden import synthetic_images
from edgekit.packaging.probe import feeds_for
from tests import toys

Command = Callable[..., Any]
GENTLE = 32 / 255  # boxes of up to 32 pixels fit, scores keep eight steps


def quantized(scale: float, *, zero_point: int = 0) -> onnx.ModelProto:
    """The toy detector with one quantizer over boxes and scores together, as a careless tool leaves it."""
    model = toys.detector(metadata=toys.METADATA)
    model.graph.node[-1].output[0] = "float"
    for name, value in (("step", np.array(scale, np.float32)), ("zero", np.array(zero_point, np.uint8))):
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    model.graph.node.extend(
        [
            helper.make_node("QuantizeLinear", ["float", "step", "zero"], ["bits"], name="quantizer"),
            helper.make_node("DequantizeLinear", ["bits", "step", "zero"], ["output0"], name="dequantizer"),
        ]
    )
    return model


def found(model: onnx.ModelProto, tmp_path: Path) -> list[guard.Collapse]:
    runnable = edgekit.load(toys.save(model, tmp_path / "m.onnx"))
    return guard.find(model, runnable, feeds_for(runnable, synthetic_images(), 0))


def test_a_float_model_has_not_collapsed(tmp_path: Path) -> None:
    model = toys.detector(metadata=toys.METADATA)
    assert not guard.is_quantized(model)
    assert found(model, tmp_path) == []


def test_a_step_that_scores_survive_is_no_collapse(tmp_path: Path) -> None:
    assert found(quantized(GENTLE), tmp_path) == []


def test_scores_that_one_scale_swallows_are_found_with_their_node(tmp_path: Path) -> None:
    collapse = found(quantized(2.5), tmp_path)[0]
    assert (collapse.part, collapse.what) == ("scores", "every value is 0")
    assert collapse.cause == "quantizer has a step of 2.5: a score below 1.2 becomes 0"


def test_boxes_that_are_constant_are_found(tmp_path: Path) -> None:
    assert {c.part for c in found(quantized(100), tmp_path)} == {"boxes", "scores"}


def test_outputs_that_are_no_numbers_are_found(tmp_path: Path) -> None:
    model = toys.detector(metadata=toys.METADATA)
    scale = next(i for i in model.graph.initializer if i.name == "scale")
    scale.CopyFrom(numpy_helper.from_array(np.full((1, 7, 1), np.nan, np.float32), "scale"))
    assert [c.what for c in found(model, tmp_path)] == ["100% of the values are not a number"] * 2


def test_a_real_collapsed_model_is_refused_with_its_cause_and_writes_nothing(
    edgekit: Command, zoo: Path, tmp_path: Path
) -> None:
    model = zoo / "models" / "yolov8n_collapsed_int8.onnx"
    result = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out")
    assert result.exit_code == 3
    assert "scores: every value is 0; output0_QuantizeLinear has a step of 2.5" in result.stderr
    assert "/model.22/Concat_3" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_force_packages_it_and_says_so(edgekit: Command, tmp_path: Path) -> None:
    model = toys.save(quantized(2.5), tmp_path / "m.onnx")
    result = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--force")
    assert result.exit_code == 0
    assert "though it has collapsed" in result.stderr


def test_a_model_that_arrives_quantized_is_called_int8(edgekit: Command, tmp_path: Path) -> None:
    model = toys.save(quantized(GENTLE), tmp_path / "m.onnx")
    assert "int8" in edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out").stdout
    refused = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "other", "--precision", "fp16")
    assert refused.exit_code == 2
    assert "quantized already" in refused.stderr
