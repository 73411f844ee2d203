from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import ProviderError, TargetError
from edgekit.manifest import Interface, Manifest, Variant
from edgekit.runtime.devices import Device
from edgekit.runtime.selection import Machine, choose, obstacle, satisfies

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


def on(available: list[str], machine: str = "x86_64", onnxruntime: str = "1.32.0") -> Machine:
    return Machine(available, onnxruntime, machine)


@pytest.mark.parametrize(
    ("available", "machine", "expected"),
    [
        ([CPU], "x86_64", ["cpu-x86_64", "cpu"]),
        ([CPU], "aarch64", ["cpu-arm64", "cpu"]),
        ([CPU], "riscv64", ["cpu"]),
        ([GPU, CPU], "x86_64", ["cuda", "cpu-x86_64", "cpu"]),
        ([GPU, NPU, CPU], "aarch64", ["imx", "cuda", "cpu-arm64", "cpu"]),
    ],
)
def test_an_accelerator_comes_before_this_cpu_and_this_cpu_before_any(
    available: list[str], machine: str, expected: list[str]
) -> None:
    choice = choose(ALL, on(available, machine))
    assert [v.name for v in choice.candidates] == expected
    assert {name for name, _ in choice.passed_over} == {v.name for v in ALL.variants} - {expected[0]}
    assert choice.missed is None


def test_why_another_was_passed_over_is_said() -> None:
    reasons = dict(choose(ALL, on([CPU])).passed_over)
    assert reasons["imx"] == "VSINPUExecutionProvider is not in this onnxruntime 1.32.0"
    assert reasons["cpu-arm64"] == "for aarch64, this machine is x86_64"


def test_a_target_that_cannot_be_had_leaves_the_cpu_and_says_so() -> None:
    choice = choose(ALL, on([GPU, CPU]), target="imx")
    assert [v.name for v in choice.candidates] == ["cpu-x86_64", "cpu"]
    assert choice.missed == "variant imx cannot run here: VSINPUExecutionProvider is not in this onnxruntime 1.32.0"


def test_another_model_is_no_substitute_for_one_on_the_same_provider() -> None:
    package = Manifest((variant("cpu"), variant("cpu-x86_64", ort=">=1.40")))
    with pytest.raises(ProviderError, match=r"variant cpu-x86_64 cannot run here: needs onnxruntime >=1\.40"):
        choose(package, on([CPU]), target="cpu-x86_64")


def test_a_target_that_the_package_does_not_have_is_told() -> None:
    with pytest.raises(TargetError, match="no variant 'x', it has cpu"):
        choose(ALL, on([CPU]), target="x")


@pytest.mark.parametrize(
    ("device", "expected", "missed"),
    [
        ("cpu", "cpu-x86_64", None),
        ("cuda:1", "cuda", None),
        ("npu", "cpu-x86_64", "no variant of the package runs on npu here"),
        ("rocm", "cpu-x86_64", "no variant of the package runs on rocm here"),
    ],
)
def test_a_device_restricts_what_is_tried(device: str, expected: str, missed: str | None) -> None:
    choice = choose(ALL, on([GPU, CPU]), device=Device.parse(device))
    assert (choice.candidates[0].name, choice.missed) == (expected, missed)


def test_a_plugin_is_there_where_its_module_is_and_built_in_where_its_options_are_known() -> None:
    plugged = replace(variant("ov", "OpenVINOExecutionProvider"), plugin_module="onnxruntime_ep_openvino")
    assert obstacle(plugged, on(["onnxruntime_ep_openvino", CPU])) is None
    assert obstacle(plugged, on(["OpenVINOExecutionProvider", CPU])) == (
        "onnxruntime_ep_openvino, which brings OpenVINOExecutionProvider, is not installed"
    )
    either = replace(plugged, built_in={"device_type": "CPU"})
    assert obstacle(either, on(["OpenVINOExecutionProvider", CPU])) is None


def test_an_onnxruntime_that_is_too_old_is_named() -> None:
    old = Manifest((variant("cpu", ort=">=1.22"),))
    with pytest.raises(ProviderError, match=r"needs onnxruntime >=1\.22, this is 1\.17\.1"):
        choose(old, on([CPU], onnxruntime="1.17.1"))


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
