from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
import yaml

from edgekit import manifest
from edgekit.cache import CompileCache
from tests.cache.keys import KEY
from tests.cache.programs import keep

Command = Callable[..., Any]


@pytest.fixture
def package(toy_package: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy_package, tmp_path / "package"))


def flip_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def reseal(package: Path, file: str) -> None:
    """Record a file as it is now: a change by somebody who knows of the manifest."""
    data = json.loads((package / manifest.FILE).read_text())
    record = manifest.record(package / file)
    for variant in data["components"]["model"]["variants"].values():
        variant["executor_info"]["edgekit"]["files"][file] = {"size": record.size, "sha256": record.sha256}
    (package / manifest.FILE).write_text(json.dumps(data))


def test_a_package_that_was_copied_is_intact(edgekit: Command, package: Path) -> None:
    result = edgekit("verify", package, "--json")
    assert result.exit_code == 0, result.stderr
    checks = {c["name"]: c["ok"] for c in json.loads(result.stdout)["checks"]}
    assert checks == {"files": True, "metadata in model.onnx": True, "metadata.yaml": True, "golden": True}


@pytest.mark.parametrize("file", ["model.onnx", "metadata.yaml", "golden.npz", "report.json"])
@pytest.mark.parametrize("command", ["verify", "run"])
def test_a_package_with_a_changed_byte_is_refused(edgekit: Command, package: Path, file: str, command: str) -> None:
    flip_byte(package / file)
    result = edgekit(command, package, *(["-"] if command == "run" else []))
    assert result.exit_code == 4
    assert file in result.stderr


@pytest.mark.parametrize("file", ["model.onnx", "golden.npz"])
def test_a_missing_file_is_named(edgekit: Command, package: Path, file: str) -> None:
    (package / file).unlink()
    result = edgekit("verify", package)
    assert result.exit_code == 4
    assert f"{file} is missing" in result.stderr


def test_metadata_that_differs_is_found(edgekit: Command, package: Path) -> None:
    data = yaml.safe_load((package / "metadata.yaml").read_text())
    data["names"][0] = "lion"
    (package / "metadata.yaml").write_text(yaml.safe_dump(data))
    reseal(package, "metadata.yaml")
    result = edgekit("verify", package)
    assert result.exit_code == 4
    assert "differs from manifest.json in names" in result.stderr


def test_metadata_in_the_model_that_differs_is_found(edgekit: Command, package: Path) -> None:
    model = onnx.load(package / "model.onnx")
    next(p for p in model.metadata_props if p.key == "task").value = "classify"
    onnx.save(model, package / "model.onnx")
    reseal(package, "model.onnx")
    result = edgekit("verify", package)
    assert result.exit_code == 4
    assert "metadata in model.onnx: differs from manifest.json in task" in result.stderr


def test_other_weights_do_not_give_what_was_recorded(edgekit: Command, package: Path) -> None:
    model = onnx.load(package / "model.onnx")
    weight = next(i for i in model.graph.initializer if i.name == "weight")
    weight.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(weight) * 1.01, "weight"))
    onnx.save(model, package / "model.onnx")
    reseal(package, "model.onnx")
    result = edgekit("verify", package)
    assert result.exit_code == 4
    assert "output output0 for input 0 differs by" in result.stderr


def test_damaged_golden_data_is_named(edgekit: Command, package: Path) -> None:
    (package / "golden.npz").write_bytes(b"PK\x03\x04 no archive")
    reseal(package, "golden.npz")
    result = edgekit("verify", package)
    assert result.exit_code == 4
    assert "golden.npz is damaged" in result.stderr


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema_version": "9"}', '{"schema_version": "1.0"}'])
def test_a_damaged_manifest_is_named(edgekit: Command, package: Path, text: str) -> None:
    (package / "manifest.json").write_text(text)
    for command in ("verify", "inspect"):
        result = edgekit(command, package)
        assert result.exit_code == 4
        assert "manifest.json" in result.stderr


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("provider_options", {"x": "1"}, "option x"),
        ("environment", {"LD_PRELOAD": "x.so"}, "LD_PRELOAD"),
        ("provider", "EvilExecutionProvider", "EvilExecutionProvider"),
    ],
)
def test_a_package_cannot_ask_for_what_its_provider_does_not_know(
    edgekit: Command, package: Path, key: str, value: object, said: str
) -> None:
    data = json.loads((package / manifest.FILE).read_text())
    for variant in data["components"]["model"]["variants"].values():
        variant["executor_info"]["edgekit"][key] = value
    (package / manifest.FILE).write_text(json.dumps(data))
    result = edgekit("run", package, "-")
    assert result.exit_code == 5
    assert said in result.stderr


def test_a_session_option_that_is_not_known_is_refused(edgekit: Command, package: Path) -> None:
    data = json.loads((package / manifest.FILE).read_text())
    for variant in data["components"]["model"]["variants"].values():
        variant["executor_info"]["ort"]["session_options"] = {"session.intra_op.allow_spining": "0"}
    (package / manifest.FILE).write_text(json.dumps(data))
    result = edgekit("run", package, "-")
    assert result.exit_code == 5
    assert "allow_spining" in result.stderr


def test_objects_in_recorded_images_are_found_again(edgekit: Command, zoo: Path, tmp_path: Path) -> None:
    photos = zoo / "images" / "photos"
    edgekit("package", zoo / "models" / "yolox_nano.onnx", "-t", "cpu", "-o", tmp_path / "p", "--golden", photos)
    result = edgekit("verify", tmp_path / "p")
    assert result.exit_code == 0
    again, total = result.stdout.split(" objects found again")[0].rsplit(", ", 1)[1].split(" of ")
    assert int(again) == int(total) >= 5


def test_a_compiled_program_that_a_package_carries_is_verified_too(edgekit: Command, package: Path) -> None:
    carried = CompileCache(package / "compiled")
    keep(carried, KEY)
    assert "1 as they were compiled" in edgekit("verify", package).stdout
    (carried.entries()[0].data / "main.bin").write_bytes(b"something else")
    done = edgekit("verify", package)
    assert done.exit_code == 4
    assert "main.bin has 14 bytes" in done.stderr
