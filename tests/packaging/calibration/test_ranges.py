"""The range of each activation is what can be worked out by hand."""

from __future__ import annotations

import tracemalloc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper

from edgekit.errors import EdgekitError, ModelError, UsageError
from edgekit.packaging.calibration import Entropy, Percentile, Range, calibrate
from tests import toys
from tests.packaging.calibration.linear import Feed, feeds, linear, model

METHODS = ["minmax", "average", "percentile", "entropy"]


@pytest.mark.parametrize(("opset", "ir"), [(9, 3), (11, 6), (13, 8), (17, 8), (18, 8), (21, 10)])
def test_minmax_holds_all_that_was_seen(opset: int, ir: int) -> None:
    ranges = calibrate(linear(opset=opset, ir=ir), None, feeds([0, 1], [-1, 2], [0, 9]), "minmax")
    assert ranges == {"x": Range(-1, 9), "doubled": Range(-2, 18), "moved": Range(-1, 19), "kept": Range(0, 19)}


def test_average_is_what_an_image_reaches_in_the_mean() -> None:
    ranges = calibrate(linear(), ["x", "moved"], feeds([0, 1], [-1, 2], [1, 9]), "average")
    assert ranges == {"x": Range(0, 4), "moved": Range(1, 9)}


def test_percentile_cuts_the_same_share_off_at_both_ends() -> None:
    ranges = calibrate(linear(), ["x", "doubled"], feeds(np.arange(1025.0), np.arange(1025.0, 2049.0)), Percentile(50))
    assert ranges == {"x": Range(512, 1537), "doubled": Range(1024, 3074)}


def test_entropy_cuts_an_outlier_off_and_minmax_does_not() -> None:
    values = np.random.default_rng(3).normal(0, 1, 200_000)
    data = feeds(values[:100_000], values[100_000:], [30])
    assert calibrate(linear(), ["x"], data, "minmax")["x"].high == 30
    range_ = calibrate(linear(), ["x"], data, "entropy")["x"]
    assert 3 < range_.high < 6
    assert range_.low < -3


@pytest.mark.parametrize("method", METHODS)
def test_a_tensor_that_never_changes_has_the_range_of_its_value(method: str) -> None:
    assert calibrate(linear(), ["moved"], feeds([3, 3], [3]), method) == {"moved": Range(7, 7)}


@pytest.mark.parametrize("method", METHODS)
def test_an_empty_tensor_is_passed_over(method: str) -> None:
    assert calibrate(linear(), ["x"], feeds([], [4, 4], []), method) == {"x": Range(4, 4)}
    assert calibrate(linear(), None, feeds([], []), method) == {}


@pytest.mark.parametrize("method", METHODS)
def test_the_same_data_give_the_same_ranges_in_the_order_of_the_graph(method: str) -> None:
    rng = np.random.default_rng(5)
    data = [{"images": rng.random((1, 3, 64, 64), np.float32)} for _ in range(3)]
    one, other = (calibrate(toys.detector(), None, data, method) for _ in range(2))
    assert list(one.items()) == list(other.items())
    assert list(one) == ["images", "raw", "large", "back", "flat", "squashed", "output0"]


@pytest.mark.parametrize("method", [Percentile(99), Entropy()])
@pytest.mark.parametrize("limit", [1, 5000])
def test_ranges_do_not_depend_on_how_much_may_be_outside_the_graph(method: Percentile | Entropy, limit: int) -> None:
    rng = np.random.default_rng(5)
    data = [{"images": rng.random((1, 3, 64, 64), np.float32)} for _ in range(3)]
    whole = calibrate(toys.detector(), None, data, method, limit=1 << 30)
    assert calibrate(toys.detector(), None, data, method, limit=limit) == whole


def test_an_input_that_the_model_no_longer_has_is_ignored() -> None:
    data = [feed | {"orig_target_sizes": np.ones((1, 2), np.int64)} for feed in feeds([0, 1], [2, 3])]
    assert calibrate(linear(), ["x"], data, Percentile(100)) == {"x": Range(0, 3)}


def test_progress_counts_the_images_of_all_passes() -> None:
    told: list[tuple[int, int]] = []
    calibrate(linear(), None, feeds([1], [2]), "minmax", progress=lambda *now: told.append(now))
    assert told == [(1, 2), (2, 2)]
    told.clear()
    calibrate(linear(), None, feeds([1], [2]), "entropy", progress=lambda *now: told.append(now))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_weights_integers_and_constants_are_no_activations() -> None:
    toy = model(
        [
            helper.make_node("Cast", ["x"], ["whole"], to=TensorProto.INT64),
            helper.make_node("Mul", ["x", "two"], ["y"]),
        ],
        ["y"],
        ir=3,
    )
    assert list(calibrate(toy, None, feeds([1, 2]))) == ["x", "y"]


@pytest.mark.parametrize("name", ["nothing", "two", "one"])
def test_a_tensor_that_is_no_activation_is_named(name: str) -> None:
    with pytest.raises(ModelError, match=f"the model has no float32 activation {name} to calibrate"):
        calibrate(linear(), ["x", name], feeds([1]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_found_where_they_begin(bad: float, method: str) -> None:
    with pytest.raises(ModelError) as caught:
        calibrate(linear(), None, feeds([1, 2], [1, bad, 2]), method)
    assert str(caught.value) == "tensor x is NaN or infinite on image 2"


def test_the_node_that_makes_nan_is_told() -> None:
    toy = model([helper.make_node("Log", ["x"], ["y"]), helper.make_node("Relu", ["y"], ["z"])], ["z"])
    with pytest.raises(ModelError, match=r"tensor y \(made by Log\) is NaN or infinite on image 1"):
        calibrate(toy, None, feeds([-1, 2]))


@pytest.mark.parametrize(
    ("data", "method", "sentence"),
    [
        ([], "minmax", "there is nothing to calibrate on: no images were given"),
        (feeds([1]), "kl", "there is no calibration method 'kl'"),
        ([{"x": np.zeros((1, 2), np.float32)}], "minmax", "the model does not take this input"),
    ],
)
def test_what_cannot_be_calibrated_is_said(data: list[Feed], method: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        calibrate(linear(), None, data, method)


@pytest.mark.parametrize("percentile", [0, -1, 100.5])
def test_a_percentile_is_above_zero_and_at_most_a_hundred(percentile: float) -> None:
    with pytest.raises(EdgekitError, match="must be above 0 and at most 100"):
        Percentile(percentile)


class Stream:
    """Seeded images, made when they are asked for. Counts how many are in memory at once."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.alive: weakref.WeakSet[Tracked] = weakref.WeakSet()
        self.most = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Feed]:
        for seed in range(self.count):
            image = np.random.default_rng(seed).random((1, 3, 64, 64), np.float32).view(Tracked)
            self.alive.add(image)
            self.most = max(self.most, len(self.alive))
            yield {"images": image}


class Tracked(np.ndarray):
    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__  # type: ignore[assignment]


@pytest.mark.parametrize("method", METHODS)
def test_memory_does_not_grow_with_the_number_of_images(method: str) -> None:
    peaks = []
    for count in (40, 400):
        stream = Stream(count)
        tracemalloc.start()
        calibrate(toys.detector(), None, stream, method)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert stream.most <= 2  # the one that is asked for, while the last one is let go
    assert peaks[1] < peaks[0] + 10 * 3 * 64 * 64 * 4
