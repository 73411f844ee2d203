from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgekit.errors import ModelError
from edgekit.runtime import load
from edgekit.tasks.decoders.fastestdet import FastestDet
from edgekit.tasks.predictions import Settings

SIZE = (32, 64)  # 2x4 cells


def decode(array, **settings):
    return FastestDet.build(SIZE, {})({"758": array}, Settings(**settings))


def test_a_cell_is_decoded_by_hand() -> None:
    array = np.zeros((1, 8, 2, 4), np.float32)
    array[0, :, 1, 2] = [0.5, np.arctanh(0.25), np.arctanh(-0.5), 0, np.log(3), 0.1, 0.8, 0.1]
    (found,) = decode(array)
    x, y, width, height = (2 + 0.25) * 16, (1 - 0.5) * 16, 32, 24
    np.testing.assert_allclose(
        found.boxes, [[x - width / 2, y - height / 2, x + width / 2, y + height / 2]], rtol=1e-5, atol=1e-5
    )
    np.testing.assert_allclose(found.scores, [0.5**0.6 * 0.8**0.4], rtol=1e-6)
    assert found.class_ids.tolist() == [1]


def test_other_grids_are_not_its_own() -> None:
    assert FastestDet.fits({"o": (1, 8, 2, 4)}, SIZE, 3)
    assert not FastestDet.fits({"o": (1, 8, 2, 4)}, SIZE, 2)
    assert not FastestDet.fits({"o": (1, 8, 4, 2)}, SIZE)
    with pytest.raises(ModelError, match="decoder fastestdet expects"):
        decode(np.zeros((1, 8, 4, 2), np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_what_is_not_finite_is_dropped(value: float) -> None:
    array = np.zeros((1, 8, 2, 4), np.float32)
    array[0, :, 0, 0] = 0.9
    array[0, :5, 1, 1] = value
    array[0, 5:, 1, 1] = 0.9
    (found,) = decode(array)
    assert np.isfinite(found.boxes).all()
    assert np.isfinite(found.scores).all()


def test_people_and_bus_are_found(zoo: Path) -> None:
    found = load(zoo / "models" / "FastestDet.onnx")(zoo / "images" / "photos" / "bus.jpg", conf=0.4)
    assert found.boxes.cls.tolist().count(5) == 1
    assert found.boxes.cls.tolist().count(0) >= 2
