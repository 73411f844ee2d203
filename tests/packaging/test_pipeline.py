from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import pytest

from edgekit.errors import ModelError
from edgekit.packaging import pipeline
from edgekit.packaging.passes import PassResult, copy
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.probe import Probe, compare
from tests import toys


@dataclass(frozen=True)
class Spoil:
    """Doubles the outputs: a pass with a bug."""

    tolerance: float | None = 1e-3
    optional: bool = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        out = copy(model)
        scale = next(i for i in out.graph.initializer if i.name == "scale")
        scale.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(scale) * 2, "scale"))
        return PassResult(out, changed=True)


@pytest.fixture
def probe() -> Probe:
    rng = np.random.default_rng(1)
    return Probe.of(toys.detector(), [{"images": rng.random((1, 3, 64, 64), np.float32)}])


def quiet(step: str) -> None: ...


def test_a_pass_that_changes_outputs_is_found(probe: Probe) -> None:
    with pytest.raises(ModelError, match="Spoil moved output output0"):
        pipeline.apply([Spoil()], toys.detector(), probe, quiet)


def test_an_optional_pass_that_changes_outputs_is_left_out(probe: Probe) -> None:
    model, history = pipeline.apply([Spoil(optional=True)], toys.detector(), probe, quiet)
    assert model == toys.detector()
    assert not history[0].changed
    assert "left out: Spoil moved output output0" in history[0].notes[0]


def test_a_difference_that_is_the_purpose_is_measured(probe: Probe) -> None:
    _, history = pipeline.apply([Spoil(tolerance=None)], toys.detector(), probe, quiet)
    reference = probe.reference[0]["output0"]
    assert history[0].differences["output0"].max_abs == pytest.approx(float(reference.max()), rel=1e-5)


def test_the_history_counts_operators(probe: Probe) -> None:
    _, history = pipeline.apply([Simplify()], toys.detector(), probe, quiet)
    data = history[0].to_dict()
    assert data["operators"]["Concat"] == [1, 0]
    assert data["nodes"][1] < data["nodes"][0]


@pytest.mark.parametrize(
    ("reference", "found", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([np.nan, 1.0], [np.nan, 1.0], 0.0),
        ([1.0, 2.0], [np.nan, 2.0], np.inf),
        ([np.inf, 2.0], [np.inf, 2.0], 0.0),
        ([], [], 0.0),
    ],
)
def test_nan_and_infinity_are_compared_as_values(reference: list[float], found: list[float], expected: float) -> None:
    assert compare(np.array(reference), np.array(found)).max_abs == expected
