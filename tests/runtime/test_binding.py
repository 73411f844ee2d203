"""Tensors in and out without copies, on the CPU's provider."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper

from edgekit.errors import UsageError
from edgekit.runtime import Model, load
from tests import toys

SIDE = 512  # an output of 512 * 512 * 4 bytes: 1 MiB
MIB = 1 << 20


def doubler(shape: list[int | str]) -> Any:
    """y = x + x, and its sum."""
    nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0)]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    outputs = [
        helper.make_tensor_value_info("y", TensorProto.FLOAT, shape),
        helper.make_tensor_value_info("sum", TensorProto.FLOAT, []),
    ]
    graph = helper.make_graph(nodes, "doubler", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(toys.save(doubler([SIDE, SIDE]), tmp_path_factory.mktemp("m") / "m.onnx"), task="raw")


@pytest.fixture
def x() -> NDArray[np.float32]:
    return np.random.default_rng(5).random((SIDE, SIDE), np.float32)


def allocated(run: Callable[[], object]) -> int:
    """The most bytes that are allocated at once in the second run."""
    run()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


class OnlyDlpack:
    """An array of another library, which shows itself by DLPack alone."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("given", [ort.OrtValue.ortvalue_from_numpy, OnlyDlpack, np.asfortranarray])
def test_every_form_of_an_input_gives_the_same_results(model: Model, x: NDArray[np.float32], given: Any) -> None:
    outputs = model.run({"x": given(x)})
    assert list(outputs) == ["y", "sum"]
    np.testing.assert_array_equal(outputs["y"], x + x)
    assert outputs["sum"] == pytest.approx(x.sum(), rel=1e-4)


def test_outputs_are_written_where_the_caller_wants_them(model: Model, x: NDArray[np.float32]) -> None:
    place, value = np.zeros_like(x), ort.OrtValue.ortvalue_from_numpy(np.zeros_like(x))
    assert model.run({"x": x}, out={"y": place})["y"] is place
    np.testing.assert_array_equal(place, x + x)
    assert model.run({"x": x}, out={"y": value})["y"] is value
    np.testing.assert_array_equal(value.numpy(), x + x)


def test_outputs_stay_with_the_provider_on_request(model: Model, x: NDArray[np.float32]) -> None:
    outputs = model.run({"x": x}, on_device=True)
    assert [type(v) for v in outputs.values()] == [ort.OrtValue, ort.OrtValue]
    np.testing.assert_array_equal(model.run({"x": outputs["y"]})["y"], 4 * x)  # and go into the next run


def test_nothing_is_copied_where_the_memory_is_given(model: Model, x: NDArray[np.float32]) -> None:
    """numpy tells tracemalloc of each array's memory: neither input nor output (1 MiB each) is allocated."""
    place = np.zeros_like(x)
    assert allocated(lambda: model.run({"x": OnlyDlpack(x)}, out={"y": place})) < MIB // 10
    strided = np.asfortranarray(x)  # must be copied
    assert allocated(lambda: model.run({"x": strided}, out={"y": place})) >= MIB


def test_a_session_reads_and_writes_the_memory_itself(model: Model, x: NDArray[np.float32]) -> None:
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.data_ptr() == x.ctypes.data
    x[:] = 3
    assert (model.run({"x": value})["y"] == 6).all()


@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ({"z": np.zeros(1)}, "the model has no output 'z', it has y, sum"),
        ({"y": np.zeros((SIDE, SIDE))}, "output y is float32 [512, 512], the array for it float64 [512, 512]"),
        ({"y": np.zeros((2, 2), np.float32)}, "output y is float32 [512, 512], the array for it float32 [2, 2]"),
        ({"y": np.zeros((SIDE, SIDE), np.float32).T}, "the array for output y must be contiguous and writeable"),
        ({"y": [0.0]}, "output y is written to a numpy array or an OrtValue, not list"),
    ],
)
def test_a_place_that_does_not_fit_is_refused(
    model: Model, x: NDArray[np.float32], out: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as caught:
        model.run({"x": x}, out=out)
    assert str(caught.value) == sentence


def test_an_input_that_does_not_fit_is_refused(model: Model) -> None:
    small = ort.OrtValue.ortvalue_from_numpy(np.zeros((2, 2), np.float32))
    with pytest.raises(UsageError, match="does not take this input"):
        model.run({"x": small})


@pytest.mark.parametrize("on_device", [False, True])
def test_free_shapes_are_allocated_as_they_come(tmp_path: Path, on_device: bool) -> None:
    model = load(toys.save(doubler(["N", 2]), tmp_path / "m.onnx"), task="raw")
    for n in (1, 7, 3):
        x = np.full((n, 2), n, np.float32)
        y = model.run({"x": ort.OrtValue.ortvalue_from_numpy(x)}, on_device=on_device)["y"]
        np.testing.assert_array_equal(y.numpy() if on_device else y, x + x)
        np.testing.assert_array_equal(model.run({"x": x}, out={"y": np.empty((n, 2), np.float32)})["y"], x + x)


def test_the_session_can_be_made_anew_on_other_providers(toy_package: Path) -> None:
    model = load(toy_package)
    image = np.full((64, 64, 3), 90, np.uint8)
    feed = {name: array.copy() for name, array in model.prepare(image)[0].items()}
    before, session = model.raw(feed), model.session
    assert model.use(["CPUExecutionProvider"]) is model
    assert model.session is not session
    assert model.providers == ["CPUExecutionProvider"]
    assert model.provider_options == {"CPUExecutionProvider": {}}
    for name, array in model.raw(feed).items():
        np.testing.assert_array_equal(array, before[name])
    with pytest.raises(UsageError, match="no provider is given"):
        model.use([])
    assert model.providers == ["CPUExecutionProvider"]


def test_warming_up_takes_the_shape_that_is_given(tmp_path: Path) -> None:
    model = load(toys.save(doubler(["N", 2]), tmp_path / "m.onnx"), task="raw")
    model.warmup()
    with pytest.raises(UsageError, match="takes no image"):
        model.warmup((1, 2))
