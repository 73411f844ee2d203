"""Any image file comes in as upright 8-bit BGR; whatever else comes is answered with one sentence."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from edgekit.errors import DependencyError, EdgekitError, UsageError
from edgekit.runtime import image

cv2 = pytest.importorskip("cv2")
Image = pytest.importorskip("PIL.Image")

HEIGHT, WIDTH = 24, 36


@pytest.fixture(params=["opencv", "pillow"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each test once with OpenCV alone, once with Pillow alone."""
    monkeypatch.setattr(image, "pillow" if request.param == "opencv" else "opencv", lambda: None)
    return str(request.param)


@pytest.fixture
def no_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "opencv", lambda: None)
    monkeypatch.setattr(image, "pillow", lambda: None)


def smooth() -> np.ndarray:
    """A BGR image that JPEG keeps well: red to the right, blue downwards."""
    x, y = np.linspace(0, 255, WIDTH), np.linspace(0, 255, HEIGHT)
    out = np.full((HEIGHT, WIDTH, 3), 90, np.uint8)
    out[:, :, 2] = x[None, :]
    out[:, :, 0] = y[:, None]
    return out


def encoded(mode: str, kind: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(smooth()[:, :, ::-1])).convert(mode).save(buffer, kind, **options)
    return buffer.getvalue()


def difference(a: np.ndarray, b: np.ndarray) -> int:
    assert a.shape == b.shape
    return int(np.abs(a.astype(int) - b).max())


def grey() -> np.ndarray:
    return np.asarray(Image.fromarray(smooth()[:, :, ::-1].copy()).convert("L"))[:, :, None].repeat(3, axis=2)


@pytest.mark.parametrize(
    ("data", "tolerance"),
    [
        (encoded("RGB"), 0),
        (encoded("RGB", "BMP"), 0),
        (encoded("RGB", "TIFF"), 0),
        (encoded("RGB", "WEBP", lossless=True), 0),
        (encoded("RGBA"), 0),
        (encoded("CMYK", "TIFF"), 1),
        (encoded("RGB", "JPEG", quality=95), 12),
        (encoded("CMYK", "JPEG", quality=95), 12),
        (encoded("RGB", "JPEG", quality=95, progressive=True), 12),
    ],
    ids=["png", "bmp", "tiff", "webp", "alpha", "cmyk-tiff", "jpeg", "cmyk-jpeg", "progressive-jpeg"],
)
def test_a_colour_image_is_read_as_bgr(data: bytes, tolerance: int, backend: str) -> None:
    assert difference(image.read(data), smooth()) <= tolerance


@pytest.mark.parametrize("data", [encoded("L"), encoded("LA")], ids=["grey", "grey-alpha"])
def test_a_grey_image_gets_three_equal_channels(data: bytes, backend: str) -> None:
    assert difference(image.read(data), grey()) == 0


@pytest.mark.parametrize("transparency", [None, 3])
def test_a_palette_is_looked_up(transparency: int | None, backend: str) -> None:
    palette = Image.fromarray(smooth()[:, :, ::-1].copy()).quantize(16)
    buffer = io.BytesIO()
    palette.save(buffer, "PNG", **({} if transparency is None else {"transparency": transparency}))
    expected = np.asarray(palette.convert("RGB"))[:, :, ::-1]
    assert difference(image.read(buffer.getvalue()), expected) == 0


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_sixteen_bit_images_are_scaled_to_eight(suffix: str, backend: str) -> None:
    deep = smooth().astype(np.uint16) * 257
    colour = cv2.imencode(suffix, deep)[1].tobytes()
    one_channel = cv2.imencode(suffix, deep[:, :, 2])[1].tobytes()
    assert difference(image.read(colour), smooth()) <= 1
    assert difference(image.read(one_channel), smooth()[:, :, 2:].repeat(3, axis=2)) <= 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_a_photo_taken_sideways_is_turned_upright(kind: str, backend: str) -> None:
    exif = Image.Exif()
    exif[0x112] = 6  # the camera was turned by a quarter
    out = image.read(encoded("RGB", kind, exif=exif))
    assert difference(out, np.rot90(smooth(), -1)) <= (12 if kind == "JPEG" else 0)


def test_a_single_pixel_is_an_image(backend: str) -> None:
    data = cv2.imencode(".png", np.array([[[1, 2, 3]]], np.uint8))[1].tobytes()
    assert image.read(data).tolist() == [[[1, 2, 3]]]


def test_both_backends_agree_on_a_photo(zoo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_opencv = image.read(zoo / "images/photos/bus.jpg")
    monkeypatch.setattr(image, "opencv", lambda: None)
    with_pillow = image.read(zoo / "images/photos/bus.jpg")
    assert np.abs(with_opencv.astype(int) - with_pillow).mean() < 0.5


def test_a_path_may_have_any_letters(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "straße 行人.png"
    path.write_bytes(encoded("RGB"))
    assert difference(image.read(path), smooth()) == 0


@pytest.mark.parametrize("shape", [(5, 7, 3), (5, 7, 4), (5, 7, 1), (5, 7)])
def test_an_array_file_needs_no_library(shape: tuple[int, ...], tmp_path: Path, no_backend: None) -> None:
    array = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    np.save(tmp_path / "a.npy", array)
    out = image.read(tmp_path / "a.npy")
    assert out.shape == (5, 7, 3)
    assert np.array_equal(out[:, :, 0], array if array.ndim == 2 else array[:, :, 0])


def test_without_opencv_and_pillow_the_error_has_the_line_to_type(no_backend: None) -> None:
    with pytest.raises(DependencyError) as caught:
        image.read(encoded("RGB"))
    assert caught.value.exit_code == 5
    assert caught.value.hint == 'pip install "edgekit[vision]"'


def _npy(array: object) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.jpg", b"", "is empty"),
        ("a.jpg", b"hello, this is text", "is not an image"),
        ("a.jpg", encoded("RGB", "JPEG")[:-2], "is truncated"),
        ("a.jpg", encoded("RGB", "JPEG")[:300], "is truncated"),
        ("a.jpg", encoded("RGB", "JPEG")[:3], "is truncated"),
        ("a.png", encoded("RGB")[:-40], "is truncated"),
        ("a.bmp", encoded("RGB", "BMP")[:-100], "is a damaged image"),
        ("a.png", encoded("RGB")[:60] + bytes(20) + encoded("RGB")[80:], "is a damaged image"),
        ("a.jpg", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "is a Git LFS pointer"),
        ("a.npy", b"hello", "is not a .npy file"),
        ("a.npy", _npy(smooth())[:-7], "is truncated or damaged"),
        ("a.npy", _npy(np.array([{"a": 1}], dtype=object)), "is truncated or damaged"),
        ("a.npy", _npy(smooth().astype(np.float32)), "is float32, must be uint8"),
        ("a.npy", _npy(smooth()[None]), "has shape (1, 24, 36, 3)"),
    ],
)
def test_what_is_no_image_is_named_in_one_sentence(
    name: str, content: bytes, sentence: str, tmp_path: Path, backend: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        image.read(path)
    assert caught.value.exit_code == 2
    assert str(caught.value).startswith(f"{path} {sentence}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.jpg does not exist"):
        image.read(tmp_path / "nowhere.jpg")
    with pytest.raises(UsageError, match="is a folder, not an image"):
        image.read(tmp_path)


def test_the_end_marker_of_a_thumbnail_does_not_hide_a_truncated_photo(backend: str) -> None:
    photo, thumbnail = encoded("RGB", "JPEG"), encoded("L", "JPEG")
    segment = b"\xff\xe1" + (len(thumbnail) + 2).to_bytes(2, "big") + thumbnail
    assert image.read(photo[:2] + segment + photo[2:]).shape == (HEIGHT, WIDTH, 3)
    with pytest.raises(UsageError, match="truncated"):
        image.read(photo[:2] + segment + photo[2:-2])


def test_an_array_that_is_right_is_not_copied() -> None:
    array = smooth()
    assert np.shares_memory(image.as_image(array), array)


def test_an_array_is_brought_to_contiguous_bgr() -> None:
    assert image.as_image(smooth()[::2, ::-1]).flags.c_contiguous
    assert image.as_image(np.zeros((4, 5), np.uint8)).shape == (4, 5, 3)
    assert image.as_image(np.zeros((4, 5, 4), np.uint8)).shape == (4, 5, 3)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "CMYK", "L", "1", "LA", "I;16"])
def test_a_pil_image_of_any_mode_becomes_bgr(mode: str) -> None:
    picture = Image.fromarray(np.ascontiguousarray(smooth()[:, :, ::-1]))
    picture = Image.fromarray(grey()[:, :, 0].astype(np.uint16) * 257) if mode == "I;16" else picture.convert(mode)
    out = image.as_image(picture)
    assert out.shape == (HEIGHT, WIDTH, 3)
    assert out.dtype == np.uint8
    if mode in ("RGB", "RGBA"):
        assert np.array_equal(out, smooth())
    if mode in ("L", "LA", "I;16"):
        assert np.array_equal(out, grey())


@pytest.mark.parametrize(
    "value",
    [
        smooth() / 255,
        smooth()[None],
        np.zeros((4, 5, 2), np.uint8),
        np.zeros((0, 5, 3), np.uint8),
        Image.new("F", (3, 3)),
        [[1, 2]],
        "a.jpg",
        None,
    ],
)
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(UsageError):
        image.as_image(value)


@pytest.mark.parametrize(
    ("suffix", "tolerance"), [(".png", 0), (".bmp", 0), (".jpg", 12), (".JPEG", 12), (".webp", 40)]
)
def test_a_written_picture_reads_back(suffix: str, tolerance: int, tmp_path: Path, backend: str) -> None:
    path = tmp_path / "made" / f"out{suffix}"
    image.write(path, smooth())
    assert difference(image.read(path), smooth()) <= tolerance
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_picture_that_cannot_be_written_leaves_nothing(
    tmp_path: Path, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(EdgekitError, match="No space left on device"):
        image.write(tmp_path / "out.png", smooth())
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_keeps_the_old_picture(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "out.jpg"
    path.write_bytes(b"old")
    with pytest.raises(EdgekitError, match="70000x1 cannot be written as jpg"):
        image.write(path, np.zeros((1, 70000, 3), np.uint8))
    assert path.read_bytes() == b"old"


def test_an_unknown_ending_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.jpg, .*\.png"):
        image.write(tmp_path / "out.xyz", smooth())


def test_a_folder_that_can_be_made_is_writable_and_not_made_yet(tmp_path: Path) -> None:
    image.writable(tmp_path / "a" / "b")
    image.writable(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_under_a_file_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "below", tmp_path / "new" / ("x" * 300)):
        with pytest.raises(UsageError, match="cannot be written to"):
            image.writable(folder)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc takes no files, from root neither")
def test_a_folder_that_takes_no_files_is_not_writable() -> None:
    with pytest.raises(UsageError, match="cannot be written to"):
        image.writable("/proc/edgekit")
