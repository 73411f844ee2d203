from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.packaging import golden
from edgekit.preprocessing import PRESETS, Preprocess
from edgekit.runtime.golden import FILE, Golden, sample_indices
from edgekit.runtime.transform import Transform, placement

sides = st.integers(1, 900)
CROP_TO_COVER = Preprocess(resize="crop", size=(224, 160))


@given(st.sampled_from([*PRESETS.values(), CROP_TO_COVER]), st.tuples(sides, sides))
def test_a_golden_image_is_never_resampled(preprocess: Preprocess, shape: tuple[int, int]) -> None:
    once = placement(preprocess, shape).resized
    assert placement(preprocess, once).resized == once


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_golden_image_gives_the_same_input_without_opencv(name: str) -> None:
    preprocess = PRESETS[name]
    for image in golden.synthetic_images():
        recorded = golden.fitted(image, preprocess)
        tensors = [Transform(preprocess, use_opencv=use)(recorded)[0] for use in (None, False)]
        assert np.array_equal(*tensors)


def test_synthetic_images_are_the_same_each_time_and_not_flat() -> None:
    one, other = golden.synthetic_images(), golden.synthetic_images()
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    assert all(image.std() > 20 for image in one)


@given(st.integers(0, 2**31), st.integers(0, 10**7))
def test_samples_are_in_range_and_the_same_each_time(seed: int, count: int) -> None:
    indices = sample_indices(seed, count)
    assert len(indices) == min(count, 4096)
    assert np.array_equal(indices, sample_indices(seed, count))
    assert not len(indices) or 0 <= indices[0] <= indices[-1] < count


def test_golden_data_survives_being_written_and_read(toy_package: Path, tmp_path: Path) -> None:
    read = Golden.read(toy_package / FILE)
    read.write(tmp_path / FILE)
    assert (tmp_path / FILE).read_bytes() == (toy_package / FILE).read_bytes()
