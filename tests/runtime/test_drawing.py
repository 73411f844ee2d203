"""Labels can be read, stay inside the picture, and look alike with OpenCV and with Pillow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgekit.errors import DependencyError
from edgekit.runtime import drawing, image

pytest.importorskip("cv2")
pytest.importorskip("PIL")


@pytest.fixture(params=["opencv", "opencv-4", "pillow"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "pillow":
        monkeypatch.setattr(image, "opencv", lambda: None)
    if request.param == "opencv-4":
        import cv2

        monkeypatch.delattr(cv2, "FontFace", raising=False)
    return str(request.param)


def grey(height: int, width: int) -> np.ndarray:
    return np.full((height, width, 3), 120, np.uint8)


def changed(picture: np.ndarray) -> np.ndarray:
    return (picture != 120).any(axis=2)


def test_a_box_is_drawn_where_it_is_with_its_label_above(backend: str) -> None:
    out = changed(drawing.draw_boxes(grey(200, 300), np.array([[100, 80, 200, 160]]), ["person 0.87"], [0]))
    assert out[80:161, 100].all()
    assert out[80:161, 200].all()
    assert not out[100:150, 110:190].any()
    assert out[66:78, 105].all()
    assert not out[:50].any()


def test_a_box_at_the_top_has_its_label_inside(backend: str) -> None:
    out = changed(drawing.draw_boxes(grey(200, 300), np.array([[100, 0, 200, 160]]), ["person 0.87"], [0]))
    assert out[1:12, 105].all()


def test_a_label_at_the_right_border_moves_left(backend: str) -> None:
    image = grey(200, 300)
    out = changed(drawing.draw_boxes(image, np.array([[290, 100, 299, 160]]), ["person 0.87"], [0]))
    inside = changed(drawing.draw_boxes(image, np.array([[100, 100, 199, 160]]), ["person 0.87"], [0]))
    assert out[90, 200:].sum() == inside[90].sum()  # all of it


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (8, 8), (20, 30), (31, 400)])
def test_any_picture_can_be_drawn_on(shape: tuple[int, int], backend: str) -> None:
    boxes = np.array([[0, 0, shape[1], shape[0]], [-9, -9, 9999, 9999]], np.float32)
    assert drawing.draw_boxes(grey(*shape), boxes, ["person 0.87", "a" * 500], [0, 1]).shape == (*shape, 3)
    assert drawing.draw_lines(grey(*shape), ["0.87 person"] * 5).shape == (*shape, 3)


@pytest.mark.parametrize("name", ["Fußgänger", "行人", "пешеход", "🚌", "", "a\nb"])
def test_a_name_in_any_script_is_drawn(name: str, backend: str) -> None:
    out = drawing.draw_boxes(grey(200, 300), np.array([[100, 80, 200, 160]]), [f"{name} 0.87"], [0])
    assert changed(out)[:78].any()


def test_the_first_box_is_on_top(backend: str) -> None:
    boxes = np.array([[50, 50, 150, 150], [50, 50, 150, 150]])
    out = drawing.draw_boxes(grey(200, 300), boxes, ["", ""], [0, 1])
    assert tuple(out[100, 50]) == drawing.color_of(0)


def test_lines_stand_on_a_dark_panel_at_the_top_left(backend: str) -> None:
    out = drawing.draw_lines(grey(400, 600), ["0.87  tabby", "0.05  tiger cat"])
    assert tuple(out[1, 1]) == (30, 30, 30)
    assert out[:60, :200].max() > 200
    assert not changed(out)[100:].any()
    assert not changed(out)[:, 400:].any()


def test_a_long_line_is_cut_at_the_border(backend: str) -> None:
    out = drawing.draw_lines(grey(400, 300), ["0.87  " + "very long name " * 20])
    assert out[:, -3:].max() <= 120


def test_without_opencv_and_pillow_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "opencv", lambda: None)
    monkeypatch.setattr(image, "pillow", lambda: None)
    with pytest.raises(DependencyError, match="drawing needs OpenCV or Pillow"):
        drawing.draw_boxes(grey(9, 9), np.zeros((0, 4)), [], [])


def contrast(one: drawing.Color, other: drawing.Color) -> float:
    """As WCAG 2 counts it: 1 to 21."""

    def luminance(color: drawing.Color) -> float:
        linear = [v / 255 / 12.92 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in color]
        return 0.0722 * linear[0] + 0.7152 * linear[1] + 0.2126 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@given(st.integers(0, 100_000))
@settings(max_examples=300)
def test_text_can_be_read_on_every_colour(class_id: int) -> None:
    color = drawing.color_of(class_id)
    assert contrast(color, drawing.text_color_on(color)) >= 4


def test_no_two_of_eighty_classes_share_a_colour() -> None:
    colors = np.array([drawing.color_of(i) for i in range(80)], float)
    apart = np.linalg.norm(colors[:, None] - colors[None], axis=2) + 999 * np.eye(80)
    assert apart.min() > 10
    assert apart[:10, :10].min() > 60
