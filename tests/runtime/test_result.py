"""A result is in the pixels of the image, and leaves as plain data, a picture, or another library's object."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from edgekit.errors import DependencyError, UsageError
from edgekit.runtime import image
from edgekit.runtime.result import Boxes, Probs, Result, image_id, to_coco
from edgekit.runtime.transform import Geometry
from edgekit.tasks.predictions import Detections, Probabilities

GEOMETRY = Geometry(image=(100, 200), input=(400, 400), scale=(2.0, 2.0), offset=(0.0, 100.0))
NAMES = {0: "person", 5: "bus"}


def detections(*rows: tuple[float, float, float, float, float, int]) -> Detections:
    table = np.array(rows, np.float64).reshape(-1, 6)
    return Detections(table[:, :4].astype(np.float32), table[:, 4].astype(np.float32), table[:, 5].astype(np.int64))


@pytest.fixture
def result() -> Result:
    """A bus, two persons and something of class 7 in a grey image."""
    found = detections(
        (20, 120, 200, 220, 0.9123456, 5),
        (0, 100, 21, 201, 0.8, 0),
        (40, 140, 60, 160, 0.7, 0),
        (2, 102, 9, 109, 0.5, 7),
    )
    return Result.from_prediction(
        found,
        GEOMETRY,
        source="photos/000000000785.jpg",
        task="detect",
        names=NAMES,
        speed={"preprocess": 1.23456, "inference": 20.0, "postprocess": 0.5},
        image=np.full((100, 200, 3), 120, np.uint8),
    )


def classified(*values: float) -> Result:
    grey = np.full((100, 200, 3), 120, np.uint8)
    prediction = Probabilities(np.array(values, np.float32))
    return Result.from_prediction(prediction, GEOMETRY, source="a.jpg", task="classify", names=NAMES, image=grey)


def test_boxes_come_in_pixels_of_the_image(result: Result) -> None:
    assert result.boxes is not None
    assert result.boxes.xyxy[0].tolist() == [10.0, 10.0, 100.0, 60.0]
    assert result.boxes.xyxy.dtype == np.float32
    assert result.shape == (100, 200)
    assert len(result) == len(result.boxes) == 4


def test_boxes_are_clipped_and_those_in_the_padding_are_dropped() -> None:
    found = detections((-50, 90, 999, 999, 0.9, 0), (10, 10, 90, 90, 0.8, 0))
    result = Result.from_prediction(found, GEOMETRY, source="a.jpg", task="detect")
    assert result.boxes is not None
    assert result.boxes.xyxy.tolist() == [[0.0, 0.0, 200.0, 100.0]]


def test_boxes_are_also_centres_and_parts_of_the_image() -> None:
    boxes = Boxes(np.array([[10, 20, 50, 40]], np.float32), np.ones(1, np.float32), np.zeros(1, np.int64), (100, 200))
    assert boxes.xywh.tolist() == [[30, 30, 40, 20]]
    assert np.allclose(boxes.xyxyn, [[0.05, 0.2, 0.25, 0.4]])
    assert np.allclose(boxes.xywhn, [[0.15, 0.3, 0.2, 0.2]])


def test_the_dictionary_is_plain_json(result: Result) -> None:
    out = result.to_dict()
    assert json.loads(json.dumps(out)) == out
    assert list(out) == ["source", "shape", "task", "detections", "speed_ms"]
    assert out["shape"] == [100, 200]
    assert out["detections"][0] == {
        "box": [10.0, 10.0, 100.0, 60.0],
        "score": 0.91235,
        "class_id": 5,
        "class_name": "bus",
    }
    assert out["detections"][3]["class_name"] == "class_7"
    assert out["speed_ms"] == {"preprocess": 1.235, "inference": 20.0, "postprocess": 0.5}


def test_a_classification_lists_the_top_five() -> None:
    out = classified(0.02, 0.5, 0.1, 0.1, 0.08, 0.2).to_dict()
    assert out["detections"] == []
    assert [c["class_id"] for c in out["classes"]] == [1, 5, 2, 3, 4]
    assert out["classes"][1] == {"class_id": 5, "class_name": "bus", "score": 0.2}


def test_probabilities_with_fewer_than_five_classes_give_them_all() -> None:
    probs = Probs(np.array([0.25, 0.75], np.float32))
    assert (probs.top1, probs.top1conf) == (1, 0.75)
    assert probs.top5 == [1, 0]
    assert probs.top5conf.tolist() == [0.75, 0.25]


def test_the_summary_counts_by_class(result: Result) -> None:
    assert result.summary() == "2 person, 1 bus, 1 class_7"
    assert classified(0.75, 0.25).summary() == "person 0.75, class_1 0.25"


def test_an_image_without_objects_is_a_result_too() -> None:
    result = Result.from_prediction(Detections.empty(), GEOMETRY, source="a.jpg", task="detect")
    assert result
    assert len(result) == 0
    assert result.summary() == "no detections"
    assert result.to_dict()["detections"] == []
    assert to_coco([result]) == []


def test_raw_outputs_are_kept_and_described() -> None:
    output = np.zeros((1, 84, 10), np.float32)
    result = Result.from_outputs({"output0": output}, source="a.npy", image=np.zeros((4, 6, 3), np.uint8))
    assert result.outputs is not None
    assert result.outputs["output0"] is output
    assert result.to_dict()["outputs"] == {"output0": {"shape": [1, 84, 10], "dtype": "float32"}}
    assert result.summary() == "output0 float32[1, 84, 10]"


def test_a_plot_is_a_new_picture_of_the_same_size(result: Result) -> None:
    for one in (result, classified(0.75, 0.25)):
        assert one.image is not None
        before = one.image.copy()
        plotted = one.plot()
        assert plotted.shape == one.image.shape
        assert (plotted != before).any()
        assert np.array_equal(one.image, before)


def test_a_saved_result_is_its_plot(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "new" / "out.png")
    assert np.array_equal(image.read(tmp_path / "new" / "out.png"), result.plot())


def test_a_result_without_its_image_cannot_be_drawn() -> None:
    result = Result.from_prediction(Detections.empty(), GEOMETRY, source="a.jpg", task="detect")
    with pytest.raises(UsageError, match="without its image"):
        result.plot()


def test_coco_entries_have_corner_and_size(result: Result) -> None:
    entry = to_coco([result])[0]
    assert entry == {"image_id": 785, "category_id": 5, "bbox": [10.0, 10.0, 90.0, 50.0], "score": 0.91235}
    assert json.loads(json.dumps(entry)) == entry
    assert [e["category_id"] for e in to_coco([result], categories={0: 1, 5: 6, 7: 8})] == [6, 1, 1, 8]


@pytest.mark.parametrize(
    ("source", "expected"), [("val/000000000785.jpg", 785), ("bus.jpg", "bus"), ("-", "-"), ("x/0.npy", 0), ("²", "²")]
)
def test_an_image_id_is_a_number_where_the_name_is_one(source: str, expected: int | str) -> None:
    assert image_id(source) == expected


def test_supervision_gets_boxes_scores_classes_and_names(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = ModuleType("supervision")
    stand_in.Detections = lambda **fields: SimpleNamespace(**fields)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "supervision", stand_in)
    out = result.to_supervision()
    assert result.boxes is not None
    assert out.xyxy is result.boxes.xyxy
    assert out.class_id.tolist() == [5, 0, 0, 7]
    assert out.data["class_name"].tolist() == ["bus", "person", "person", "class_7"]


def test_supervision_that_is_not_installed_is_named(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "supervision", None)
    with pytest.raises(DependencyError) as caught:
        result.to_supervision()
    assert caught.value.hint == "pip install supervision"
    with pytest.raises(UsageError, match="no boxes"):
        classified(0.75, 0.25).to_supervision()
