"""Real providers, each in an environment of its own: what runs there, what is left, how each failure reads."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edgekit.packaging import package
from edgekit.packaging.passes.names import NameNodes
from edgekit.tasks.boxes import iou
from tests import toys
from tests.conftest import ROOT
from tests.distribution.conftest import Environment
from tests.distribution.test_openvino import between

pytestmark = pytest.mark.providers  # installs onnxruntime and providers of up to 100 MB

OPENVINO, QNN = "OpenVINOExecutionProvider", "QNNExecutionProvider"
SHAPES = ROOT / "examples" / "shapes"


@pytest.fixture(scope="module")
def machine(openvino: Environment) -> Environment:
    return openvino


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo model for an Intel CPU and an AMD GPU."""
    folder = tmp_path_factory.mktemp("package") / "shapes"
    return package(SHAPES / "shapes.onnx", ["intel-openvino", "rocm-migraphx"], output=folder).path


@pytest.fixture(scope="module")
def image() -> Path:
    return next(SHAPES.glob("*.jpg"))


def ran(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    data: dict[str, Any] = json.loads(done.stdout)
    return data


def same_objects(one: dict[str, Any], other: dict[str, Any], overlap: float) -> None:
    a, b = (run["results"][0]["detections"] for run in (one, other))
    assert len(a) == len(b) > 0
    for x, y in zip(a, b, strict=True):
        assert x["class_id"] == y["class_id"]
        assert iou(np.array([x["box"]]), np.array([y["box"]]))[0, 0] >= overlap


def test_an_installed_plugin_is_picked_and_takes_all_convolutions(
    machine: Environment, zoo: Path, tmp_path: Path
) -> None:
    made = package(zoo / "models" / "yolov8n.onnx", ["intel-openvino"], output=tmp_path / "p").path
    bus = zoo / "images" / "photos" / "bus.jpg"
    there = ran(machine.edgekit("run", made, bus, "--conf", "0.25", "--json", "--require-accelerator"))
    assert (there["target"], there["provider"], there["fallback"]) == ("intel-openvino", OPENVINO, None)
    assert (there["placement"]["share"], there["placement"]["left"]) == (1.0, [])
    on_cpu = ran(machine.edgekit("run", made, bus, "--conf", "0.25", "--json", "--device", "cpu"))
    assert on_cpu["provider"] == "CPUExecutionProvider"
    same_objects(there, on_cpu, overlap=0.95)
    verified = machine.edgekit("verify", made)
    assert verified.returncode == 0, verified.stderr
    assert "runs 100.0% of the nodes (recorded)" in verified.stdout
    assert "suspicious" not in verified.stdout


def test_without_the_plugin_the_cpu_runs_and_the_reason_is_said(edgekit: Any, packaged: Path, image: Path) -> None:
    result = edgekit("run", packaged, image, "--json")
    assert json.loads(result.stdout)["target"] == "cpu"
    assert "onnxruntime_ep_openvino, which brings OpenVINOExecutionProvider, is not installed" in result.stderr
    refused = edgekit("run", packaged, image, "--target", "intel-openvino", "--require-accelerator")
    assert refused.exit_code == 5


# what is done to the process before it runs, and what it then says
PLUGIN = "import onnxruntime_ep_openvino as plugin\n"
FAILURES = {
    "a wrong path": (
        PLUGIN + "plugin.get_library_path = lambda: '/nowhere/libplugin.so'",
        "OpenVINOExecutionProvider cannot load: /nowhere/libplugin.so is missing",
    ),
    "no plugin": (
        PLUGIN + "import numpy.linalg._umath_linalg as other\nplugin.get_library_path = lambda: other.__file__",
        "the library of OpenVINOExecutionProvider is no plugin for onnxruntime: it has no CreateEpFactories",
    ),
    "another library under its name": (
        PLUGIN + "import onnxruntime\nonnxruntime.get_ep_devices = list\n"
        "onnxruntime.register_execution_provider_library('OpenVINOExecutionProvider', plugin.get_library_path())",
        "another library is registered as OpenVINOExecutionProvider in this process",
    ),
}


def patched(machine: Environment, patch: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`edgekit ARGUMENTS` after some lines of Python in the same process."""
    words = [str(a) for a in arguments]
    return machine.python("-c", f"import sys\n{patch}\nfrom edgekit import cli\nsys.exit(cli.main({words!r}))")


@pytest.mark.parametrize("case", FAILURES)
def test_each_failure_to_register_is_a_sentence_and_the_cpu_runs(
    machine: Environment, packaged: Path, image: Path, case: str
) -> None:
    patch, sentence = FAILURES[case]
    fell_back = patched(machine, patch, "run", packaged, image, "--json")
    assert sentence in (ran(fell_back)["fallback"] or ""), fell_back.stderr
    assert f"warning: {sentence}" in fell_back.stderr
    refused = patched(machine, patch, "run", packaged, image, "--require-accelerator")
    assert refused.returncode == 5
    assert refused.stderr.startswith(f"error: {sentence}")
    assert "Traceback" not in refused.stderr


def test_a_provider_that_the_application_has_registered_is_used(
    machine: Environment, packaged: Path, image: Path
) -> None:
    twice = (
        PLUGIN + "import onnxruntime\n"
        "onnxruntime.register_execution_provider_library('mine', plugin.get_library_path())"
    )
    assert ran(patched(machine, twice, "run", packaged, image, "--json"))["provider"] == OPENVINO


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"device": "npu"}, "OpenVINOExecutionProvider has no npu device 0 here: it sees cpu"),
        ({"provider_options": {"load_config": "{"}}, "OpenVINOExecutionProvider refuses"),
        ({"provider_options": {"load_config": '{"CPU": {"NUM_STREAMS": "x"}}'}}, "OpenVINOExecutionProvider refuses"),
    ],
    ids=["no such device", "an option that cannot be read", "a model that does not compile"],
)
def test_a_session_that_cannot_be_made_is_a_sentence_and_the_cpu_runs(
    machine: Environment, packaged: Path, image: Path, tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    broken = tmp_path / "p"
    subprocess.run(["cp", "-r", str(packaged), str(broken)], check=True)
    data = json.loads((broken / "manifest.json").read_text())
    data["components"]["model"]["variants"]["intel-openvino"]["executor_info"]["edgekit"].update(change)
    (broken / "manifest.json").write_text(json.dumps(data))
    done = machine.edgekit("run", broken, image, "--json")
    assert sentence in (ran(done)["fallback"] or ""), done.stderr
    refused = machine.edgekit("run", broken, image, "--require-accelerator")
    assert (refused.returncode, len(refused.stderr.splitlines()) <= 2) == (5, True), refused.stderr


def test_a_plugin_named_as_a_provider_runs_as_a_plugin(machine: Environment, image: Path) -> None:
    options = ["--provider", OPENVINO, "--provider-option", 'load_config={"CPU": {"INFERENCE_PRECISION_HINT": "f32"}}']
    there = ran(machine.edgekit("run", SHAPES / "shapes.onnx", image, "--json", *options))
    assert (there["provider"], there["placement"]["share"]) == (OPENVINO, 1.0)
    typo = machine.edgekit("run", SHAPES / "shapes.onnx", image, "--provider", OPENVINO, "--provider-option", "lod=1")
    assert (typo.returncode, typo.stderr.splitlines()[0]) == (2, f"error: {OPENVINO} has no option lod")


def test_the_gate_names_what_a_provider_leaves(machine: Environment, tmp_path: Path) -> None:
    """OpenVINO takes no QLinearConv."""
    model = toys.save(NameNodes()(between(toys.detector(metadata=toys.METADATA))).model, tmp_path / "m.onnx")
    named = next(n.name for n in onnx.load(model).graph.node if n.op_type == "QLinearConv")
    np.save(tmp_path / "image.npy", np.zeros((64, 64, 3), np.uint8))
    done = machine.edgekit("run", model, tmp_path / "image.npy", "--provider", OPENVINO, "--require-accelerator")
    assert done.returncode == 3, done.stderr
    assert f"on the CPU: {named} (QLinearConv)" in done.stderr
    made = package(model, ["intel-openvino"], output=tmp_path / "p", force=True).path
    verified = machine.edgekit("verify", made, "--target", "intel-openvino", "--json")
    placement = next(c for c in json.loads(verified.stdout)["checks"] if c["name"] == "placement")
    assert placement["ok"] is True, placement  # what was predicted is no failure


def test_a_provider_that_is_listed_and_not_there(
    environment: Callable[..., Environment], packaged: Path, image: Path
) -> None:
    """onnxruntime-migraphx lists its provider on any machine; it needs ROCm."""
    rocm = environment("vision", "onnxruntime-migraphx==1.27.1")
    sentence = "MIGraphXExecutionProvider cannot load: libmigraphx_c.so.3 is missing"
    done = rocm.edgekit("run", packaged, image, "--target", "rocm-migraphx", "--json")
    data = ran(done)
    assert (data["provider"], data["fallback"]) == ("CPUExecutionProvider", sentence)
    refused = rocm.edgekit("run", packaged, image, "--target", "rocm-migraphx", "--require-accelerator")
    assert (refused.returncode, refused.stderr.splitlines()[0]) == (5, f"error: {sentence}")
    said = rocm.edgekit("doctor", "rocm-migraphx")
    assert said.returncode == 5
    assert "libmigraphx_c.so.3" in said.stdout + said.stderr


def test_a_program_compiled_ahead_of_time_runs_where_its_provider_is(
    environment: Callable[..., Environment], edgekit: Any, tmp_path: Path
) -> None:
    """A quantized convolution, compiled by QNN for the simulator of its NPU into an EPContext model."""
    npu = environment("", "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0")
    model, compiled = toys.save(toys.quantized(), tmp_path / "m.onnx"), tmp_path / "m_ctx.onnx"
    options = {"ep.context_enable": "1", "ep.context_file_path": str(compiled)}
    code = (
        "import edgekit\n"
        f"edgekit.load({str(model)!r}, task='raw', providers=[('{QNN}', {{'backend_path': 'libQnnHtp.so'}})],"
        f" session_options={options!r}, fallback='error')"
    )
    done = npu.python("-c", code)
    assert compiled.is_file(), done.stderr
    np.save(tmp_path / "image.npy", np.zeros((16, 16, 3), np.uint8))
    ctx = ["run", compiled, tmp_path / "image.npy", "--task", "raw", "--json"]
    there = ran(npu.edgekit(*ctx, "--provider", QNN, "--provider-option", "backend_path=libQnnHtp.so"))
    assert there["provider"] == QNN
    refused = edgekit(*ctx)
    assert refused.exit_code == 5
    assert refused.stderr.startswith(f"error: {compiled} was compiled for {QNN}, which does not run it here")
