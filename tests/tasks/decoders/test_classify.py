from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from edgekit.errors import ModelError
from edgekit.tasks.decoders.classify import Classify
from edgekit.tasks.predictions import Settings

any_logits = arrays(np.float32, st.tuples(st.integers(1, 3), st.integers(1, 9)), elements=st.floats(width=32))


def decode(array, **options):
    return Classify.build((224, 224), options)({"logits": array}, Settings())


def test_a_photo_of_a_known_class_is_recognised(zoo, run, centred) -> None:
    photos = sorted((zoo / "images" / "imagenet200").iterdir())
    hits = 0
    for k in (0, 20, 40, 60, 80):  # file k of the folder shows class 5k
        outputs = run("efficientnet_lite0.onnx", f"imagenet200/{photos[k].name}", centred)
        (found,) = Classify.build((224, 224), {"softmax": True})(outputs, Settings())
        hits += int(found.values.argmax() == 5 * k)
    assert hits >= 4


def test_probabilities_are_left_as_they_are() -> None:
    (found,) = decode(np.array([[0.25, 0.75]], np.float16))
    assert found.values.tolist() == [0.25, 0.75]
    assert found.values.dtype == np.float32


def test_maps_of_one_pixel_are_flattened() -> None:
    first, second = decode(np.array([[0.25, 0.75], [1, 0]], np.float32).reshape(2, 2, 1, 1))
    assert first.values.tolist() == [0.25, 0.75]
    assert second.values.tolist() == [1, 0]


def test_logits_worked_out_by_hand() -> None:
    (found,) = decode(np.log(np.array([[1, 2, 5]])) + 1000, softmax=True)
    np.testing.assert_allclose(found.values, [1 / 8, 2 / 8, 5 / 8], rtol=1e-6)


@pytest.mark.filterwarnings("error")
@given(any_logits, st.booleans())
def test_every_value_is_finite_and_softmax_sums_to_1(logits, softmax: bool) -> None:
    for row, found in zip(logits, decode(logits, softmax=softmax), strict=True):
        assert np.isfinite(found.values).all()
        assert (found.values[~np.isfinite(row)] == 0).all()
        if softmax:
            assert found.values.sum() == pytest.approx(1 if np.isfinite(row).any() else 0)


@pytest.mark.parametrize("shape", [(1000,), (1, 10, 2, 2), (1, 10, 4)])
def test_an_output_of_another_shape_is_named(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelError, match=r"batch, classes.*logits float32"):
        decode(np.zeros(shape, np.float32))


def test_classes_are_counted_from_the_shape() -> None:
    assert Classify.class_count({"logits": (1, 1000)}) == 1000
    assert Classify.class_count({"logits": (1, 200, 1, 1)}) == 200


def test_softmax_is_yes_or_no() -> None:
    with pytest.raises(ModelError, match="true or false"):
        Classify.build((224, 224), {"softmax": "yes"})
