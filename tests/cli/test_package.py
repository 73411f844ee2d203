from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edgekit import metadata
from edgekit.packaging import pipeline
from tests import toys

FILES = ["golden.npz", "manifest.json", "metadata.yaml", "model.onnx", "report.json"]
Command = Callable[..., Any]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "toy.onnx")


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("target", ["cpu", "cpu-x86_64", "cpu-arm64"])
@pytest.mark.parametrize("precision", ["fp32", "fp16", "int8"])
def test_a_package_is_made_and_what_comes_next_is_said(
    edgekit: Command, model: Path, tmp_path: Path, target: str, precision: str
) -> None:
    out = tmp_path / "out"
    result = edgekit("package", model, "-t", target, "-o", out, "--precision", precision)
    assert result.exit_code == 0, result.stderr
    assert names(out) == sorted([*FILES, "recipe.yaml"] if precision == "int8" else FILES)
    assert f"edgekit run {out}" in result.stdout


def test_the_folder_is_named_after_model_and_target(
    edgekit: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert edgekit("package", model, "-t", "cpu-arm64").exit_code == 0
    assert (tmp_path / "toy-cpu-arm64").is_dir()


def test_the_same_inputs_give_the_same_bytes(
    edgekit: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for out in ("a", "b"):
        edgekit("package", model, "-t", "cpu", "--precision", "fp16", "-o", tmp_path / out)
    assert {n: (tmp_path / "a" / n).read_bytes() for n in FILES} == {
        n: (tmp_path / "b" / n).read_bytes() for n in FILES
    }


def test_no_path_of_this_machine_is_written(toy_package: Path) -> None:
    for path in toy_package.iterdir():
        assert str(toy_package.parent).encode() not in path.read_bytes()


def test_metadata_stands_in_the_model_too(toy_package: Path) -> None:
    props = {p.key: p.value for p in onnx.load(toy_package / "model.onnx").metadata_props}
    parsed = metadata.parse(props)
    assert parsed["names"] == {0: "cat", 1: "dog", 2: "hen"}
    assert (parsed["task"], parsed["imgsz"], parsed["batch"]) == ("detect", [64, 64], 1)


def test_the_report_says_what_each_step_did(toy_package: Path) -> None:
    report = json.loads((toy_package / "report.json").read_text())
    simplify = next(s for s in report["steps"] if s["name"] == "Simplify")
    assert simplify["operators"]["Concat"] == [1, 0]
    assert simplify["differences"]["output0"]["max_abs"] < 1e-4


def test_a_dry_run_writes_nothing(edgekit: Command, model: Path, tmp_path: Path) -> None:
    result = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--dry-run", "--json")
    data = json.loads(result.stdout)
    assert (data["written"], data["variants"]) == (False, ["cpu", "cpu-x86_64"])
    assert names(tmp_path) == ["toy.onnx"]


def test_a_free_size_is_asked_for_and_taken(edgekit: Command, tmp_path: Path) -> None:
    model = toys.save(toys.detector(height="h", width="w", batch="N"), tmp_path / "free.onnx")
    asked = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out")
    assert asked.exit_code == 2
    assert "--imgsz" in asked.stderr
    taken = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--imgsz", "64,96", "--decoder", "yolov8")
    assert taken.exit_code == 0, taken.stderr
    dims = onnx.load(tmp_path / "out" / "model.onnx").graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_value for d in dims] == [1, 3, 64, 96]


def test_dynamic_keeps_free_dimensions(edgekit: Command, tmp_path: Path) -> None:
    model = toys.save(toys.detector(height="h", width="w", batch="N"), tmp_path / "free.onnx")
    edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--imgsz", "64", "--dynamic", "--decoder", "yolov8")
    dims = onnx.load(tmp_path / "out" / "model.onnx").graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param or d.dim_value for d in dims] == ["N", 3, "h", "w"]
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_versions_are_pinned_to_what_the_target_reads(edgekit: Command, tmp_path: Path) -> None:
    model = toys.detector(opset=21, ir=10, imports=[("ai.onnx.ml", 5)], metadata=toys.METADATA)
    edgekit("package", toys.save(model, tmp_path / "new.onnx"), "-t", "cpu", "-o", tmp_path / "out")
    made = onnx.load(tmp_path / "out" / "model.onnx")
    assert ([(o.domain, o.version) for o in made.opset_import], made.ir_version) == ([("", 20)], 9)


@pytest.mark.parametrize(("text", "suffix"), [("cat\ndog\nhen\n", ".txt"), ("names: [cat, dog, hen]", ".yaml")])
def test_names_come_from_a_file(edgekit: Command, tmp_path: Path, text: str, suffix: str) -> None:
    model = toys.save(toys.detector(), tmp_path / "bare.onnx")
    file = tmp_path / f"names{suffix}"
    file.write_text(text)
    edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--names", file, "--decoder", "yolov8")
    described = json.loads(edgekit("inspect", tmp_path / "out", "--json").stdout)
    assert described["names"] == {"0": "cat", "1": "dog", "2": "hen"}


def test_names_of_another_number_of_classes_are_refused(edgekit: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("cat\ndog\n")
    result = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--names", tmp_path / "names.txt")
    assert result.exit_code == 2
    assert "2 class names, the outputs have 3 classes" in result.stderr


def test_several_targets_share_a_package_and_a_model_that_is_the_same(
    edgekit: Command, model: Path, tmp_path: Path
) -> None:
    both = ("-t", "cpu-x86_64", "-t", "cpu-arm64")
    result = edgekit("package", model, *both, "-o", tmp_path / "out", "--json")
    assert json.loads(result.stdout)["variants"] == ["cpu", "cpu-x86_64", "cpu-arm64"]
    assert names(tmp_path / "out") == ["cpu-x86_64", "manifest.json"]
    report = json.loads((tmp_path / "out" / "cpu-x86_64" / "report.json").read_text())
    assert list(report["targets"]) == ["cpu-x86_64", "cpu-arm64"]
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_models_that_differ_stand_apart(edgekit: Command, model: Path, tmp_path: Path) -> None:
    both = ("-t", "cpu-x86_64", "-t", "cpu-arm64")
    edgekit("package", model, *both, "-o", tmp_path / "out", "--precision", "int8")
    assert names(tmp_path / "out") == ["cpu-arm64", "cpu-x86_64", "manifest.json"]
    assert edgekit("verify", tmp_path / "out").exit_code == 0


def test_golden_images_are_recorded_only_when_asked(edgekit: Command, model: Path, tmp_path: Path) -> None:
    edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--golden", "none")
    assert "golden.npz" not in names(tmp_path / "out")
    assert "nothing was recorded" in edgekit("verify", tmp_path / "out").stdout


def test_what_several_decoders_fit_stops_and_names_the_flag(edgekit: Command, tmp_path: Path) -> None:
    box = onnx.helper.make_tensor_value_info
    rows = onnx.numpy_helper.from_array(np.zeros((1, 84, 6), np.float32), "rows")
    nodes = [
        onnx.helper.make_node("ReduceMean", ["images"], ["mean"], keepdims=0),
        onnx.helper.make_node("Add", ["rows", "mean"], ["output"]),
    ]
    graph = onnx.helper.make_graph(
        nodes, "two ways", [box("images", 1, [1, 3, 64, 64])], [box("output", 1, [1, 84, 6])], [rows]
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    result = edgekit("package", toys.save(model, tmp_path / "m.onnx"), "-t", "cpu", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "yolox, end2end" in result.stderr
    assert "--decoder" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-t", "cpu-x86_46"], "did you mean cpu-x86_64"),
        (["-t", "imx"], "nxp-imx8mp"),
        (["-t", "cpu", "--decoder", "yolov9"], "did you mean 'yolov8'"),
        (["-t", "cpu", "--decoder", "detr"], "does not fit the outputs"),
        (["-t", "cpu", "--imgsz", "320"], "is fixed at 64,64"),
        (["-t", "cpu", "--imgsz", "big"], "is no size"),
        (["-t", "cpu", "--preprocess", "yol"], "did you mean 'yolo'"),
        (["-t", "cpu", "--preprocess", "none.yaml"], "cannot be read"),
        (["-t", "cpu", "--names", "none.txt"], "cannot be read"),
        (["-t", "cpu", "--golden", "nothing"], "does not exist"),
        ([], "--target"),
    ],
)
def test_a_wrong_argument_is_one_sentence_and_leaves_nothing(
    edgekit: Command, model: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    result = edgekit("package", model, "-o", tmp_path / "out", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert names(tmp_path) == ["toy.onnx"]


def test_a_folder_that_exists_is_kept_unless_forced(edgekit: Command, model: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    refused = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out")
    assert (refused.exit_code, names(tmp_path / "out")) == (2, ["mine"])
    assert edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out", "--force").exit_code == 0
    assert names(tmp_path / "out") == FILES


def test_an_interruption_exits_130_and_leaves_nothing(
    edgekit: Command, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pipeline, "apply", interrupted)
    result = edgekit("package", model, "-t", "cpu", "-o", tmp_path / "out")
    assert result.exit_code == 130
    assert names(tmp_path) == ["toy.onnx"]


def test_control_c_in_the_middle_exits_130(zoo: Path, tmp_path: Path) -> None:
    model = zoo / "models" / "yolov8n.onnx"
    command = [sys.executable, "-m", "edgekit", "package", str(model), "-t", "cpu", "-o", str(tmp_path / "out")]

    def heeds_it() -> None:  # a shell starts its background jobs with the signal ignored, and so their children
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heeds_it)
    time.sleep(2)  # somewhere between reading and recording
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert names(tmp_path) == []


def test_a_full_disk_is_one_sentence_and_leaves_nothing(model: Path, tmp_path: Path) -> None:
    def small() -> None:  # no file may grow beyond 4 KB: the same error as no space, without filling a disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    command = [sys.executable, "-m", "edgekit", "package", str(model), "-t", "cpu", "-o", str(tmp_path / "out")]
    environment = {**os.environ, "EDGEKIT_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=small, env=environment, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: File too large")
    assert "make room" in done.stderr
    assert names(tmp_path) == ["toy.onnx"]
