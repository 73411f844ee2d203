"""What `check` predicts for intel-openvino against what the real provider takes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from edgekit import target
from edgekit.packaging import package, source, tensors
from edgekit.packaging.check import Coverage, work
from edgekit.packaging.passes.names import NameNodes
from tests import toys
from tests.distribution.conftest import Environment

pytestmark = pytest.mark.providers  # installs onnxruntime and a provider of 50 MB

NAME = "OpenVINOExecutionProvider"
SCRIPT = Path(__file__).with_name("openvino_assignment.py")
MODELS = (
    "FastestDet",
    "deimv2_atto",
    "efficientnet_lite0",
    "nanodet_m_320",
    "ultraface_rfb320",
    "yolo11n-pose",
    "yolov5n",
    "yolov5n_640_ext",
    "yolov8n",
    "yolov8n-seg_int8",
    "yolov8n_collapsed_int8",
    "yolox_nano",
)  # onnxruntime opens neither superres nor yolo11n_imx by itself


@pytest.fixture(scope="module")
def machine(openvino: Environment) -> Environment:
    return openvino


def predicted(model: onnx.ModelProto) -> Coverage:
    chosen = target.load("intel-openvino")
    operators = target.operator_list(chosen)
    assert operators is not None
    return Coverage.of(model, operators, chosen.limits)


def taken(machine: Environment, model: onnx.ModelProto, folder: Path) -> float:
    """The share of multiply-accumulates that the provider took."""
    file = toys.save(model, folder / "named.onnx")
    done = machine.python(SCRIPT, file, "off")
    assert done.returncode == 0, done.stderr
    nodes = set(json.loads(done.stdout).get(NAME, []))
    known = tensors.read(model)
    costs = {node.name: work.macs(node, known) or 0 for node in model.graph.node}
    return sum(cost for name, cost in costs.items() if name in nodes) / sum(costs.values())


@pytest.mark.parametrize("name", MODELS)
def test_the_predicted_share_is_what_the_provider_takes(
    machine: Environment, zoo: Path, tmp_path: Path, name: str
) -> None:
    model = source.load(zoo / "models" / f"{name}.onnx").model
    made = package(zoo / "models" / f"{name}.onnx", ["intel-openvino"], output=tmp_path / "p", force=True, task="raw")
    for one in (onnx.load(made.path / "model.onnx"), model):
        named = NameNodes()(one).model
        weights = {i.name for i in named.graph.initializer}
        if weights & {i.name for i in named.graph.input}:
            continue  # the provider refuses weights that are inputs; packaging seals them
        expected = predicted(named).mac_share
        assert expected is not None or one is model  # free dimensions of a source leave its work unknown
        if expected is not None:
            assert taken(machine, named, tmp_path) == pytest.approx(expected, abs=0.02)


def test_what_the_provider_leaves_is_predicted_too(machine: Environment, tmp_path: Path) -> None:
    """A quantized convolution in operator form, which it does not take, between two that it takes."""
    model = NameNodes()(between(toys.detector())).model
    coverage = predicted(model)
    assert [node.operator for node in coverage.left] == ["QLinearConv"]
    assert coverage.partitions == 2
    assert 0.1 < (coverage.mac_share or 0) < 0.9
    assert taken(machine, model, tmp_path) == pytest.approx(coverage.mac_share, abs=1e-6)


def between(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model behind a float and a quantized 1x1 convolution."""
    rng = np.random.default_rng(3)
    weights = {
        "w0": rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32),
        "w1": rng.integers(0, 255, (3, 8, 3, 3)).astype(np.uint8),
        "s": np.array(0.02, np.float32),
        "z": np.array(128, np.uint8),
    }
    front = [
        helper.make_node("Conv", ["images", "w0"], ["a"], pads=[1] * 4),
        helper.make_node("QuantizeLinear", ["a", "s", "z"], ["b"]),
        helper.make_node("QLinearConv", ["b", "s", "z", "w1", "s", "z", "s", "z"], ["c"], pads=[1] * 4),
        helper.make_node("DequantizeLinear", ["c", "s", "z"], ["d"]),
    ]
    rest = list(model.graph.node)
    next(node for node in rest if node.op_type == "Conv").input[0] = "d"
    del model.graph.node[:]
    model.graph.node.extend([*front, *rest])
    model.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in weights.items())
    assert model.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT
    return model
