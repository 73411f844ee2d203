from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.runtime import load
from edgekit.tasks.decoders.nanodet import NanoDet
from edgekit.tasks.predictions import Settings

SIZE = (64, 96)
CELLS = {8: 96, 16: 24, 32: 6}


def outputs(classes: int = 3, bins: int = 8, names: tuple[str, str] = ("cls_pred_stride_{}", "dis_pred_stride_{}")):
    found = {names[0].format(s): np.zeros((1, n, classes), np.float32) for s, n in CELLS.items()}
    return found | {names[1].format(s): np.zeros((1, n, 4 * bins), np.float32) for s, n in CELLS.items()}


def decode(arrays, **settings):
    return NanoDet.build(SIZE, {})(arrays, Settings(**settings))


@pytest.mark.parametrize(("stride", "cell", "column", "row"), [(8, 13, 1, 1), (16, 8, 2, 1), (32, 5, 2, 1)])
def test_distances_go_from_the_centre_of_their_cell(stride: int, cell: int, column: int, row: int) -> None:
    arrays = outputs()
    arrays[f"cls_pred_stride_{stride}"][0, cell] = [0.1, 0.7, 0.2]
    sides = np.full((4, 8), -50, np.float32)  # all the weight in one bin a side
    for side, distance in enumerate((1, 0, 2, 3)):
        sides[side, distance] = 50
    arrays[f"dis_pred_stride_{stride}"][0, cell] = sides.ravel()
    (found,) = decode(arrays)
    x, y = (column + 0.5) * stride, (row + 0.5) * stride
    np.testing.assert_allclose(found.boxes, [[x - stride, y, x + 2 * stride, y + 3 * stride]], rtol=1e-6)
    assert found.class_ids.tolist() == [1]
    np.testing.assert_allclose(found.scores, [0.7])


def test_a_distance_is_the_mean_of_its_distribution() -> None:
    arrays = outputs(bins=4)
    arrays["cls_pred_stride_8"][0, 0, 0] = 1
    (found,) = decode(arrays)  # logits all the same: 0, 1, 2 and 3 strides weigh alike
    np.testing.assert_allclose(found.boxes, [[4 - 12, 4 - 12, 4 + 12, 4 + 12]])


@pytest.mark.parametrize(
    "names", [("cls_pred_stride_{}", "dis_pred_stride_{}"), ("scores_{}", "bbox_{}"), ("a{}", "b{}")]
)
def test_the_order_of_the_outputs_means_nothing(names: tuple[str, str]) -> None:
    arrays = outputs(names=names)
    arrays[names[0].format(16)][0, 3, 2] = 0.9
    (one,), (other,) = decode(arrays), decode(dict(reversed(arrays.items())))
    assert one.class_ids.tolist() == other.class_ids.tolist() == [2]
    np.testing.assert_array_equal(one.boxes, other.boxes)


def test_outputs_that_could_be_either_are_told_by_their_names_or_not_at_all() -> None:
    def shapes(names: tuple[str, str], classes: int):
        return {name: array.shape for name, array in outputs(classes, 8, names).items()}

    assert NanoDet.fits(shapes(("cls_{}", "reg_{}"), 32), SIZE)
    assert NanoDet.fits(shapes(("cls_{}", "reg_{}"), 80), SIZE, 80)
    assert not NanoDet.fits(shapes(("a{}", "b{}"), 80), SIZE)
    assert not NanoDet.fits(shapes(("cls_{}", "reg_{}"), 80), SIZE, 20)
    assert not NanoDet.fits(shapes(("cls_{}", "reg_{}"), 80), (128, 128))
    assert NanoDet.class_count(shapes(("cls_{}", "reg_{}"), 80)) == 80


@pytest.mark.parametrize("broken", ["missing", "nan", "infinite"])
def test_bad_outputs_are_refused_or_dropped(broken: str) -> None:
    arrays = outputs()
    arrays["cls_pred_stride_8"][0, :2, 0] = 0.9
    if broken == "missing":
        del arrays["dis_pred_stride_8"]
        with pytest.raises(ModelError, match="decoder nanodet expects"):
            decode(arrays)
        return
    arrays["dis_pred_stride_8"][0, 0, 0] = np.nan if broken == "nan" else np.inf
    (found,) = decode(arrays)
    assert np.isfinite(found.boxes).all()


def test_people_and_bus_are_found(zoo: Path) -> None:
    found = load(zoo / "models" / "nanodet_m_320.onnx")(zoo / "images" / "photos" / "bus.jpg", conf=0.4)
    assert found.boxes.cls.tolist().count(5) == 1
    assert found.boxes.cls.tolist().count(0) >= 3
