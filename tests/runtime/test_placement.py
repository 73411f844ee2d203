"""Where nodes run, and whether it is enough."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import GateMissed
from edgekit.runtime import Model, load, placement
from edgekit.runtime.opening import Opening
from edgekit.runtime.placement import Node, Placement
from edgekit.runtime.providers import CPU
from tests import toys

NPU = "VSINPUExecutionProvider"
nodes = st.lists(
    st.builds(Node, st.text(max_size=3), st.sampled_from(["Conv", "Add", "QGemm"]), st.sampled_from([CPU, NPU]))
)


@pytest.mark.parametrize("operator", ["Conv", "QLinearConv", "ConvTranspose", "FusedMatMul", "QGemm", "MatMulInteger"])
def test_convolutions_and_products_have_weight(operator: str) -> None:
    assert Node("n", operator, CPU).weighted


@pytest.mark.parametrize("operator", ["Add", "Cast", "Converter", "Concat"])
def test_other_operators_have_none(operator: str) -> None:
    assert not Node("n", operator, CPU).weighted


@given(nodes)
def test_shares_are_counted_node_by_node(some: list[Node]) -> None:
    placed = Placement.of(some)
    weighted = [node for node in some if node.weighted]
    assert sum(placed.nodes.values()) == len(some)
    assert list(placed.left) == [node for node in weighted if node.provider == CPU]
    if any(node.provider == NPU for node in some):
        expected = sum(node.provider == NPU for node in weighted) / len(weighted) if weighted else 1.0
        assert placed.weighted_share(NPU) == pytest.approx(expected)
    else:
        assert placed.weighted_share(NPU) == 0


PARTLY = [Node("c1", "Conv", NPU), Node("c2", "Conv", NPU), Node("c3", "Conv", CPU), Node("a", "Add", CPU)]


def test_less_than_promised_names_what_the_cpu_runs() -> None:
    Placement.of(PARTLY).require(NPU, least=0.66)
    with pytest.raises(GateMissed) as caught:
        Placement.of(PARTLY).require(NPU, least=0.9)
    assert str(caught.value) == (
        f"{NPU} took 66.7% of the Conv, Gemm and MatMul nodes, 90.0% were to be expected; on the CPU: c3 (Conv)"
    )


def test_without_a_promise_all_of_them_are_wanted() -> None:
    with pytest.raises(GateMissed, match=r"100\.0% were to be expected; on the CPU: c3 \(Conv\)"):
        Placement.of(PARTLY).require(NPU, least=None)


def test_a_provider_that_takes_nothing_is_missed_whatever_was_promised() -> None:
    with pytest.raises(GateMissed, match=r"took 0\.0%"):
        Placement.of([Node("a", "Add", CPU)]).require(NPU, least=0.0)


def test_a_profile_counts_what_is_left_against_the_whole_model() -> None:
    """A provider that compiles shows one node there, whatever it took."""
    placed = Placement.of([Node("program", "NPU_1", NPU), Node("c3", "Conv", CPU)], "profiled")
    assert placed.weighted_share(NPU, total=64) == pytest.approx(63 / 64)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    return load(toys.save(toys.detector(metadata=toys.METADATA), tmp_path_factory.mktemp("m") / "m.onnx"))


def test_the_record_and_a_profiled_run_agree(model: Model) -> None:
    recorded = model.placement
    feed = model.prepare(np.zeros((64, 64, 3), np.uint8))[0]
    profiled = placement.profiled(Opening(model.path).session, feed)
    assert recorded is not None
    assert (recorded.how, profiled.how) == ("recorded", "profiled")
    for placed in (recorded, profiled):
        assert set(placed.nodes) == {CPU}
        assert placed.share(CPU) == 1
    assert profiled.weighted == recorded.weighted


def test_a_profiled_run_leaves_no_file(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    placement.profiled(Opening(model.path).session, model.prepare(np.zeros((64, 64, 3), np.uint8))[0])
    assert list(tmp_path.iterdir()) == []
