"""Packages of models with NMS inside, for a target that has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import edgekit as api
from edgekit.packaging import ending
from tests import nms_toys, toys

Command = Callable[..., Any]
TARGET = """\
name: no-nms
title: A stand-in for a GPU that cannot select
provider: {name: CPUExecutionProvider}
precision: {default: fp32, allowed: [fp32, int8]}
limits: {static_shapes: true, batch: 1, forbidden_operators: [NonMaxSuppression, TopK], dtypes: [float32, int32]}
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    file = tmp_path / "no-nms.yaml"
    file.write_text(TARGET)
    return file


def operators(path: Path) -> set[str]:
    return {node.op_type for node in onnx.load(path).graph.node}


def test_the_package_ends_before_nms_and_finds_the_same(
    edgekit: Command, zoo: Path, target: Path, tmp_path: Path
) -> None:
    model = toys.save(nms_toys.with_nms(onnx.load(zoo / "models" / "yolov8n.onnx")), tmp_path / "nms.onnx")
    made = edgekit("package", model, "-t", target, "-o", tmp_path / "out", "--task", "detect", "--decoder", "end2end")
    assert made.exit_code == 0, made.stderr
    assert "decoder yolov8" in made.stdout
    assert "NonMaxSuppression" not in operators(tmp_path / "out" / "model.onnx")
    photo = zoo / "images" / "photos" / "bus.jpg"
    before = json.loads(edgekit("run", model, photo, "--decoder", "end2end", "--json").stdout)["results"][0]
    after = json.loads(edgekit("run", tmp_path / "out", photo, "--json").stdout)["results"][0]
    assert len(before["detections"]) >= 5
    for a, b in zip(before["detections"], after["detections"], strict=True):
        assert a["class_id"] == b["class_id"]
        assert a["box"] == pytest.approx(b["box"], abs=0.1)
        assert a["score"] == pytest.approx(b["score"], abs=1e-4)
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_int8_is_made_of_what_is_left(edgekit: Command, target: Path, tmp_path: Path) -> None:
    model = toys.save(nms_toys.with_nms(toys.detector(metadata=toys.METADATA), conf=0.5), tmp_path / "nms.onnx")
    made = edgekit(
        "package", model, "-t", target, "-o", tmp_path / "out", "--precision", "int8", "--decoder", "end2end"
    )
    assert made.exit_code == 0, made.stderr
    assert {"QuantizeLinear"} <= operators(tmp_path / "out" / "model.onnx")
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_a_cut_that_finds_other_objects_is_refused_and_nothing_is_written(
    edgekit: Command, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def astray(*models: object) -> int:
        raise api.EdgekitError("it finds other objects")

    monkeypatch.setattr(ending.cutting, "agreement", astray)
    model = toys.save(nms_toys.with_nms(toys.detector(metadata=toys.METADATA)), tmp_path / "nms.onnx")
    made = edgekit("package", model, "-t", target, "-o", tmp_path / "out", "--decoder", "end2end")
    assert (made.exit_code, "it finds other objects" in made.stderr) == (1, True)
    assert not (tmp_path / "out").exists()


def test_a_selection_inside_the_network_stays_and_is_told(
    edgekit: Command, zoo: Path, target: Path, tmp_path: Path
) -> None:
    model = zoo / "models" / "deimv2_atto.onnx"
    made = edgekit("package", model, "-t", target, "-o", tmp_path / "out")
    assert made.exit_code == 0, made.stderr
    assert "stays: learned layers are behind it" in made.stdout
    interface = api.load(tmp_path / "out").interface
    assert (interface.decoder, [i.name for i in interface.inputs]) == ("scored_boxes", ["images"])
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_the_metadata_no_longer_promises_finished_detections(edgekit: Command, target: Path, tmp_path: Path) -> None:
    told = {**toys.METADATA, "end2end": "True", "args": "{'nms': True}"}
    model = toys.save(nms_toys.with_nms(toys.detector(metadata=told)), tmp_path / "nms.onnx")
    edgekit("package", model, "-t", target, "-o", tmp_path / "out")
    metadata = api.load(tmp_path / "out").interface.metadata
    assert (metadata["end2end"], metadata["args"]["nms"]) == (False, False)
