"""Two real toy models side by side, and what they are compared on."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from edgekit import runtime
from edgekit.errors import UsageError
from edgekit.evaluation.comparison import SYNTHETIC, Comparison, Ground, compare
from edgekit.runtime import Model
from tests import toys


def shifted(model: onnx.ModelProto, factor: float) -> onnx.ModelProto:
    """The toy detector with its boxes' places and sizes times `factor`."""
    scale = next(i for i in model.graph.initializer if i.name == "scale")
    values = numpy_helper.to_array(scale).copy()
    values[:, :4] *= factor
    scale.CopyFrom(numpy_helper.from_array(values, "scale"))
    return model


def loaded(model: onnx.ModelProto, path: Path, *, external: bool = False) -> Model:
    return runtime.load(toys.save(model, path, external=external))


@pytest.fixture
def toy(tmp_path: Path) -> Model:
    return loaded(toys.detector(metadata=toys.METADATA), tmp_path / "toy.onnx")


@pytest.fixture
def other(tmp_path: Path) -> Model:
    return loaded(shifted(toys.detector(metadata=toys.METADATA), 0.5), tmp_path / "other.onnx")


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Three images without labels; what is in them is noise."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for i in range(3):
        noise = np.random.default_rng(i).integers(0, 256, (48, 64, 3), dtype=np.uint8)
        cv2.imwrite(str(folder / f"{i}.png"), noise)
    return folder


@pytest.fixture
def labelled(photos: Path) -> Path:
    for i in range(3):
        (photos / f"{i}.txt").write_text(f"{i} 0.5 0.5 0.5 0.5\n")
    return photos


def compared(a: Model, b: Model, data: Path | None = None) -> Comparison:
    ground = Ground.of(a, b, data)
    return compare(a, b, data=ground.data, images=ground.images, rounds=2)


def test_a_model_is_the_same_as_itself(toy: Model, labelled: Path) -> None:
    found = compared(toy, toy, labelled)
    assert found.agreement is not None
    assert found.agreement.score == pytest.approx(1)
    assert found.outputs["output0"].max_abs == 0
    assert found.a == found.b
    assert set((found.metrics_difference or {}).values()) == {0}
    assert found.latency.wall.ratio > 0
    assert found.notices == ()


def test_a_shifted_model_disagrees(toy: Model, other: Model, photos: Path) -> None:
    found = compared(toy, other, photos)
    assert found.agreement is not None
    assert found.agreement.score < 0.5
    assert found.outputs["output0"].max_abs > 1
    assert 0 < found.outputs["output0"].relative < 1


def test_without_labels_there_is_no_metric(toy: Model, photos: Path) -> None:
    found = compared(toy, toy, photos)
    assert (found.a.metrics, found.metrics_difference, found.images) == (None, None, 3)


def test_another_input_size_leaves_its_outputs_out(toy: Model, tmp_path: Path) -> None:
    larger = loaded(toys.detector(height=96, width=96, metadata=toys.METADATA | {"imgsz": "[96, 96]"}), tmp_path / "l")
    found = compared(toy, larger)
    assert found.outputs == {}
    assert any("output output0 is not compared: its shape is [1, 7, 64]" in n for n in found.notices)


def test_an_output_of_one_model_only_is_said(toy: Model, tmp_path: Path) -> None:
    model = toys.detector(metadata=toys.METADATA)
    model.graph.node[-1].output[0] = model.graph.output[0].name = "predictions"
    notices = compared(toy, loaded(model, tmp_path / "renamed.onnx")).notices
    assert f"output output0 is only in {tmp_path / 'toy.onnx'}" in notices
    assert f"output predictions is only in {tmp_path / 'renamed.onnx'}" in notices


def test_other_class_names_are_said(toy: Model, tmp_path: Path) -> None:
    named = loaded(toys.detector(metadata=toys.METADATA | {"names": "{0: 'x', 1: 'y', 2: 'z'}"}), tmp_path / "n.onnx")
    assert any("name their classes differently" in n for n in compared(toy, named).notices)


def test_the_size_counts_external_data(toy: Model, tmp_path: Path) -> None:
    model = loaded(toys.detector(metadata=toys.METADATA), tmp_path / "ext.onnx", external=True)
    files = [tmp_path / "ext.onnx", tmp_path / "ext.onnx.data"]
    assert compared(toy, model).b.bytes == sum(f.stat().st_size for f in files)


def test_models_without_images_are_compared_on_seeded_numbers(tmp_path: Path) -> None:
    tensors = [onnx.helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [1, 4]) for n in ("x", "y")]
    models = []
    for operator in ("Neg", "Abs"):
        node = onnx.helper.make_node(operator, ["x"], ["y"])
        graph = onnx.helper.make_graph([node], "numbers", tensors[:1], tensors[1:])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
        models.append(loaded(model, tmp_path / f"{operator}.onnx"))
    found = compared(*models)
    assert found.agreement is None
    assert found.outputs["y"].max_abs > 0
    assert any("no agreement: task raw has no terms" in n for n in found.notices)
    assert compared(models[0], models[0]).outputs["y"].max_abs == 0


def test_models_of_different_tasks_are_refused(toy: Model, tmp_path: Path) -> None:
    raw = runtime.load(tmp_path / "toy.onnx", task="raw")
    with pytest.raises(UsageError, match=r"has task detect, .* has task raw: they cannot be compared"):
        compare(toy, raw, data=None, images=[])


def test_no_image_is_wrong_usage(toy: Model) -> None:
    with pytest.raises(UsageError, match="no images to compare on"):
        compare(toy, toy, data=None, images=[])


def test_progress_counts_once_over_all_parts(toy: Model, labelled: Path) -> None:
    ground = Ground.of(toy, toy, labelled)
    steps: list[tuple[int, int]] = []
    compare(
        toy, toy, data=ground.data, images=ground.images, rounds=2, progress=lambda _, *counts: steps.append(counts)
    )
    done = [d for d, _ in steps]
    assert done == sorted(done)
    assert steps[-1] == (4 * 3 + 2, 4 * 3 + 2)


def test_the_ground_is_a_few_synthetic_images_where_nothing_is_given(toy: Model) -> None:
    ground = Ground.of(toy, toy, None)
    assert (len(ground.images), ground.data) == (SYNTHETIC, None)
    assert ground.notices == (f"no DATA given: compared on {SYNTHETIC} synthetic images",)


def test_a_limit_is_spread_over_the_images(toy: Model, photos: Path) -> None:
    assert Ground.of(toy, toy, photos, limit=2).images == [photos / "0.png", photos / "1.png"]
    assert len(Ground.of(toy, toy, photos, limit=9).images) == 3


def test_each_model_has_labels_in_its_own_numbers(toy: Model, labelled: Path, tmp_path: Path) -> None:
    turned = loaded(toys.detector(metadata=toys.METADATA | {"names": "{0: 'hen', 1: 'dog', 2: 'cat'}"}), tmp_path / "t")
    (labelled / "data.yaml").write_text("val: .\nnames: {0: cat, 1: dog, 2: hen}\n")
    data = Ground.of(toy, turned, labelled).data
    assert data is not None
    ids = [[int(s.truth.class_ids[0]) for s in d.samples if not isinstance(s.truth, int)] for d in data]
    assert ids == [[0, 1, 2], [2, 1, 0]]


def test_a_readme_is_no_label(toy: Model, photos: Path) -> None:
    (photos / "README").write_text("mine\n")
    assert Ground.of(toy, toy, photos).data is None


def test_labels_beside_the_folder_are_not_overlooked(toy: Model, photos: Path) -> None:
    (photos.parent / "labels.txt").write_text("0.png cat\n")
    with pytest.raises(UsageError, match="none of its 3 images has labels"):  # those of a detector are other files
        Ground.of(toy, toy, photos)


def test_wrong_labels_are_an_error_and_not_ignored(toy: Model, labelled: Path) -> None:
    (labelled / "1.txt").write_text("no label\n")
    with pytest.raises(UsageError, match=r"1\.txt, line 1"):
        Ground.of(toy, toy, labelled)


def test_labels_without_images_are_wrong_usage(toy: Model, labelled: Path) -> None:
    with pytest.raises(UsageError, match="has labels for images that are not given"):
        Ground.of(toy, toy, None, labels=labelled / "0.txt")
