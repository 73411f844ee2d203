from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import ProviderError, TargetError
from edgekit.manifest import Interface, Manifest, Variant
from edgekit.runtime.selection import choose, satisfies

CPU, NPU, GPU = "CPUExecutionProvider", "VSINPUExecutionProvider", "CUDAExecutionProvider"


def variant(
    name: str, provider: str = CPU, device: str = "cpu", machines: tuple[str, ...] = (), ort: str = ">=1.17"
) -> Variant:
    interface = Interface((), (), "detect", "yolov8")
    return Variant(
        name,
        ".",
        "model.onnx",
        name,
        provider,
        "fp32",
        interface,
        device=device,
        architectures=machines,
        requirements={"onnxruntime": ort},
    )


ALL = Manifest(
    (
        variant("cpu"),
        variant("cpu-x86_64", machines=("x86_64",)),
        variant("cpu-arm64", machines=("aarch64",)),
        variant("cuda", GPU, "gpu"),
        variant("imx", NPU, "npu"),
    )
)


@pytest.mark.parametrize(
    ("available", "machine", "expected"),
    [
        ([CPU], "x86_64", "cpu-x86_64"),
        ([CPU], "aarch64", "cpu-arm64"),
        ([CPU], "riscv64", "cpu"),
        ([GPU, CPU], "x86_64", "cuda"),
        ([GPU, NPU, CPU], "aarch64", "imx"),
    ],
)
def test_an_accelerator_comes_before_this_cpu_and_this_cpu_before_any(
    available: list[str], machine: str, expected: str
) -> None:
    choice = choose(ALL, target=None, available=available, onnxruntime="1.32.0", machine=machine)
    assert choice.variant.name == expected
    assert {name for name, _ in choice.passed_over} == {v.name for v in ALL.variants} - {expected}


def test_why_another_was_passed_over_is_said() -> None:
    choice = choose(ALL, target=None, available=[CPU], onnxruntime="1.32.0", machine="x86_64")
    reasons = dict(choice.passed_over)
    assert reasons["imx"] == "VSINPUExecutionProvider is not in this onnxruntime 1.32.0"
    assert reasons["cpu-arm64"] == "for aarch64, this machine is x86_64"


def test_a_target_that_was_asked_for_is_never_replaced() -> None:
    with pytest.raises(ProviderError, match="variant imx cannot run here"):
        choose(ALL, target="imx", available=[CPU], onnxruntime="1.32.0", machine="x86_64")
    with pytest.raises(TargetError, match="no variant 'x', it has cpu"):
        choose(ALL, target="x", available=[CPU], onnxruntime="1.32.0", machine="x86_64")


def test_an_onnxruntime_that_is_too_old_is_named() -> None:
    old = Manifest((variant("cpu", ort=">=1.22"),))
    with pytest.raises(ProviderError, match=r"needs onnxruntime >=1\.22, this is 1\.17\.1"):
        choose(old, target=None, available=[CPU], onnxruntime="1.17.1", machine="x86_64")


versions = st.lists(st.integers(0, 99), min_size=1, max_size=4)


@given(versions, versions)
def test_versions_are_ordered_by_number(one: list[int], other: list[int]) -> None:
    def text(version: list[int]) -> str:
        return ".".join(map(str, version))

    def padded(version: list[int]) -> list[int]:
        return version + [0] * (4 - len(version))

    assert satisfies(text(one), f">={text(other)}") == (padded(one) >= padded(other))
    assert satisfies(text(one), f"<{text(other)}") == (padded(one) < padded(other))


@pytest.mark.parametrize(
    ("version", "wanted"), [("1.22.0+rocm7", ">=1.22"), ("1.23.0rc1", ">=1.17,<2"), ("1.17.1", "")]
)
def test_builds_with_suffixes_are_read(version: str, wanted: str) -> None:
    assert satisfies(version, wanted)
