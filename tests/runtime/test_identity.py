"""What a provider is on this machine. The trees of files stand in for /sys and /proc of machines that are not here."""

from __future__ import annotations

import plistlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgekit.runtime import identity
from edgekit.runtime.identity import Identity
from edgekit.runtime.request import Request

ORT: Any = SimpleNamespace(__version__="1.32.0")


def written(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def test_the_cpus_provider_is_onnxruntime_itself(tmp_path: Path) -> None:
    assert identity.of(ORT, Request(), tmp_path) == Identity("1.32.0")


@pytest.mark.parametrize(
    "provider", ["MIGraphXExecutionProvider", "VitisAIExecutionProvider", "CoreMLExecutionProvider"]
)
def test_what_is_not_there_is_not_known(tmp_path: Path, provider: str) -> None:
    assert identity.of(ORT, Request(provider), tmp_path).driver is None


def test_migraphx_is_its_library_the_architectures_and_the_driver(tmp_path: Path) -> None:
    nodes = "sys/class/kfd/kfd/topology/nodes"
    written(
        tmp_path,
        {
            f"{nodes}/0/properties": "cpu_cores_count 16\ngfx_target_version 0\n",
            f"{nodes}/1/properties": "simd_count 64\ngfx_target_version 120001\n",
            "sys/module/amdgpu/version": "6.14.14\n",
            "opt/rocm/lib/libmigraphx_c.so.3.0.70200": "",
        },
    )
    (tmp_path / "opt/rocm/lib/libmigraphx_c.so.3").symlink_to("libmigraphx_c.so.3.0.70200")
    found = identity.of(ORT, Request("MIGraphXExecutionProvider"), tmp_path)
    assert found == Identity("1.32.0; libmigraphx_c.so.3.0.70200", "120001", "6.14.14")


def test_a_library_that_is_not_found_leaves_the_release_unknown(tmp_path: Path) -> None:
    assert identity.of(ORT, Request("MIGraphXExecutionProvider"), tmp_path).version is None


def test_vitis_ai_is_its_npu_and_the_driver(tmp_path: Path) -> None:
    device = "sys/class/accel/accel0/device"
    written(tmp_path, {f"{device}/vendor": "0x1022\n", f"{device}/device": "0x17f0\n", f"{device}/revision": "0x11\n"})
    written(tmp_path, {"sys/module/amdxdna/parameters/x": ""})
    found = identity.of(ORT, Request("VitisAIExecutionProvider"), tmp_path)
    assert found.device == "0x1022 0x17f0 0x11"
    assert (found.driver or "").startswith("amdxdna of ")  # a module of the kernel's own has its release
    assert found.version is None  # voe is not installed


def test_core_ml_changes_with_the_build_of_macos(tmp_path: Path) -> None:
    plist = plistlib.dumps({"ProductVersion": "15.1", "ProductBuildVersion": "24B83"})
    written(tmp_path, {"System/Library/CoreServices/SystemVersion.plist": plist})
    found = identity.of(ORT, Request("CoreMLExecutionProvider"), tmp_path)
    assert (found.version, found.driver) == ("1.32.0", "24B83")


def test_cuda_is_its_gpus_and_the_driver(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar 5\n",
            "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA L4\nIRQ: 16\n",
        },
    )
    found = identity.of(ORT, Request("CUDAExecutionProvider"), tmp_path)
    assert found == Identity("1.32.0", "NVIDIA L4", "550.54.15")


def test_a_damaged_file_is_as_good_as_none(tmp_path: Path) -> None:
    written(tmp_path, {"System/Library/CoreServices/SystemVersion.plist": b"\x00"})
    assert identity.of(ORT, Request("CoreMLExecutionProvider"), tmp_path).driver is None
