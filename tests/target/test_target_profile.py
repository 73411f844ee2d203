"""What is shipped is true and complete; a target pinned to an image; the laws that targets obey."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit import target
from edgekit.errors import TargetError
from edgekit.runtime.session_keys import PORTABLE
from edgekit.target import Fact, Limits, Precision, Provider, Target, finding
from edgekit.target.inheritance import leaves, merge
from edgekit.target.problem import dotted

SHIPPED = sorted(finding.shipped().glob("*.yaml"))
CLAIMS = ("architecture", "provider.options", "scheme", "limits", "session_options", "environment", "images")
Writer = Callable[..., Path]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda f: f.stem)
def test_a_shipped_profile_is_valid(file: Path) -> None:
    assert target.validate(file) == []


@pytest.mark.parametrize("shipped", target.find_all(), ids=lambda t: t.name)
def test_every_claim_of_a_shipped_target_has_a_source(shipped: Target) -> None:
    assert shipped.file is not None
    stated = [dotted(key) for key in leaves(finding.assembled(shipped.file).data)]
    claims = [key for key in stated if key.startswith(CLAIMS)]
    assert [claim for claim in claims if claim not in shipped.sources] == []
    assert all(fact.source.strip() for fact in shipped.facts.values())


@pytest.mark.parametrize("shipped", target.find_all(), ids=lambda t: t.name)
def test_a_shipped_target_sets_only_session_options_that_exist(shipped: Target) -> None:
    assert set(shipped.session_options) <= PORTABLE


@pytest.mark.parametrize("shipped", target.find_all(), ids=lambda t: t.name)
def test_a_target_is_the_same_after_a_round_trip_through_plain_data(shipped: Target) -> None:
    assert Target.from_dict(shipped.to_dict()) == shipped


def test_the_cpu_targets_are_kept_to_what_the_oldest_onnxruntime_reads() -> None:
    for name in ("cpu-x86_64", "cpu-arm64"):
        limits = target.load(name).limits
        assert (limits.opset_max, limits.ir_max) == (20, 9)


def test_an_abstract_parent_is_not_listed() -> None:
    assert "cpu-family" not in [t.name for t in target.find_all()]


def test_looking_for_a_target_loads_neither_numpy_nor_onnxruntime() -> None:
    heavy = "{'numpy', 'onnx', 'onnxruntime', 'packaging'}"
    code = f"import sys; from edgekit import target; target.find_all(); print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


IMAGES = """\
device: npu
limits: {opset_max: 22, ir_max: 9}
images:
  6.10: {onnxruntime: 1.22.0, providers: [CPUExecutionProvider], opset_max: 20, ir_max: 10}
  "6.6":
    onnxruntime: 1.17.1
    providers: [CPUExecutionProvider]
    override: {device: cpu, note: CPU only, limits: {opset_max: null}}
  6.1: {onnxruntime: 1.16.1, providers: [CPUExecutionProvider], unsupported: onnxruntime 1.16.1 is older than 1.17}
  5.4: {onnxruntime: 1.17.0, providers: [ArmNNExecutionProvider]}
"""


def test_a_pinned_target_keeps_to_the_lower_limit_and_to_the_images_onnxruntime(folder: Path, write: Writer) -> None:
    write(folder, "board", IMAGES)
    pinned = target.load("board@6.10")
    assert (pinned.limits.opset_max, pinned.limits.ir_max) == (20, 9)
    assert (pinned.name, pinned.image, pinned.onnxruntime, pinned.device) == ("board", "6.10", ">=1.22.0", "npu")


def test_an_image_overrides_what_differs_on_it(folder: Path, write: Writer) -> None:
    write(folder, "board", IMAGES)
    pinned = target.load("board@6.6")
    assert (pinned.device, pinned.note, pinned.limits.opset_max) == ("cpu", "CPU only", None)
    assert target.load("board").device == "npu"


def test_an_image_can_be_what_another_profile_says(folder: Path, write: Writer) -> None:
    text = "device: npu\nimages:\n  a: {onnxruntime: 1.17.1, providers: [CPUExecutionProvider], profile: slow}\n"
    write(folder, "board", text)
    write(folder, "slow", "abstract: true\nnote: CPU only\nlimits: {opset_max: 20}\n")
    pinned = target.load("board@a")
    assert (pinned.name, pinned.image, pinned.device, pinned.note) == ("board", "a", "cpu", "CPU only")
    assert (pinned.limits.opset_max, pinned.onnxruntime) == (20, ">=1.17.1")
    with pytest.raises(TargetError, match="slow is what other profiles extend"):
        target.load("slow")


def test_what_an_image_says_has_to_be_there(folder: Path, write: Writer) -> None:
    text = "images:\n  a:\n    onnxruntime: 1.17.1\n    providers: []\n    profile: slwo\n"
    write(folder, "slow", "abstract: true\n")
    (problem,) = target.validate(write(folder, "board", text))
    assert (problem.line, problem.key, problem.suggestion) == (9, "images.a.profile", "slow")


@pytest.mark.parametrize(("precision", "device"), [("int8", "npu"), ("fp32", "cpu")])
def test_a_precision_can_differ(folder: Path, write: Writer, precision: str, device: str) -> None:
    write(folder, "board", "by_precision:\n  int8: {override: {device: npu}}\n")
    assert target.load("board").in_precision(precision).device == device


def test_a_precision_that_is_none_is_told(tmp_path: Path, write: Writer) -> None:
    (problem,) = target.validate(write(tmp_path, "board", "by_precision:\n  int9: {}\n"))
    assert (problem.line, problem.key, problem.suggestion) == (6, "by_precision.int9", "int8")


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        ("6.1", "board@6.1 is not supported: onnxruntime 1.16.1 is older than 1.17"),
        ("6.12", "board has no image '6.12', it has 6.10, 6.6, 6.1, 5.4"),
        ("5.4", "board@5.4 has no CPUExecutionProvider: its onnxruntime 1.17.0 carries ArmNNExecutionProvider"),
    ],
)
def test_an_image_that_cannot_be_used_is_refused_with_the_reason(
    folder: Path, write: Writer, image: str, reason: str
) -> None:
    write(folder, "board", IMAGES)
    with pytest.raises(TargetError) as caught:
        target.load(f"board@{image}")
    assert str(caught.value) == reason
    assert caught.value.exit_code == 2


def test_a_target_without_images_cannot_be_pinned() -> None:
    with pytest.raises(TargetError, match="cannot be pinned"):
        target.load("cpu-arm64@6.12")


texts = st.text(max_size=8)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(texts, plain, max_size=4)
keys = st.sampled_from([f for f in Target.__dataclass_fields__ if f not in ("image", "file")])


@given(st.dictionaries(keys, plain, max_size=5))
def test_any_data_is_either_a_target_or_refused(data: dict[str, object]) -> None:
    with suppress(TargetError):
        assert isinstance(Target.from_dict(data), Target)


@given(mappings, mappings)
def test_what_the_child_says_holds(parent: dict[str, object], child: dict[str, object]) -> None:
    assert merge(merge(parent, child), child) == merge(parent, child)
    assert merge({}, child) == child
    assert merge(parent, {}) == parent


@given(
    limits=st.builds(
        Limits,
        opset_max=st.none() | st.integers(7, 40),
        batch=st.none() | st.integers(1, 9),
        static_shapes=st.booleans(),
        supported_operators=st.none() | st.lists(texts, max_size=3).map(tuple),
    ),
    facts=st.dictionaries(texts, st.builds(Fact, texts, texts), max_size=2),
    environment=st.dictionaries(texts, texts, max_size=2),
)
def test_a_target_survives_plain_data(limits: Limits, facts: dict[str, Fact], environment: dict[str, str]) -> None:
    board = Target("board", "A board", Provider("CPUExecutionProvider"), Precision("fp32", ("fp32",)))
    board = replace(board, limits=limits, facts=facts, environment=environment)
    assert Target.from_dict(board.to_dict()) == board
