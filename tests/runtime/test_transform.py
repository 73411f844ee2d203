"""An image becomes the tensor that the model was trained on, and boxes find their way back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgekit.errors import UsageError
from edgekit.preprocessing import PRESETS, Preprocess, fitted
from edgekit.runtime.transform import Geometry, Transform, placement, resize

try:
    import cv2
except ImportError:
    cv2 = None

needs_opencv = pytest.mark.skipif(cv2 is None, reason="compares with OpenCV, which is not installed")
sides = st.integers(1, 300) | st.sampled_from([1, 2, 5000])
small = st.integers(1, 96)
backends = pytest.mark.parametrize("use_opencv", [pytest.param(True, marks=needs_opencv), False])


def picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def levels(preprocess: Preprocess, tensor: np.ndarray) -> np.ndarray:
    """A float32 tensor back as grey levels, (H, W, 3) in the model's colour order."""
    out = tensor[0].transpose(1, 2, 0) if preprocess.layout == "NCHW" else tensor[0]
    return (out.astype(np.float64) * preprocess.std + preprocess.mean) / preprocess.scale


@needs_opencv
@given(h=small, w=small, height=small, width=small)
def test_numpy_resizes_as_opencv_does_to_one_grey_level(h: int, w: int, height: int, width: int) -> None:
    image = picture(h, w)
    theirs = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
    assert np.abs(resize(image, (height, width)).astype(int) - theirs).max() <= 1


@needs_opencv
@given(h=sides, w=sides, height=small, width=small, how=st.sampled_from(["letterbox", "stretch", "crop"]))
def test_without_opencv_the_tensor_is_the_same_to_one_grey_level(
    h: int, w: int, height: int, width: int, how: str
) -> None:
    preprocess = Preprocess(resize=how, size=(height, width), shorter_side=100 if how == "crop" else None)
    image = picture(h, w)
    with_opencv, one = Transform(preprocess, use_opencv=True)(image)
    without, other = Transform(preprocess, use_opencv=False)(image)
    assert one == other
    assert np.abs(levels(preprocess, with_opencv) - levels(preprocess, without)).max() <= 1.001


@needs_opencv
@given(h=small, w=small, height=small, width=small)
def test_nearest_takes_the_pixel_at_the_centre(h: int, w: int, height: int, width: int) -> None:
    image = picture(h, w)
    theirs = cv2.resize(image, (width, height), interpolation=cv2.INTER_NEAREST_EXACT)
    # between two pixels either is right
    rows, columns = ((np.arange(n) + 0.5) * (m / n) % 1 for n, m in ((height, h), (width, w)))
    clear = np.ix_(abs(rows - 0.5) < 0.499, abs(columns - 0.5) < 0.499)
    assert np.array_equal(resize(image, (height, width), "nearest")[clear], theirs[clear])


@given(
    h=sides,
    w=sides,
    how=st.sampled_from(["letterbox", "stretch"]),
    corner=st.sampled_from(["center", "top-left"]),
    data=st.data(),
)
def test_boxes_go_to_the_input_and_back(h: int, w: int, how: str, corner: str, data: st.DataObject) -> None:
    geometry = placement(Preprocess(resize=how, pad_position=corner, size=(320, 416)), (h, w)).geometry(
        (h, w), (320, 416)
    )
    boxes = np.array(
        [
            [
                data.draw(st.floats(0, w)),
                data.draw(st.floats(0, h)),
                data.draw(st.floats(0, w)),
                data.draw(st.floats(0, h)),
            ]
        ]
    )
    there = geometry.to_input(boxes)
    assert (there >= -0.01).all()
    assert (there <= [[416.01, 320.01] * 2]).all()
    assert np.allclose(geometry.to_image(there), boxes, atol=2e-3 * max(1, h / 320, w / 416))


def test_boxes_are_clipped_to_the_image() -> None:
    geometry = Geometry(image=(10, 20), input=(10, 20), scale=(1.0, 1.0), offset=(0.0, 0.0))
    assert geometry.to_image(np.array([[-5.0, -5.0, 99.0, 99.0]])).tolist() == [[0.0, 0.0, 20.0, 10.0]]
    assert geometry.to_image(np.zeros((0, 4), np.float32)).shape == (0, 4)


@backends
@given(h=sides, w=sides)
@settings(max_examples=60)
def test_a_letterboxed_image_is_whole_and_padded_to_the_shape(use_opencv: bool, h: int, w: int) -> None:
    preprocess = Preprocess(size=(64, 96), color="BGR", scale=1.0)
    tensor, geometry = Transform(preprocess, use_opencv=use_opencv)(np.full((h, w, 3), 200, np.uint8))
    assert tensor.shape == (1, 3, 64, 96)
    x1, y1, x2, y2 = geometry.to_input(np.array([[0, 0, w, h]]))[0].round().astype(int)
    inside = np.zeros((64, 96), bool)
    inside[y1:y2, x1:x2] = True
    assert inside.any()
    assert (tensor[0][:, inside] == 200).all()
    assert (tensor[0][:, ~inside] == 114).all()
    assert x1 in (0, (96 - x2), 96 - x2 - 1)  # the odd pixel of padding is on the right
    assert y1 in (0, (64 - y2), 64 - y2 - 1)


@pytest.mark.parametrize(
    ("image", "size", "at"),
    [
        ((1080, 1920), (360, 640), (140, 0)),
        ((1080, 810), (640, 480), (0, 80)),
        ((427, 640), (427, 640), (106, 0)),  # 213 pixels free: 106 above, 107 below
        ((333, 500), (426, 640), (107, 0)),
        ((1, 1), (640, 640), (0, 0)),
        ((1, 5000), (1, 640), (319, 0)),  # 0.128 pixels high: one is kept; 639 free
    ],
)
def test_letterbox_rounds_as_ultralytics_does(
    image: tuple[int, int], size: tuple[int, int], at: tuple[int, int]
) -> None:
    place = placement(Preprocess(), image)
    assert (place.size, place.at) == (size, at)


def test_yolox_pads_at_the_bottom_right_alone() -> None:
    tensor, geometry = Transform(fitted(PRESETS["yolox"], size=(416, 416), layout="NCHW", dtype="float32"))(
        np.full((200, 400, 3), (10, 20, 30), np.uint8)
    )
    assert geometry.offset == (0.0, 0.0)
    assert tensor[0, :, 0, 0].tolist() == [10, 20, 30]
    assert (tensor[0, :, 208:] == 114).all()


@pytest.mark.parametrize(
    ("image", "resized", "start"),
    [
        ((375, 500), (256, 341), (16, 58)),  # 341.33 truncated; (341 - 224) / 2 = 58.5 to the even one
        ((500, 333), (384, 256), (80, 16)),
        ((256, 256), (256, 256), (16, 16)),
    ],
)
def test_crop_rounds_as_torchvision_does(
    image: tuple[int, int], resized: tuple[int, int], start: tuple[int, int]
) -> None:
    place = placement(PRESETS["imagenet"], image)
    assert (place.resized, place.start, place.size) == (resized, start, (224, 224))


@backends
def test_a_crop_takes_the_middle(use_opencv: bool) -> None:
    image = np.zeros((100, 300, 3), np.uint8)
    image[:, 100:200] = 255
    preprocess = Preprocess(resize="crop", size=(50, 50), shorter_side=50)
    tensor, geometry = Transform(preprocess, use_opencv=use_opencv)(image)
    assert (tensor == 1).all()
    assert geometry.to_image(np.array([[0, 0, 50, 50]])).tolist() == [[100.0, 0.0, 200.0, 100.0]]


@backends
def test_a_crop_larger_than_the_image_is_centred_on_padding(use_opencv: bool) -> None:
    preprocess = Preprocess(resize="crop", size=(64, 64), shorter_side=32, scale=1.0, pad_value=7)
    tensor, geometry = Transform(preprocess, use_opencv=use_opencv)(np.full((10, 10, 3), 200, np.uint8))
    assert geometry.offset == (16.0, 16.0)
    assert (tensor[0, :, 16:48, 16:48] == 200).all()
    assert (tensor == 200).sum() == 3 * 32 * 32


@backends
@given(h=sides, w=sides, height=small, width=small)
@settings(max_examples=40)
def test_a_crop_without_a_shorter_side_covers_the_input(
    use_opencv: bool, h: int, w: int, height: int, width: int
) -> None:
    preprocess = Preprocess(resize="crop", size=(height, width), pad_value=0)
    tensor, _ = Transform(preprocess, use_opencv=use_opencv)(np.full((h, w, 3), 255, np.uint8))
    assert (tensor == 1).all()


@backends
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("color", ["RGB", "BGR"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
def test_values_are_scaled_then_normalized_in_the_order_of_the_channels(
    layout: str, color: str, dtype: str, use_opencv: bool
) -> None:
    image = picture(27, 40)  # fits without a resize
    preprocess = Preprocess(
        size=(48, 40),
        layout=layout,
        color=color,
        dtype=dtype,
        mean=(0.485, 0.456, 0.406),
        std=(0.229, 0.224, 0.225),
    )
    canvas = np.full((48, 40, 3), 114, np.uint8)
    canvas[10:37] = image
    if color == "RGB":
        canvas = canvas[:, :, ::-1]
    expected = canvas.astype(np.float64)
    if dtype != "uint8":
        expected = (expected * preprocess.scale - preprocess.mean) / preprocess.std
    tensor, _ = Transform(preprocess, use_opencv=use_opencv)(image)
    assert tensor.dtype == dtype
    assert tensor.shape == ((1, 3, 48, 40) if layout == "NCHW" else (1, 48, 40, 3))
    got = tensor[0].transpose(1, 2, 0) if layout == "NCHW" else tensor[0]
    assert np.array_equal(got, expected.astype(dtype))


@backends
def test_the_second_call_fills_the_same_buffer(use_opencv: bool) -> None:
    transform = Transform(Preprocess(size=(64, 64)), use_opencv=use_opencv)
    first, _ = transform(picture(40, 80))
    second, _ = transform(picture(80, 40, seed=1))
    assert first is second is transform.buffer


@backends
@given(shapes=st.lists(st.tuples(small, small), min_size=2, max_size=5))
@settings(max_examples=40)
def test_nothing_of_one_image_is_left_in_the_next(use_opencv: bool, shapes: list[tuple[int, int]]) -> None:
    preprocess = Preprocess(size=(32, 48))
    reused = Transform(preprocess, use_opencv=use_opencv)
    for seed, shape in enumerate(shapes):
        image = picture(*shape, seed=seed)
        fresh, _ = Transform(preprocess, use_opencv=use_opencv)(image)
        assert np.array_equal(reused(image)[0], fresh)


@backends
def test_the_image_itself_is_left_alone(use_opencv: bool) -> None:
    image = picture(64, 64)
    before = image.copy()
    Transform(Preprocess(size=(64, 64), layout="NHWC", dtype="uint8"), use_opencv=use_opencv)(image)
    assert np.array_equal(image, before)


def test_an_array_of_floats_is_refused() -> None:
    with pytest.raises(UsageError, match="float64"):
        Transform(Preprocess())(np.zeros((4, 4, 3)))
