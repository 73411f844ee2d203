"""`edgekit check`: what a user reads before anything is packaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

from edgekit import target as profiles
from tests import nms_toys, toys

Command = Callable[..., Any]
PROFILE = """\
name: {name}
title: A stand-in for an NPU
provider: {{name: VSINPUExecutionProvider}}
device: npu
precision: {{default: fp32, allowed: [fp32]}}
"""


@pytest.fixture
def npu(tmp_path: Path) -> Callable[..., Path]:
    """Writes the profile of an NPU with these limits."""

    def write(limits: str, name: str = "npu") -> Path:
        file = tmp_path / f"{name}.yaml"
        file.write_text(PROFILE.format(name=name) + f"limits: {{{limits}}}\n")
        return file

    return write


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return toys.save(toys.detector(metadata=toys.METADATA), tmp_path / "toy.onnx")


def checked(edgekit: Command, *arguments: object) -> dict[str, Any]:
    result = edgekit("check", *arguments, "--json")
    data: dict[str, Any] = json.loads(result.stdout)["targets"][0]
    assert result.exit_code == (3 if data["outcome"] == "blocked" else 0)
    return data


def found(data: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [finding for finding in data["findings"] if finding["kind"] == kind]


ALL = "[Conv, Mul, Div, Reshape, Sigmoid]"


def test_a_model_that_all_runs_is_said_to(edgekit: Command, toy: Path, npu: Callable[..., Path]) -> None:
    result = edgekit("check", toy, "-t", npu(f"supported_operators: {ALL}"))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split() == ["npu", "VSINPU", "fp32", "100.0%", "100.0%", "1", "runs"]


def test_what_is_left_is_named_with_its_reason(edgekit: Command, toy: Path, npu: Callable[..., Path]) -> None:
    data = checked(edgekit, toy, "-t", npu("supported_operators: [Conv, Mul, Div, Reshape]"))
    assert (data["outcome"], data["coverage"]["left"]) == ("partly", {"Sigmoid": 1})
    (left,) = found(data, "operators")
    assert (left["effect"], left["nodes"]) == ("left", ["squash"])
    assert "not among the operators" in left["message"]


def test_a_model_whose_work_all_stays_on_the_cpu_is_blocked(
    edgekit: Command, toy: Path, npu: Callable[..., Path], tmp_path: Path
) -> None:
    file = npu("supported_operators: [Mul, Div]")
    result = edgekit("check", toy, "-t", file)
    assert result.exit_code == 3
    assert "takes none of the multiply-accumulates: the CPU would do all the work" in result.stdout
    packaged = edgekit("package", toy, "-t", file, "-o", tmp_path / "out")
    assert (packaged.exit_code, (tmp_path / "out").exists()) == (3, False)
    assert "edgekit check MODEL -t npu" in packaged.stderr
    assert edgekit("package", toy, "-t", file, "-o", tmp_path / "out", "--force").exit_code == 0


def test_where_no_list_is_known_that_is_the_answer(edgekit: Command, toy: Path, npu: Callable[..., Path]) -> None:
    data = checked(edgekit, toy, "-t", npu("batch: 1"))
    assert (data["outcome"], data["coverage"]) == ("unknown", None)


def test_several_targets_stand_side_by_side(edgekit: Command, toy: Path, npu: Callable[..., Path]) -> None:
    both = ("-t", npu(f"supported_operators: {ALL}", "good"), "-t", npu("supported_operators: [Mul]", "bad"))
    result = edgekit("check", toy, *both)
    assert result.exit_code == 3
    rows = [line.split() for line in result.stdout.splitlines()[1:3]]
    assert [(row[0], row[-1]) for row in rows] == [("good", "runs"), ("bad", "blocked")]
    assert "bad: VSINPUExecutionProvider takes none" in result.stdout


@pytest.mark.parametrize(
    ("limits", "model", "kind", "effect", "message", "remedy"),
    [
        (
            "static_shapes: true",
            toys.detector(batch="N"),
            "shapes",
            "changed",
            "free dimensions",
            "images [1, 3, 64, 64]",
        ),
        ("opset_max: 15", toys.detector(), "opset", "changed", "opset 17", "converted to 15"),
        ("opset_min: 18", toys.detector(), "opset", "changed", "opset 17", "converted to 18"),
        ("ir_max: 7", toys.detector(), "ir", "changed", "IR 8", "written as 7"),
        ("dtypes: [uint8]", toys.detector(), "dtype", "blocks", "images is float32", "another dtype"),
        ("batch: 1", toys.detector(batch=2), "steps", "blocks", "a fixed batch of 2", "a batch of 1"),
    ],
)
def test_each_limit_is_told_with_what_becomes_of_it(
    edgekit: Command,
    npu: Callable[..., Path],
    tmp_path: Path,
    limits: str,
    model: onnx.ModelProto,
    kind: str,
    effect: str,
    message: str,
    remedy: str,
) -> None:
    path = toys.save(model, tmp_path / "m.onnx")
    told = found(checked(edgekit, path, "-t", npu(limits)), kind)
    assert told[0]["effect"] == effect
    assert message in told[0]["message"]
    assert remedy in told[0]["remedy"]


def test_a_rank_above_the_limit_keeps_nodes_from_it(edgekit: Command, toy: Path, npu: Callable[..., Path]) -> None:
    data = checked(edgekit, toy, "-t", npu(f"rank_max: 3, supported_operators: {ALL}"))
    assert "Conv, 1 node: rank 4 is above 3" in [f["message"] for f in found(data, "operators")]


def test_weights_beside_the_model_are_taken_inside(edgekit: Command, npu: Callable[..., Path], tmp_path: Path) -> None:
    path = toys.save(toys.detector(), tmp_path / "m.onnx", external=True)
    (told,) = found(checked(edgekit, path, "-t", npu("external_data: false")), "external_data")
    assert (told["effect"], told["remedy"]) == ("changed", "taken into the model")


def test_a_size_that_nobody_tells_blocks_until_it_is_given(
    edgekit: Command, npu: Callable[..., Path], tmp_path: Path
) -> None:
    path = toys.save(toys.detector(height="h", width="w"), tmp_path / "m.onnx")
    file = npu(f"static_shapes: true, supported_operators: {ALL}")
    assert "--imgsz" in found(checked(edgekit, path, "-t", file), "shapes")[0]["remedy"]
    assert checked(edgekit, path, "-t", file, "--imgsz", 64)["outcome"] == "runs"


def test_embedded_nms_is_told_to_be_cut(edgekit: Command, npu: Callable[..., Path], tmp_path: Path) -> None:
    path = toys.save(nms_toys.with_nms(toys.detector(metadata=toys.METADATA)), tmp_path / "m.onnx")
    limits = f"static_shapes: true, forbidden_operators: [NonMaxSuppression], supported_operators: {ALL}"
    data = checked(edgekit, path, "-t", npu(limits))
    (told,) = found(data, "selection")
    assert (told["effect"], data["outcome"]) == ("changed", "runs")
    assert "which decoder yolov8 reads" in told["remedy"]


def test_selection_free_dimensions_and_int64_are_found_in_a_real_detr(edgekit: Command, zoo: Path) -> None:
    data = checked(edgekit, zoo / "models" / "deimv2_atto.onnx", "-t", "nxp-imx8mp")
    kinds = {(f["kind"], f["effect"]) for f in data["findings"]}
    assert {("shapes", "changed"), ("dtype", "changed"), ("selection", "changed"), ("selection", "left")} <= kinds
    assert {n for f in found(data, "dtype") for n in f["nodes"]} == {"orig_target_sizes", "labels"}


def test_selection_and_operators_of_others_are_found_in_a_real_imx_export(edgekit: Command, zoo: Path) -> None:
    data = checked(edgekit, zoo / "models" / "yolo11n_imx_model" / "model_imx.onnx", "-t", "nxp-imx8mp")
    assert data["outcome"] == "blocked"
    kinds = {(f["kind"], f["effect"]) for f in data["findings"]}
    assert {("shapes", "changed"), ("selection", "changed"), ("operators", "blocks")} <= kinds
    assert any("mct_quantizers" in f["message"] for f in found(data, "operators"))


@pytest.mark.parametrize("name", [t.name for t in profiles.find_all()])
def test_every_shipped_target_answers_for_a_real_model(edgekit: Command, zoo: Path, name: str) -> None:
    data = checked(edgekit, zoo / "models" / "yolov8n.onnx", "-t", name)
    if profiles.operator_list(profiles.load(name)) is None:
        assert data["outcome"] == "unknown"
    else:
        assert data["outcome"] in ("runs", "partly")
        assert data["coverage"]["macs"]["total"] == pytest.approx(4.37e9, rel=0.02)


def test_int8_is_refused_where_the_target_runs_none(edgekit: Command, zoo: Path) -> None:
    data = checked(edgekit, zoo / "models" / "yolov8n_collapsed_int8.onnx", "-t", "apple-coreml")
    (told,) = found(data, "precision")
    assert told["effect"] == "blocks"
    assert "apple-coreml runs fp16, fp32 only" in told["message"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["missing.onnx", "-t", "cpu"], 2, "missing.onnx does not exist"),
        (["toy.onnx"], 2, "Missing option '-t'"),
        (["toy.onnx", "-t", "imx"], 2, "could mean"),
        (["toy.onnx", "-t", "nxp-imx8mp@6.13"], 2, "has no image '6.13'"),
        (["toy.onnx", "-t", "nxp-imx8mp@6.1.55"], 2, "older than 1.17"),
    ],
)
def test_wrong_use_is_one_sentence(
    edgekit: Command, toy: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(toy.parent)
    result = edgekit("check", *arguments)
    assert result.exit_code == code
    assert said in result.stderr
