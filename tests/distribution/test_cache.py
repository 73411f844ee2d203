"""The compile cache on OpenVINO's real plugin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from edgekit.packaging import package
from tests import toys
from tests.conftest import ROOT
from tests.distribution.conftest import Environment

pytestmark = pytest.mark.providers

SHAPES = ROOT / "examples" / "shapes"
SCENE = SHAPES / "scene.jpg"
NAME = "OpenVINOExecutionProvider"


@pytest.fixture(scope="module")
def packaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package") / "shapes"
    return package(SHAPES / "shapes.onnx", ["intel-openvino"], output=folder).path


@pytest.fixture
def run(openvino: Environment, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """`edgekit ARGUMENTS --json` on a store of its own."""

    def called(*arguments: object, **variables: str) -> dict[str, Any]:
        store = {"EDGEKIT_CACHE_DIR": str(tmp_path / "store"), **variables}
        done = openvino.edgekit(*arguments, "--json", **store)
        assert done.returncode == 0, done.stderr
        data: dict[str, Any] = json.loads(done.stdout)
        return {**data, "stderr": done.stderr}

    return called


def blobs(store: Path) -> list[Path]:
    return sorted(store.glob(f"programs/{NAME}/*/data/*"))


def objects(ran: dict[str, Any]) -> list[Any]:
    return [(d["class_id"], np.round(d["box"], 1).tolist()) for d in ran["results"][0]["detections"]]


def test_the_second_start_is_a_hit_and_gives_the_same(run: Callable[..., dict[str, Any]], packaged: Path) -> None:
    cold, warm = run("run", packaged, SCENE), run("run", packaged, SCENE)
    assert (cold["cache"]["hit"], warm["cache"]["hit"]) == (False, True)
    assert "compiled in" in cold["stderr"]
    assert "compiled in" not in warm["stderr"]
    assert objects(cold) == objects(warm)
    assert cold["provider"] == warm["provider"] == NAME


def test_a_model_trained_anew_under_the_same_name_runs_its_own_weights(
    run: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    said = []
    for scale in (1.0, 0.5):
        model = onnx.load(SHAPES / "shapes.onnx")
        for weights in model.graph.initializer:
            if weights.data_type == onnx.TensorProto.FLOAT and len(weights.dims) == 4:
                values = numpy_helper.to_array(weights) * scale
                weights.CopyFrom(numpy_helper.from_array(values.astype(np.float32), weights.name))
        file = toys.save(model, tmp_path / "shapes.onnx")
        package(file, ["intel-openvino"], output=folder, force=True)
        ran = run("run", folder, SCENE, "--conf", "0.01")
        assert ran["cache"]["hit"] is False
        on_cpu = run("run", file, SCENE, "--conf", "0.01", "--provider", "CPUExecutionProvider")
        assert len(objects(ran)) == len(objects(on_cpu))
        said.append(objects(ran))
    assert said[0] != said[1]


@pytest.mark.parametrize(
    "other",
    [
        {"INFERENCE_PRECISION_HINT": "bf16"},
        {"INFERENCE_NUM_THREADS": 1},
        {"PERFORMANCE_HINT": "THROUGHPUT"},
    ],
)
def test_another_option_is_another_entry(
    run: Callable[..., dict[str, Any]], tmp_path: Path, other: dict[str, Any]
) -> None:
    for options in ({"INFERENCE_PRECISION_HINT": "f32"}, other):
        config = json.dumps({"CPU": {**options, "CACHE_DIR": "${cache}"}})
        ran = run(
            "run", SHAPES / "shapes.onnx", SCENE, "--provider", NAME, "--provider-option", f"load_config={config}"
        )
        assert ran["cache"]["hit"] is False
    assert len(blobs(tmp_path / "store")) == 2


@pytest.mark.parametrize("damage", ["truncated", "emptied", "flipped", "deleted", "replaced"])
def test_damage_never_reaches_the_provider(
    run: Callable[..., dict[str, Any]], packaged: Path, tmp_path: Path, damage: str
) -> None:
    cold = run("run", packaged, SCENE)
    [blob] = blobs(tmp_path / "store")
    content = blob.read_bytes()
    blob.unlink()
    if damage == "replaced":
        blob.mkdir()
    elif damage != "deleted":
        flipped = bytearray(content)
        flipped[len(content) // 2] ^= 1
        blob.write_bytes({"truncated": content[:-100], "emptied": b"", "flipped": bytes(flipped)}[damage])
    again = run("run", packaged, SCENE)
    assert again["cache"]["hit"] is False
    assert again["cache"]["reason"].startswith("what was kept is damaged")
    assert objects(again) == objects(cold)
    assert run("run", packaged, SCENE)["cache"]["hit"] is True


def test_a_store_that_cannot_be_written_costs_one_sentence(
    run: Callable[..., dict[str, Any]], packaged: Path, tmp_path: Path
) -> None:
    (tmp_path / "store").write_text("a file")
    ran = run("run", packaged, SCENE)
    assert ran["provider"] == NAME
    assert ran["stderr"].count("nothing that is compiled is kept") == 1


@pytest.mark.parametrize("place", ["a store", "кэш/缓存"])
def test_any_path_will_do(run: Callable[..., dict[str, Any]], packaged: Path, tmp_path: Path, place: str) -> None:
    store = {"EDGEKIT_CACHE_DIR": str(tmp_path / place)}
    assert [run("run", packaged, SCENE, **store)["cache"]["hit"] for _ in range(2)] == [False, True]


def test_what_is_frozen_compiles_nothing(
    openvino: Environment, run: Callable[..., dict[str, Any]], packaged: Path, tmp_path: Path
) -> None:
    frozen = {"EDGEKIT_CACHE_DIR": str(tmp_path / "store"), "EDGEKIT_FROZEN": "1"}
    done = openvino.edgekit("run", packaged, SCENE, **frozen)
    assert done.returncode == 5
    assert "would be compiled for OpenVINOExecutionProvider here, which was forbidden: the cache has no" in done.stderr
    assert "edgekit cache warm" in done.stderr
    assert blobs(tmp_path / "store") == []
    run("cache", "warm", packaged)
    assert run("run", packaged, SCENE, EDGEKIT_FROZEN="1")["cache"]["hit"] is True


def test_a_package_carries_what_was_compiled_for_machines_like_this_one(
    openvino: Environment, run: Callable[..., dict[str, Any]], packaged: Path, tmp_path: Path
) -> None:
    carrying = shutil.copytree(packaged, tmp_path / "shapes")
    run("cache", "warm", carrying, "--into-package")
    fresh = {"EDGEKIT_CACHE_DIR": str(tmp_path / "board"), "EDGEKIT_FROZEN": "1"}
    ran = run("run", carrying, SCENE, **fresh)
    assert ran["cache"]["hit"] is True
    [record] = carrying.rglob("entry.json")
    other = record.parent.rename(record.parent.with_name("0" * 32 + "-00000000"))
    text = (other / "entry.json").read_text()
    (other / "entry.json").write_text(text)
    refused = openvino.edgekit("run", carrying, SCENE, EDGEKIT_CACHE_DIR=str(tmp_path / "third"))
    assert refused.returncode == 0
    assert "the compiled program in the package is not used" in refused.stderr


def test_sixteen_starts_at_once_compile_once(openvino: Environment, packaged: Path, tmp_path: Path) -> None:
    command = [str(openvino.root / "bin" / "edgekit"), "run", str(packaged), str(SCENE), "--json"]
    variables = {**os.environ, "EDGEKIT_CACHE_DIR": str(tmp_path / "store")}
    started = [
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    said = [(process.communicate(), process.returncode) for process in started]
    assert all(code == 0 for _, code in said), said
    ran = [json.loads(out) for (out, _), _ in said]
    assert sorted(r["cache"]["hit"] for r in ran) == [False] + [True] * 15
    assert len({json.dumps(objects(r)) for r in ran}) == 1


def test_what_a_provider_without_a_cache_compiles_is_kept_as_a_model(
    environment: Callable[..., Environment], tmp_path: Path
) -> None:
    """QNN, with the simulator of its NPU: onnxruntime writes the compiled model (EPContext)."""
    npu = environment("", "onnxruntime==1.32.0", "onnxruntime-qnn==2.7.0")
    model = toys.save(toys.quantized(), tmp_path / "m.onnx")
    np.save(tmp_path / "image.npy", np.zeros((16, 16, 3), np.uint8))
    provider = ["--provider", "QNNExecutionProvider", "--provider-option", "backend_path=libQnnHtp.so"]
    command = ["run", model, tmp_path / "image.npy", "--task", "raw", "--json", *provider]
    store = {"EDGEKIT_CACHE_DIR": str(tmp_path / "store")}
    cold, warm = (json.loads(npu.edgekit(*command, **store).stdout) for _ in range(2))
    assert (cold["cache"]["hit"], warm["cache"]["hit"]) == (False, True)
    for ran in (cold, warm):
        assert ran["placement"]["nodes"]["QNNExecutionProvider"] > 0
        ran["results"][0].pop("speed_ms")
    assert cold["results"] == warm["results"]
    [context] = (tmp_path / "store").rglob("*.bin")
    data = bytearray(context.read_bytes())
    data[len(data) // 2] ^= 1
    context.write_bytes(data)
    again = json.loads(npu.edgekit(*command, **store).stdout)
    assert again["cache"]["hit"] is False
    again["results"][0].pop("speed_ms")
    assert again["results"] == cold["results"]
