from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import ModelError
from edgekit.tasks.decoders.scored_boxes import ScoredBoxes
from edgekit.tasks.guess import candidates
from edgekit.tasks.predictions import Settings

SIZE = (48, 64)  # height, width
CORNERS = np.array([[[4, 6, 20, 30], [5, 6, 21, 30], [32, 8, 60, 40]]], np.float32)
SCORES = np.array([[[0.9, 0.1], [0.8, 0.3], [0.5, 0.6]]], np.float32)


def decode(corners=CORNERS, scores=SCORES, /, settings=None, names=("boxes", "scores"), **options):
    outputs = dict(zip(names, (corners, scores), strict=True))
    (found,) = ScoredBoxes.build(SIZE, options)(outputs, settings or Settings())
    return found


def test_of_boxes_that_overlap_the_best_is_kept() -> None:
    found = decode()
    assert found.boxes.tolist() == [[4, 6, 20, 30], [32, 8, 60, 40]]
    assert found.class_ids.tolist() == [0, 1]
    assert found.scores.tolist() == [np.float32(0.9), np.float32(0.6)]
    assert (found.boxes.dtype, found.scores.dtype, found.class_ids.dtype) == (np.float32, np.float32, np.int64)


def test_without_nms_all_that_pass_are_kept_best_first() -> None:
    assert decode(nms=False).scores.tolist() == [np.float32(s) for s in (0.9, 0.8, 0.6)]
    assert len(decode(nms=False, settings=Settings(max_detections=2))) == 2
    assert len(decode(nms=False, settings=Settings(conf=0.7))) == 2


def test_the_candidates_limit_counts_for_nms_only() -> None:
    assert len(decode(nms=False, settings=Settings(max_candidates=1))) == 3
    assert len(decode(settings=Settings(max_candidates=1))) == 1


def test_with_multi_label_a_box_counts_for_each_of_its_classes() -> None:
    found = decode(multi_label=True)
    assert list(zip(found.class_ids.tolist(), found.scores.tolist(), strict=True)) == [
        (0, np.float32(0.9)),
        (1, np.float32(0.6)),
        (0, np.float32(0.5)),
        (1, np.float32(0.3)),
    ]
    assert found.boxes[3].tolist() == [5, 6, 21, 30]


def test_nms_across_classes_leaves_one_label_a_box() -> None:
    assert len(decode(multi_label=True, settings=Settings(class_agnostic=True))) == 2


@pytest.mark.parametrize(
    ("boxes", "array"),
    [
        ("xywh", [[[12, 18, 16, 24], [13, 18, 16, 24], [46, 24, 28, 32]]]),
        ("yxyx", [[[6, 4, 30, 20], [6, 5, 30, 21], [8, 32, 40, 60]]]),
    ],
)
def test_boxes_come_out_as_corners(boxes: str, array) -> None:
    assert decode(np.array(array, np.float32), boxes=boxes).boxes.tolist() == decode().boxes.tolist()


@pytest.mark.parametrize("boxes", ["xyxy", "xywh", "yxyx"])
def test_relative_boxes_are_brought_to_the_input_s_pixels(boxes: str) -> None:
    array = {
        "xyxy": [0.25, 0.5, 0.5, 1],
        "xywh": [0.375, 0.75, 0.25, 0.5],
        "yxyx": [0.5, 0.25, 1, 0.5],
    }[boxes]
    found = decode(np.array([[array]], np.float32), np.array([[[0.9]]], np.float32), boxes=boxes, relative=True)
    assert found.boxes.tolist() == [[16, 24, 32, 48]]


def test_scores_may_have_their_classes_first() -> None:
    assert decode(CORNERS, SCORES.transpose(0, 2, 1)).class_ids.tolist() == decode().class_ids.tolist()


def test_outputs_with_other_names_are_told_apart_by_shape() -> None:
    assert decode(names=("1203", "881")).boxes.tolist() == decode().boxes.tolist()
    outputs = {"a": SCORES, "b": CORNERS}
    assert len(ScoredBoxes.build(SIZE, {})(outputs, Settings())[0]) == 2


def test_boxes_and_four_scores_are_told_apart_by_name_only() -> None:
    four = np.pad(SCORES, ((0, 0), (0, 0), (0, 2)))
    assert decode(CORNERS, four).class_ids.tolist() == [0, 1]
    with pytest.raises(ModelError, match=r"decoder scored_boxes expects .* a float32\[1, 3, 4\]"):
        decode(CORNERS, four, names=("a", "b"))


def test_the_background_is_no_class_and_the_others_keep_their_numbers() -> None:
    scores = np.array([[[0.9, 0.1, 0.0], [0.1, 0.8, 0.0], [0.0, 0.3, 0.7]]], np.float32)
    found = decode(CORNERS, scores, background=0)
    assert found.class_ids.tolist() == [1, 2]
    assert found.scores.tolist() == [np.float32(0.8), np.float32(0.7)]
    both = decode(CORNERS, scores, background=0, multi_label=True)
    assert 0 not in both.class_ids


def test_each_image_of_a_batch_has_its_own_detections() -> None:
    scores = np.concatenate((SCORES, np.zeros_like(SCORES)))
    outputs = {"boxes": np.tile(CORNERS, (2, 1, 1)), "scores": scores}
    assert [len(image) for image in ScoredBoxes.build(SIZE, {})(outputs, Settings())] == [2, 0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [{}, {"nms": False}, {"multi_label": True}, {"boxes": "xywh"}])
def test_what_is_not_finite_is_dropped(options) -> None:
    boxes, scores = CORNERS.astype(np.float16), SCORES.astype(np.float16)
    boxes[0, 0, 0], scores[0, 1] = np.nan, np.nan
    found = decode(boxes, scores, **options)
    assert set(found.scores.tolist()) <= {0.60009765625, 0.5}
    assert len(found) >= 1


@given(st.integers(0, 99), st.booleans(), st.booleans())
def test_a_class_of_its_own_for_each_box_makes_labels_of_no_matter(seed: int, nms: bool, relative: bool) -> None:
    rng = np.random.default_rng(seed)
    boxes = np.sort(rng.random((1, 5, 2, 2), np.float32), axis=2).reshape(1, 5, 4)
    scores = np.diag(rng.uniform(0.3, 1, 5).astype(np.float32))[None]
    options = {"nms": nms, "relative": relative}
    one, many = (decode(boxes, scores, multi_label=several, **options) for several in (False, True))
    assert one.class_ids.tolist() == many.class_ids.tolist()
    np.testing.assert_array_equal(one.boxes, many.boxes)


@pytest.mark.parametrize(
    ("option", "value"),
    [("boxes", "ltrb"), ("boxes", 1), ("relative", "yes"), ("nms", 1), ("background", -1), ("background", True)],
)
def test_a_wrong_value_of_an_option_is_named(option: str, value: object) -> None:
    with pytest.raises(ModelError, match=rf"scored_boxes: {option} is {value!r}, must be"):
        ScoredBoxes.build(SIZE, {option: value})


@pytest.mark.parametrize(
    ("shapes", "classes", "fits"),
    [
        ({"boxes": (1, 100, 4), "scores": (1, 100, 80)}, None, True),
        ({"boxes": (1, 100, 4), "scores": (1, 80, 100)}, 80, True),
        ({"boxes": (1, 100, 4), "scores": (1, 100, 80)}, 79, False),
        ({"a": (1, 4420, 2), "b": (1, 4420, 4)}, None, False),  # one class and the background
        ({"a": (1, 4420, 2), "b": (1, 4420, 4)}, 2, True),
        ({"boxes": (1, 100, 4), "scores": (1, 100)}, None, False),
        ({"boxes": (1, 100, 4), "scores": (1, 99, 80)}, None, False),
        ({"boxes": (1, 4, 100), "scores": (1, 80, 100)}, None, False),
        ({"boxes": (1, 100, 4)}, None, False),
        ({"labels": (1, 300), "boxes": (1, 300, 4), "scores": (1, 300)}, None, False),
    ],
)
def test_it_fits_boxes_and_scores(shapes, classes: int | None, fits: bool) -> None:
    assert ScoredBoxes.fits(shapes, SIZE, classes) is fits
    assert candidates(shapes, SIZE, task="detect", classes=classes) == (
        ["scored_boxes"] if fits else ["detr"] if len(shapes) == 3 else ["ssd"] if "a" in shapes else []
    )


def test_both_faces_are_found_in_relative_boxes_with_a_background(run, zoo: Path) -> None:
    cv2 = pytest.importorskip("cv2")

    def prepare(image):
        image = cv2.resize(image, (320, 240))[..., ::-1]
        return (np.ascontiguousarray(image.transpose(2, 0, 1)[None], np.float32) - 127) / 128

    outputs = run("ultraface_rfb320.onnx", "photos/zidane.jpg", prepare)
    decoder = ScoredBoxes.build((240, 320), {"relative": True, "background": 0})
    (found,) = decoder(outputs, Settings(conf=0.6, iou=0.3))
    assert found.class_ids.tolist() == [1, 1]
    left = found.boxes[:, 0].tolist()
    assert min(left) < 160 < max(left)
