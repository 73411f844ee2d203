from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml
from onnx import numpy_helper

from edgekit import target
from edgekit.errors import GateMissed, ModelError
from edgekit.evaluation import open_dataset
from edgekit.packaging import blocks, budget, noise, tune
from edgekit.packaging.accuracy import Budget, ByLabels, opened
from edgekit.packaging.calibration import CalibrationData, calibrate
from edgekit.packaging.passes.names import NameNodes
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.quantizers.kept import float_nodes
from edgekit.packaging.quantizers.qdq import Qdq
from edgekit.packaging.recipe import Recipe
from edgekit.runtime.loading import load
from edgekit.runtime.model import Model
from tests.conftest import ROOT

SHAPES = ROOT / "examples" / "shapes"
Command = Callable[..., Any]


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawn scenes with labels: 24 to calibrate on, 24 to measure on."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("scenes")
    for name, seed in (("calibrate", "31"), ("measure", "32")):
        draw = [sys.executable, str(SHAPES / "draw.py"), str(folder / name), "--count", "24", "--seed", seed]
        subprocess.run(draw, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    shapes = onnx.load(SHAPES / "shapes.onnx")
    return NameNodes()(Simplify()(shapes).model).model


@pytest.fixture(scope="module")
def data(scenes: Path) -> CalibrationData:
    return CalibrationData.open(scenes / "calibrate" / "images", load(SHAPES / "shapes.onnx"))


def default() -> Recipe:
    scheme = target.load("cpu-x86_64").scheme
    assert scheme
    return Recipe.for_scheme(scheme)


def test_the_demo_model_keeps_its_accuracy_in_a_third_of_the_size(
    edgekit: Command, scenes: Path, tmp_path: Path
) -> None:
    calibrate_on, measure_on = scenes / "calibrate" / "images", scenes / "measure"
    given = ("--precision", "int8", "--calibration", calibrate_on, "--accuracy", measure_on, "--max-drop", "0.02")
    result = edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", "-o", tmp_path / "p", *given)
    assert result.exit_code == 0, result.stderr
    report = json.loads((tmp_path / "p" / "report.json").read_text())
    details = next(s["details"] for s in report["steps"] if s["name"] == "Int8")
    assert details["accuracy"]["float"] - details["accuracy"]["int8"] <= 0.02
    assert (tmp_path / "p" / "model.onnx").stat().st_size < 0.6 * (SHAPES / "shapes.onnx").stat().st_size
    assert edgekit("verify", tmp_path / "p").exit_code == 0
    rows = details["layers"]
    assert {"quantized by the recipe", "first block", "last block of a branch"} <= {row["why"] for row in rows}
    assert all(row["sqnr_db"] > 0 for row in rows if row["precision"] == "uint8")


def test_a_recipe_replays_byte_for_byte(edgekit: Command, scenes: Path, tmp_path: Path) -> None:
    given = ("-t", "cpu", "--precision", "int8", "--calibration", scenes / "calibrate" / "images")
    edgekit("package", SHAPES / "shapes.onnx", *given, "-o", tmp_path / "a")
    edgekit("package", SHAPES / "shapes.onnx", *given, "-o", tmp_path / "b", "--recipe", tmp_path / "a" / "recipe.yaml")
    assert (tmp_path / "a" / "model.onnx").read_bytes() == (tmp_path / "b" / "model.onnx").read_bytes()
    assert yaml.safe_load((tmp_path / "a" / "recipe.yaml").read_text())["calibration"] == "average"


def test_the_file_is_valid_onnx_whatever_the_opset(edgekit: Command, tmp_path: Path) -> None:
    """onnxruntime's quantizer appends nodes behind those that read them, and onnxruntime opens that all the same."""
    newer = onnx.version_converter.convert_version(onnx.load(SHAPES / "shapes.onnx"), 20)
    newer.ir_version = 9
    onnx.save(newer, tmp_path / "shapes.onnx")
    for model in (SHAPES / "shapes.onnx", tmp_path / "shapes.onnx"):
        edgekit("package", model, "-t", "cpu", "-o", tmp_path / "p", "--precision", "int8", "--force")
        onnx.checker.check_model(tmp_path / "p" / "model.onnx", full_check=True)


def test_what_stays_float_is_whole_blocks(model: onnx.ModelProto, data: CalibrationData) -> None:
    kept = float_nodes(model, default())
    quantized = Qdq(default(), calibrate(model, None, data, "average"), frozenset(kept))(model).model
    quantizers = {n.output[0] for n in quantized.graph.node if n.op_type == "DequantizeLinear"}
    weights = {n.name: n.input[1] in quantizers for n in quantized.graph.node if n.op_type == "Conv"}
    assert {name for name, is_int8 in weights.items() if not is_int8} == {n for n in kept if n in weights}
    assert Counter(weights.values())[True] > 10


def planted(model: onnx.ModelProto) -> tuple[onnx.ModelProto, str]:
    """A model with one bad block, and its name: outliers of 1e3 on an input channel that is always 0.

    In float they do nothing; in int8 they take the whole scale, and every other weight of the block becomes 0.
    """
    out = onnx.ModelProto()
    out.CopyFrom(model)
    every = blocks.find(out)
    makers = {block.output: block.name for block in every}
    bad = next(block for block in every[6:] if block.input in makers)
    nodes = {node.name: node for node in out.graph.node}
    weights = {i.name: i for i in out.graph.initializer}

    def change(name: str, index: tuple[Any, ...], value: float) -> None:
        values = numpy_helper.to_array(weights[name]).copy()
        values[index] = value
        weights[name].CopyFrom(numpy_helper.from_array(values, name))

    for name in nodes[makers[bad.input]].input[1:]:  # weights and bias of the layer before: SiLU(0) is 0
        change(name, (0,), 0.0)
    change(nodes[bad.name].input[1], (slice(None), 0, 0, 0), 1e3)
    return out, bad.name


def test_a_bad_block_is_put_back_to_float_and_no_other(
    model: onnx.ModelProto, data: CalibrationData, scenes: Path
) -> None:
    spoiled, bad = planted(model)
    reference = load(SHAPES / "shapes.onnx")
    judge = ByLabels(open_dataset(scenes / "measure", task="detect", names=reference.names))
    ranges = calibrate(spoiled, None, data, "average")

    def quantize(recipe: Recipe) -> onnx.ModelProto:
        return Qdq(recipe, ranges, frozenset(float_nodes(spoiled, recipe)))(spoiled).model

    def open_model(proto: onnx.ModelProto) -> Model:
        return opened(proto, reference.interface)

    lost = judge(open_model(spoiled)) - judge(open_model(quantize(default())))
    assert lost > 0.1
    outcome = budget.hold(spoiled, default(), quantize, Budget(judge, 0.03), open_model, data, lambda step: None)
    assert outcome.recipe.kept == (bad,)
    assert [(trial.block, trial.kept) for trial in outcome.trials] == [(bad, True)]


def test_a_budget_that_nothing_can_hold_is_a_missed_gate(model: onnx.ModelProto, data: CalibrationData) -> None:
    reference = load(SHAPES / "shapes.onnx")
    recipe = Recipe(operators=("Conv",))

    class Unhappy:
        """A stand-in that likes the float model only."""

        what = "nothing"
        asked = 0

        def __call__(self, candidate: Model) -> float:
            self.asked += 1
            return 1.0 if self.asked == 1 else 0.0

    ranges = calibrate(model, None, data, "minmax")
    with pytest.raises(GateMissed, match=r"int8 costs 1\.0000 of 1\.0000 \(at most 0\.01\)"):
        budget.hold(
            model,
            recipe,
            lambda wanted: Qdq(wanted, ranges, frozenset(float_nodes(model, wanted)))(model).model,
            Budget(Unhappy(), 0.01),  # type: ignore[arg-type]
            lambda proto: opened(proto, reference.interface),
            data,
            lambda step: None,
        )


def test_a_model_with_nothing_to_quantize_is_refused(edgekit: Command, tmp_path: Path) -> None:
    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("ReduceMean", ["images"], ["y"], axes=[2, 3], keepdims=0)],
        "nothing",
        [value("images", 1, [1, 3, 8, 8])],
        [value("y", 1, [1, 3])],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
    onnx.save(made, tmp_path / "m.onnx")
    result = edgekit("package", tmp_path / "m.onnx", "-t", "cpu", "--precision", "int8", "-o", tmp_path / "p")
    assert result.exit_code == 2
    assert "nothing to quantize" in result.stderr
    assert edgekit("package", tmp_path / "m.onnx", "-t", "cpu", "-o", tmp_path / "p").exit_code == 0


def test_qdq_without_a_weighted_node_is_a_model_error(model: onnx.ModelProto) -> None:
    everything = frozenset(n.name for n in model.graph.node)
    with pytest.raises(ModelError, match="nothing to quantize"):
        Qdq(Recipe(operators=("Conv",)), {}, everything)(model)


def test_noise_is_none_where_nothing_changed(model: onnx.ModelProto, data: CalibrationData) -> None:
    feed = {k: v.copy() for k, v in next(iter(data)).items()}
    loud = noise.signal_to_noise(model, model, {"output0": "output0"}, [feed])
    assert loud == {"output0": noise.LOUD}


def test_layers_are_shown_with_why_they_are_what_they_are(edgekit: Command, scenes: Path, tmp_path: Path) -> None:
    given = ("--precision", "int8", "--calibration", scenes / "calibrate" / "images", "-o", tmp_path / "p")
    edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", *given)
    shown = edgekit("inspect", tmp_path / "p", "--layers")
    assert "last block of a branch" in shown.stdout
    assert "quantized by the recipe" in shown.stdout
    assert "layers" in json.loads(edgekit("inspect", tmp_path / "p", "--layers", "--json").stdout)


def test_tuning_tries_candidates_and_writes_what_it_chose(edgekit: Command, scenes: Path, tmp_path: Path) -> None:
    calibrate_on, measure_on = scenes / "calibrate" / "images", scenes / "measure"
    given = ("--precision", "int8", "--calibration", calibrate_on, "--accuracy", measure_on, "--max-drop", "0.05")
    result = edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", "-o", tmp_path / "p", *given, "--tune")
    assert result.exit_code == 0, result.stderr
    report = json.loads((tmp_path / "p" / "report.json").read_text())
    tuning = next(s["details"]["tuning"] for s in report["steps"] if s["name"] == "Int8")
    assert "12 labelled images" in tuning["judged_by"]  # the other half is for the report
    assert len(tuning["candidates"]) >= 8
    made_int8 = report["precision"] == "int8"
    assert (tmp_path / "p" / "recipe.yaml").exists() == made_int8
    assert isinstance(tuning["chosen"], dict) == made_int8


def test_auto_keeps_float_where_int8_does_not_pay(
    edgekit: Command, scenes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tune, "PAYS", 1e9)
    given = ("--calibration", scenes / "calibrate" / "images", "-o", tmp_path / "p", "--json")
    packaged = json.loads(edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", *given).stdout)
    report = next(iter(packaged["reports"].values()))
    assert report["precision"] == "fp32"
    notes = [note for step in report["steps"] for note in step["notes"]]
    assert any(note.startswith("float is kept: int8 is ") for note in notes)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--calibration", "EMPTY"], "without images"),
        (["--calibration", "none"], "does not exist"),
        (["--calibration", "BROKEN"], "no image that can be read"),
        (["--recipe", "none.yaml"], "cannot be read as a recipe"),
        (["--tune"], "--tune needs images"),
    ],
)
def test_what_is_wrong_with_the_images_is_said(
    edgekit: Command, tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "BROKEN").mkdir()
    (tmp_path / "BROKEN" / "a.jpg").write_text("no image")
    given = [str(tmp_path / a) if a in ("EMPTY", "BROKEN") else a for a in arguments]
    out = tmp_path / "p"
    result = edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", "--precision", "int8", "-o", out, *given)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not out.exists()


def test_few_images_and_shared_images_are_warned_of(edgekit: Command, scenes: Path, tmp_path: Path) -> None:
    given = (
        "--calibration",
        scenes / "measure" / "images",
        "--calibration-count",
        "10",
        "--accuracy",
        scenes / "measure",
    )
    result = edgekit(
        "package",
        SHAPES / "shapes.onnx",
        "-t",
        "cpu",
        "--precision",
        "int8",
        "--max-drop",
        "1",
        "-o",
        tmp_path / "p",
        *given,
    )
    assert result.exit_code == 0, result.stderr
    assert "100 to 500" in result.stdout
    assert "10 of the images that accuracy is measured on were calibrated on" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--quantizer", "qdq"], "int8"),
        (["--quantizer", "qdq", "--precision", "int8"], "int8"),
        (["--quantizer", "none"], "fp32"),
        (["--quantizer", "none", "--precision", "fp16"], "fp16"),
        (["--quantizer", "none", "--precision", "int8"], None),
        (["--quantizer", "qdq", "--precision", "fp16"], None),
    ],
)
def test_a_quantizer_that_is_named_decides(
    edgekit: Command, tmp_path: Path, arguments: list[str], expected: str | None
) -> None:
    result = edgekit("package", SHAPES / "shapes.onnx", "-t", "cpu", "-o", tmp_path / "p", "--json", *arguments)
    if expected is None:
        assert (result.exit_code, "contradict" in result.stderr) == (2, True)
    else:
        assert next(iter(json.loads(result.stdout)["reports"].values()))["precision"] == expected
