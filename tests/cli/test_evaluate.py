"""`edgekit evaluate`: what a user sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests import toys

Edgekit = Callable[..., Any]


@pytest.fixture
def detector(tmp_path: Path) -> Path:
    return toys.save(toys.detector(metadata={"names": "{0: 'cat', 1: 'dog', 2: 'emu'}"}), tmp_path / "toy.onnx")


@pytest.fixture
def brightness(tmp_path: Path) -> Path:
    """A classifier of 8 by 8 pixels: class 1, bright, where the mean is above a half; else class 0, dark."""
    weights = np.array([[-1, 1]] * 3, np.float32)
    nodes = [
        helper.make_node("GlobalAveragePool", ["images"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "weights", "bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["scores"]),
    ]
    initializers = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.array([1.5, -1.5], np.float32), "bias"),
    ]
    graph = helper.make_graph(
        nodes,
        "brightness",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 2])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"task": "classify", "names": "{0: 'dark', 1: 'bright'}"})
    onnx.save(model, tmp_path / "brightness.onnx")
    return tmp_path / "brightness.onnx"


@pytest.fixture
def lights(tmp_path: Path) -> Path:
    """Three images in folders `dark` and `bright`; one of the bright ones is not."""
    for name, value in (("dark/a.png", 20), ("bright/b.png", 230), ("bright/c.png", 30)):
        path = tmp_path / "lights" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), np.full((16, 24, 3), value, np.uint8))
    return tmp_path / "lights"


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Two images with a box each; what is in them is noise."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for i in range(2):
        noise = np.random.default_rng(i).integers(0, 256, (48, 64, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"{i}.png"), noise)
        (folder / f"{i}.txt").write_text(f"{i} 0.5 0.5 0.5 0.5\n")
    return folder


def test_a_classifier_is_measured_as_json(edgekit: Edgekit, brightness: Path, lights: Path) -> None:
    result = edgekit("evaluate", brightness, lights, "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert "matched with the model's by name" in data.pop("notices")[-1]
    assert data == {
        "schema": "edgekit.evaluate/1",
        "package": str(brightness),
        "target": None,
        "data": str(lights),
        "images": 3,
        "metrics": {"top1": 0.66667, "top5": 1.0},
    }


def test_classes_are_shown_when_asked(edgekit: Edgekit, brightness: Path, lights: Path) -> None:
    per_class = json.loads(edgekit("evaluate", brightness, lights, "--per-class", "--json").stdout)["per_class"]
    assert per_class == [
        {"class_id": 0, "class_name": "dark", "count": 1, "metrics": {"top1": 1.0, "top5": 1.0}},
        {"class_id": 1, "class_name": "bright", "count": 2, "metrics": {"top1": 0.5, "top5": 1.0}},
    ]


def test_people_get_a_table(edgekit: Edgekit, brightness: Path, lights: Path) -> None:
    lines = edgekit("evaluate", brightness, lights, "--per-class").stdout.splitlines()
    assert lines[0].startswith(f"{brightness} on {lights}: 3 images, inference ")
    assert [line.split() for line in lines[1:]] == [
        ["class", "images", "top1", "top5"],
        ["all", "3", "0.667", "1.000"],
        ["dark", "1", "1.000", "1.000"],
        ["bright", "2", "0.500", "1.000"],
    ]


def test_labels_may_be_in_a_file_of_their_own(edgekit: Edgekit, brightness: Path, lights: Path) -> None:
    labels = lights.parent / "right.txt"
    labels.write_text("dark/a.png dark\nbright/b.png bright\nbright/c.png dark\n")
    result = edgekit("evaluate", brightness, lights, "--labels", labels, "--json")
    assert json.loads(result.stdout)["metrics"]["top1"] == 1


def test_a_detector_is_measured(edgekit: Edgekit, detector: Path, photos: Path) -> None:
    result = edgekit("evaluate", detector, photos, "--conf", "0.01", "--max-det", "50", "--json")
    data = json.loads(result.stdout)
    assert (result.exit_code, data["images"], list(data["metrics"])) == (0, 2, ["map50_95", "map50", "map75"])


def test_a_package_is_measured_with_its_target(edgekit: Edgekit, detector: Path, photos: Path, tmp_path: Path) -> None:
    package = tmp_path / "package"
    assert edgekit("package", detector, "-t", "cpu", "-o", package).exit_code == 0
    bare, packaged = (json.loads(edgekit("evaluate", m, photos, "--json").stdout) for m in (detector, package))
    assert packaged["target"] is not None
    assert packaged["metrics"] == pytest.approx(bare["metrics"], abs=1e-3)


def test_a_limit_is_kept(edgekit: Edgekit, detector: Path, photos: Path) -> None:
    assert json.loads(edgekit("evaluate", detector, photos, "--limit", "1", "--json").stdout)["images"] == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [("nowhere", "'nowhere' does not exist"), ("empty", "empty is a folder without images")],
)
def test_data_that_is_none_is_wrong_usage(
    edgekit: Edgekit, detector: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    result = edgekit("evaluate", detector, data)
    assert result.exit_code == 2
    assert sentence in result.stderr


def test_a_task_without_metric_is_wrong_usage(edgekit: Edgekit, detector: Path, photos: Path) -> None:
    result = edgekit("evaluate", detector, photos, "--task", "raw")
    assert result.exit_code == 2
    assert "task raw has no metric: detect and classify have" in result.stderr


def test_a_broken_image_is_wrong_usage(edgekit: Edgekit, detector: Path, photos: Path) -> None:
    (photos / "1.png").write_text("no image")
    result = edgekit("evaluate", detector, photos, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "1.png is not an image" in result.stderr


def test_an_imagenet_folder_is_measured_with_labels_made_from_its_names(
    edgekit: Edgekit, zoo: Path, tmp_path: Path
) -> None:
    """The zoo's folder holds every fifth of the 1000 sorted classes, and says so in its README only."""
    images = sorted(p.name for p in (zoo / "images" / "imagenet200").iterdir() if p.suffix == ".JPEG")
    (tmp_path / "labels.txt").write_text("".join(f"{name} {5 * k}\n" for k, name in enumerate(images)))
    (tmp_path / "lite.yaml").write_text(
        "{resize: crop, size: [224, 224], shorter_side: 256, scale: 1, mean: [127, 127, 127], std: [128, 128, 128]}"
    )
    arguments = ["--labels", tmp_path / "labels.txt", "--preprocess", tmp_path / "lite.yaml", "--limit", 40, "--json"]
    model = zoo / "models" / "efficientnet_lite0.onnx"
    data = json.loads(edgekit("evaluate", model, zoo / "images" / "imagenet200", *arguments).stdout)
    assert data["images"] == 40
    assert data["metrics"]["top1"] > 0.8
