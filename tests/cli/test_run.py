from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tests import toys

Command = Callable[..., Any]


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    image = np.random.default_rng(3).integers(0, 256, (48, 80, 3), np.uint8)
    cv2.imwrite(str(tmp_path / "photo.png"), image)
    return tmp_path / "photo.png"


@pytest.fixture(scope="module")
def yolov8n(zoo: Path, edgekit: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("yolov8n") / "package"
    assert edgekit("package", zoo / "models" / "yolov8n.onnx", "-t", "cpu", "-o", out).exit_code == 0
    return out


def test_a_bus_and_four_people_are_found(edgekit: Command, yolov8n: Path, zoo: Path, tmp_path: Path) -> None:
    result = edgekit("run", yolov8n, zoo / "images" / "photos" / "bus.jpg", "--json", "--save", tmp_path)
    data = json.loads(result.stdout)
    found = data["results"][0]["detections"]
    assert sorted(d["class_name"] for d in found) == ["bus", "person", "person", "person", "person"]
    assert data["results"][0]["shape"] == [1080, 810]
    bus = next(d for d in found if d["class_name"] == "bus")
    assert bus["box"] == pytest.approx([32, 230, 798, 770], abs=4)
    assert (data["schema"], data["target"]) == ("edgekit.run/1", "cpu-x86_64")
    assert data["placement"]["share"] == 1.0
    saved = cv2.imread(str(tmp_path / "bus.jpg"))
    assert saved.shape == (1080, 810, 3)


def test_a_bare_model_says_what_was_guessed(edgekit: Command, zoo: Path) -> None:
    result = edgekit("run", zoo / "models" / "yolox_nano.onnx", zoo / "images" / "photos" / "bus.jpg")
    assert result.exit_code == 0
    assert "decoder yolox guessed" in result.stderr
    assert "class_5" in result.stdout


def test_a_second_input_of_the_detr_family_is_filled(edgekit: Command, zoo: Path) -> None:
    model = zoo / "models" / "deimv2_atto.onnx"
    result = edgekit("run", model, zoo / "images" / "photos" / "zidane.jpg", "--format", "jsonl")
    people = [d for d in json.loads(result.stdout)["detections"] if d["class_id"] == 0]
    assert len(people) >= 2
    assert all(0 <= d["box"][2] <= 1280 for d in people)


def test_every_form_has_every_image(edgekit: Command, toy_package: Path, photo: Path) -> None:
    shutil.copy(photo, photo.parent / "other.png")
    arguments = ("run", toy_package, photo.parent, "--conf", "0")
    assert [r["source"] for r in json.loads(edgekit(*arguments, "--format", "json").stdout)["results"]] == [
        str(photo.parent / "other.png"),
        str(photo),
    ]
    assert len(edgekit(*arguments, "--format", "jsonl").stdout.splitlines()) == 2
    coco = json.loads(edgekit(*arguments, "--format", "coco").stdout)
    assert {c["image_id"] for c in coco} == {"photo", "other"}
    assert set(coco[0]) == {"image_id", "category_id", "bbox", "score"}
    table = edgekit(*arguments).stdout
    assert "photo.png: " in table
    assert "other.png: " in table


@pytest.mark.parametrize("dtype", ["uint8", "float16"])
def test_the_input_follows_the_dtype_of_the_model(edgekit: Command, tmp_path: Path, photo: Path, dtype: str) -> None:
    model = toys.save(toys.typed(dtype), tmp_path / "typed.onnx")
    found = json.loads(edgekit("run", model, photo, "--decoder", "yolov8", "--conf", "0", "--json").stdout)
    plain = toys.save(toys.typed("float32"), tmp_path / "plain.onnx")
    expected = json.loads(edgekit("run", plain, photo, "--decoder", "yolov8", "--conf", "0", "--json").stdout)
    boxes, wanted = ([d["box"] for d in r["results"][0]["detections"]] for r in (found, expected))
    assert len(boxes) == len(wanted)
    assert np.allclose(boxes, wanted, atol=0.2)


def test_a_raw_model_gives_its_outputs(edgekit: Command, tmp_path: Path, photo: Path) -> None:
    model = toys.save(toys.detector(), tmp_path / "m.onnx")
    result = edgekit("run", model, photo, "--task", "raw")
    assert "output0" in result.stdout
    assert "[1, 7, 64]" in result.stdout


def test_no_objects_is_success(edgekit: Command, toy_package: Path, photo: Path) -> None:
    result = edgekit("run", toy_package, photo, "--conf", "1")
    assert result.exit_code == 0
    assert "no detections" in result.stdout


def test_one_bad_image_does_not_cost_the_others(edgekit: Command, toy_package: Path, photo: Path) -> None:
    (photo.parent / "broken.jpg").write_text("no image")
    result = edgekit("run", toy_package, photo.parent, "--json")
    assert result.exit_code == 2
    assert len(json.loads(result.stdout)["results"]) == 1
    assert "broken.jpg is not an image" in result.stderr
    assert "1 of 2 images could not be read" in result.stderr


def test_pictures_of_one_name_do_not_overwrite_each_other(edgekit: Command, toy_package: Path, photo: Path) -> None:
    folder = photo.parent / "sub"
    folder.mkdir()
    shutil.copy(photo, folder / "photo.png")
    edgekit("run", toy_package, photo, folder / "photo.png", "--save", photo.parent / "out")
    assert sorted(p.name for p in (photo.parent / "out").iterdir()) == ["photo-2.jpg", "photo.jpg"]


def test_an_unwritable_folder_is_refused_before_the_model_is_opened(edgekit: Command, photo: Path) -> None:
    (photo.parent / "file").write_text("x")
    result = edgekit("run", "no-such-package", photo, "--save", photo.parent / "file")
    assert result.exit_code == 2
    assert "cannot be written to" in result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"hello", "is not an ONNX file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "LFS pointer"),
    ],
)
def test_what_is_no_model_is_named(edgekit: Command, tmp_path: Path, photo: Path, content: bytes, said: str) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    result = edgekit("run", tmp_path / "m.onnx", photo)
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("form", ["missing", "truncated"])
def test_bad_external_data_of_a_bare_model_is_named(edgekit: Command, tmp_path: Path, photo: Path, form: str) -> None:
    model = toys.save(toys.detector(), tmp_path / "m.onnx", external=True)
    data = tmp_path / "m.onnx.data"
    data.unlink() if form == "missing" else data.write_bytes(data.read_bytes()[:100])
    result = edgekit("run", model, photo)
    assert result.exit_code == 2
    assert "external data" in result.stderr


def test_options_come_from_flag_environment_project_and_package(
    edgekit: Command, toy_package: Path, photo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count(*arguments: str) -> int:
        return len(
            json.loads(edgekit("run", toy_package, photo, "--json", *arguments).stdout)["results"][0]["detections"]
        )

    monkeypatch.chdir(photo.parent)
    (photo.parent / "edgekit.yaml").write_text("run: {conf: 0, max-det: 7}")
    assert count() == 7
    monkeypatch.setenv("EDGEKIT_RUN_MAX_DET", "5")
    assert count() == 5
    assert count("--max-det", "3") == 3


@pytest.mark.parametrize(
    ("text", "said"), [("run: {con: 1}", "no option 'con'"), ("rum: {}", "no command 'rum'"), ("[", "YAML")]
)
def test_a_mistyped_project_file_is_not_silent(
    edgekit: Command, toy_package: Path, photo: Path, monkeypatch: pytest.MonkeyPatch, text: str, said: str
) -> None:
    monkeypatch.chdir(photo.parent)
    (photo.parent / "edgekit.yaml").write_text(text)
    result = edgekit("run", toy_package, photo)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_package_is_not_told_what_it_carries(edgekit: Command, toy_package: Path, photo: Path) -> None:
    result = edgekit("run", toy_package, photo, "--decoder", "yolov5")
    assert result.exit_code == 2
    assert "carries its own task, decoder" in result.stderr
