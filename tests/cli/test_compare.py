"""`edgekit compare`: what a user sees."""

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
FAST = ("--rounds", "2")


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """The model that `toy_package` was made from."""
    return toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "toy.onnx")


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


def test_a_model_and_its_package_are_compared_as_json(
    edgekit: Edgekit, toy: Path, toy_package: Path, photos: Path
) -> None:
    result = edgekit("compare", toy, toy_package, photos, *FAST, "--json")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert (data["schema"], data["data"], data["images"]) == ("edgekit.compare/1", str(photos), 2)
    keys = ["path", "target", "precision", "bytes", "metrics", "latency_ms", "cpu_ms"]
    assert list(data["a"]) == list(data["b"]) == keys
    assert (data["a"]["path"], data["a"]["target"], data["a"]["precision"]) == (str(toy), None, None)
    assert (data["b"]["path"], data["b"]["precision"]) == (str(toy_package), "fp32")
    assert data["a"]["bytes"] == toy.stat().st_size
    assert list(data["metrics_difference"]) == list(data["a"]["metrics"]) == ["map50_95", "map50", "map75"]
    assert list(data["agreement"]) == ["score", "f1", "iou", "score_difference", "map50_95"]
    assert data["agreement"]["score"] == pytest.approx(1, abs=1e-3)
    assert data["outputs"]["output0"]["relative"] < 1e-3
    assert list(data["latency"]) == ["ratio", "spread", "cpu_ratio", "cpu_spread", "rounds", "threads"]
    assert (data["latency"]["rounds"], data["latency"]["threads"]) == (2, 1)
    assert data["latency"]["ratio"] > 0


def test_two_packages_are_compared_without_data(edgekit: Edgekit, toy_package: Path, tmp_path: Path) -> None:
    model = toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "half.onnx")
    assert edgekit("package", model, "-t", "cpu", "--precision", "fp16", "-o", tmp_path / "half").exit_code == 0
    data = json.loads(edgekit("compare", toy_package, tmp_path / "half", *FAST, "--json").stdout)
    assert (data["a"]["precision"], data["b"]["precision"]) == ("fp32", "fp16")
    assert (data["a"]["metrics"], data["metrics_difference"], data["data"]) == (None, None, None)
    assert data["agreement"]["f1"] > 0.5
    assert "no DATA given: compared on 4 synthetic images" in data["notices"]


def test_people_get_a_table(edgekit: Edgekit, toy: Path, photos: Path) -> None:
    result = edgekit("compare", toy, toy, photos, *FAST)
    assert result.exit_code == 0
    words = [line.split() for line in result.stdout.splitlines()]
    assert words[0] == ["A:", str(toy)]
    assert ["A", "B", "B", "against", "A"] in words
    assert [w[-1] for w in words if w and w[0] in ("map50_95", "map50", "map75")] == ["+0.0000"] * 3
    assert ["output0", "0", "0.00%"] in words
    assert "agreement on 2 images: f1 1.000, iou 1.000" in result.stdout
    assert "latency: median of 2 turns each, threads 1" in result.stdout


def test_a_folder_without_labels_is_enough(edgekit: Edgekit, toy: Path, photos: Path) -> None:
    for labels in photos.glob("*.txt"):
        labels.unlink()
    result = edgekit("compare", toy, toy, photos, *FAST, "--limit", "1", "--json")
    data = json.loads(result.stdout)
    assert (data["images"], data["a"]["metrics"], data["agreement"]["f1"]) == (1, None, 1)
    assert f"{photos} has no labels: there is no metric" in result.stderr


def test_what_is_said_of_a_model_goes_to_the_bare_file(edgekit: Edgekit, tmp_path: Path, toy_package: Path) -> None:
    nameless = toys.save(toys.detector(), tmp_path / "nameless.onnx")
    (tmp_path / "names.txt").write_text("cat\ndog\nhen\n")
    result = edgekit("compare", nameless, toy_package, *FAST, "--names", tmp_path / "names.txt")
    assert result.exit_code == 0
    assert "name their classes differently" not in result.stderr
    refused = edgekit("compare", toy_package, toy_package, "--names", tmp_path / "names.txt")
    assert (refused.exit_code, "carries its own" in refused.stderr) == (2, True)


def test_an_output_that_is_no_number_is_null(edgekit: Edgekit, toy: Path, tmp_path: Path) -> None:
    broken = toys.detector(metadata=toys.METADATA, gain=float("inf"))  # infinity over infinity
    result = edgekit("compare", toy, toys.save(broken, tmp_path / "broken.onnx"), *FAST, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["outputs"]["output0"] == {"max_abs": None, "relative": None}


def test_different_tasks_are_wrong_usage(edgekit: Edgekit, toy: Path, tmp_path: Path) -> None:
    result = edgekit("compare", toy, classifier(tmp_path / "classifier.onnx"), "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "has task detect" in result.stderr
    assert "has task classify: they cannot be compared" in result.stderr


def test_classifiers_agree_on_the_likeliest_class(edgekit: Edgekit, tmp_path: Path) -> None:
    models = [classifier(tmp_path / "a.onnx"), classifier(tmp_path / "b.onnx", sign=-1)]
    for first, second, score in ((0, 0, 1.0), (0, 1, 0.0)):
        data = json.loads(edgekit("compare", models[first], models[second], *FAST, "--json").stdout)
        assert (data["agreement"]["score"], data["agreement"]["top1"]) == (score, score)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("missing.onnx",), "missing.onnx does not exist"),
        (("toy.onnx", "nowhere"), "'nowhere' does not exist"),
        (("toy.onnx", "empty"), "empty is a folder without images"),
        (("toy.onnx", "--threads", "0"), "'--threads'"),
        (("toy.onnx", "--rounds", "0"), "'--rounds'"),
    ],
)
def test_wrong_inputs_are_wrong_usage(
    edgekit: Edgekit,
    toy: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    result = edgekit("compare", toy, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


def classifier(path: Path, sign: float = 1) -> Path:
    """Two classes; which one is likelier goes by `sign`, whatever the image."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["images"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("Gemm", ["flat", "weights", "bias"], ["logits"]),
        helper.make_node("Softmax", ["logits"], ["scores"]),
    ]
    initializers = [
        numpy_helper.from_array(np.zeros((3, 2), np.float32), "weights"),
        numpy_helper.from_array(np.array([sign, -sign], np.float32), "bias"),
    ]
    graph = helper.make_graph(
        nodes,
        "toy",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 2])],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"task": "classify", "names": "{0: 'dark', 1: 'bright'}"})
    onnx.save(model, path)
    return path
