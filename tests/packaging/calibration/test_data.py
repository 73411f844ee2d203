"""Which images a model is calibrated on, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgekit import runtime
from edgekit.errors import UsageError
from edgekit.packaging.calibration import CalibrationData, calibrate
from edgekit.runtime import Model
from tests import toys
from tests.packaging.calibration.linear import linear


@pytest.fixture(scope="module")
def detector(toy_package: Path) -> Model:
    return runtime.load(toy_package)


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """40 images 00.npy to 39.npy, each of the grey level of its number."""
    for i in range(40):
        np.save(tmp_path / f"{i:02}.npy", np.full((8, 8, 3), i, np.uint8))
    return tmp_path


def levels(data: CalibrationData) -> list[int]:
    return [round(float(feed["images"].min()) * 255) for feed in data]


def test_a_folder_is_fed_image_by_image_as_often_as_asked(photos: Path, detector: Model) -> None:
    data = CalibrationData.open(photos, detector)
    assert len(data) == 40
    assert levels(data) == levels(data) == list(range(40))
    assert data.notices == ()


def test_the_images_taken_are_spread_evenly(photos: Path, detector: Model) -> None:
    data = CalibrationData.open(photos, detector, count=4)
    assert levels(data) == [0, 10, 20, 30]
    assert data.notices == ("calibrated on 4 images only: 100 to 500 are usual",)


def test_one_image_and_a_pattern_will_do(photos: Path, detector: Model) -> None:
    assert levels(CalibrationData.open(photos / "07.npy", detector)) == [7]
    assert levels(CalibrationData.open(f"{photos}/1*.npy", detector)) == list(range(10, 20))


def test_a_text_file_names_images_beside_it(photos: Path, detector: Model) -> None:
    (photos / "list.txt").write_text("09.npy\n\n./03.npy\n09.npy\n1*.npy\n")
    assert levels(CalibrationData.open(photos / "list.txt", detector)) == [9, 3, 9, *range(10, 20)]


def test_a_grey_image_becomes_one_of_three_channels(tmp_path: Path, detector: Model) -> None:
    np.save(tmp_path / "grey.npy", np.full((8, 8), 200, np.uint8))
    (feed,) = CalibrationData.open(tmp_path, detector)
    assert feed["images"].shape == (1, 3, 64, 64)
    assert float(feed["images"].max()) == pytest.approx(200 / 255)


def test_images_that_cannot_be_read_are_left_out_and_counted(photos: Path, detector: Model) -> None:
    for name in ("03.npy", "05.npy", "39.npy"):
        (photos / name).write_bytes(b"\x93NUMPY")
    data = CalibrationData.open(photos, detector)
    assert len(data) == len(levels(data)) == 37
    (notice,) = data.notices
    assert notice.startswith("3 of 40 images could not be read, the first one: ")
    assert "03.npy is truncated or damaged" in notice


def test_images_go_through_calibration(photos: Path, detector: Model) -> None:
    ranges = calibrate(toys.detector(), ["images"], CalibrationData.open(photos, detector), "percentile")
    assert ranges["images"].low == 0
    assert ranges["images"].high == pytest.approx(39 / 255, abs=1e-3)


def test_a_photo_given_twice_is_found_whatever_its_name(photos: Path, detector: Model) -> None:
    data = CalibrationData.open(photos / "0*.npy", detector)
    renamed = photos / "renamed.npy"
    renamed.write_bytes((photos / "02.npy").read_bytes())
    assert data.overlap([renamed, photos / "05.npy", photos / "15.npy"]) == 2
    assert len(data.digests) == 10


def test_without_images_pictures_are_made_and_accuracy_is_warned_of(detector: Model) -> None:
    one, other = (CalibrationData.open(None, detector, count=3) for _ in range(2))
    assert [f["images"].tobytes() for f in one] == [f["images"].tobytes() for f in other]
    assert len({f["images"].tobytes() for f in one}) == 3
    assert len(CalibrationData.open(None, detector)) == 32
    (notice,) = one.notices
    assert notice == (
        "calibrated on 3 synthetic pictures: accuracy will suffer; "
        "give 100 to 500 photos like those of the application with --calibration"
    )
    assert one.overlap([Path(__file__)]) == 0


def test_a_model_that_takes_no_image_gets_numbers(tmp_path: Path) -> None:
    model = linear()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 5
    opened = runtime.load(toys.save(model, tmp_path / "linear.onnx"))
    assert [feed["x"].shape for feed in CalibrationData.open(None, opened, count=2)] == [(5,), (5,)]
    with pytest.raises(UsageError, match="takes no image: it cannot be calibrated on"):
        CalibrationData.open(tmp_path, opened)


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere", "nowhere does not exist"),
        ("empty", "empty is a folder without images"),
        ("broken", "broken has no image that can be read: broken/a.npy is empty"),
        ("none.txt", "none.txt names no image"),
        ("wrong.txt", "wrong.txt, line 2: nowhere.jpg does not exist"),
        ("bytes.txt", "bytes.txt is not text"),
        (
            "-",
            "- has no image that can be read: standard input cannot be calibrated on: images are read more than once",
        ),
    ],
)
def test_what_gives_no_image_is_said(
    path: str, sentence: str, tmp_path: Path, detector: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("empty", "broken"):
        Path(folder).mkdir()
    for name, content in {
        "broken/a.npy": b"",
        "good.npy": b"",
        "none.txt": b"\n\n",
        "wrong.txt": b"good.npy\nnowhere.jpg\n",
        "bytes.txt": b"\xff\xfe\x00\x80",
    }.items():
        Path(name).write_bytes(content)
    with pytest.raises(UsageError) as caught:
        CalibrationData.open(path, detector)
    assert str(caught.value).replace("\\", "/") == sentence
    assert caught.value.exit_code == 2


def test_no_image_at_all_cannot_be_asked_for(photos: Path, detector: Model) -> None:
    with pytest.raises(UsageError, match="0 images are nothing to calibrate on"):
        CalibrationData.open(photos, detector, count=0)
