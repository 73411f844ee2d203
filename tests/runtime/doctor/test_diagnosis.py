"""Doctor's verdicts. The trees of files and the distributions stand in for machines that are not here."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from edgekit import target
from edgekit.runtime.doctor import diagnosis, distributions, machine, probe
from edgekit.runtime.providers import CPU, TABLES

HERE: dict[str, Any] = {"version": "1.32.0", "providers": {CPU: None}, "plugins": {}}
MISSING = "MIGraphXExecutionProvider cannot load: libmigraphx_c.so.3 is missing"


def written(root: Path, **files: str) -> Path:
    for name, content in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def distribution(folder: Path, name: str, *files: str) -> metadata.Distribution:
    """What pip leaves of an installed package."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    return metadata.PathDistribution(info)


def test_two_packages_of_one_module_are_both_named_with_the_way_out(tmp_path: Path) -> None:
    found = distributions.installed(
        [
            distribution(tmp_path, "onnxruntime", "onnxruntime/__init__.py"),
            distribution(tmp_path, "onnxruntime-gpu", "onnxruntime/__init__.py"),
            distribution(tmp_path, "onnxruntime-ep-openvino", "onnxruntime_ep_openvino/__init__.py"),
            distribution(tmp_path, "numpy", "numpy/__init__.py"),
        ]
    )
    assert [(d.name, d.owns_module) for d in found] == [
        ("onnxruntime", True),
        ("onnxruntime-ep-openvino", False),
        ("onnxruntime-gpu", True),
    ]
    said = distributions.accident(found) or ""
    assert "onnxruntime and onnxruntime-gpu are one and the same Python module" in said
    assert "pip uninstall -y onnxruntime onnxruntime-gpu" in said
    assert distributions.accident(found[:2]) is None


@pytest.mark.parametrize(
    ("name", "answer", "architecture", "reason"),
    [
        ("cpu-x86_64", {}, "x86_64", None),
        ("cpu-arm64", {}, "x86_64", "it is for aarch64"),
        ("nxp-imx8mp", {}, "aarch64", "VSINPUExecutionProvider is not in this onnxruntime"),
        ("nxp-imx8mp", {"providers": {"VSINPUExecutionProvider": None}}, "aarch64", None),
        ("intel-openvino", {}, "x86_64", "onnxruntime_ep_openvino, which brings OpenVINOExecutionProvider"),
        ("intel-openvino", {"providers": {"OpenVINOExecutionProvider": None}}, "x86_64", None),
        ("intel-openvino", {"plugins": {"onnxruntime_ep_openvino": {"wrong": None}}}, "x86_64", None),
        ("intel-openvino", {"plugins": {"onnxruntime_ep_openvino": {"wrong": "it breaks"}}}, "x86_64", "it breaks"),
        ("intel-openvino", {"version": "1.22.0"}, "x86_64", "it needs onnxruntime >=1.23, this is 1.22.0"),
        ("rocm-migraphx", {"providers": {"MIGraphXExecutionProvider": MISSING}}, "x86_64", MISSING),
        ("cpu-x86_64", {"error": "onnxruntime is not installed"}, "x86_64", "onnxruntime is not installed"),
    ],
)
def test_the_verdict_on_a_target_gives_the_reason(
    name: str, answer: dict[str, Any], architecture: str, reason: str | None
) -> None:
    found = diagnosis.verdict(target.load(name), {**HERE, **answer}, architecture)
    assert (found.reason is None) == (reason is None)
    assert (found.reason or "").startswith(reason or "")
    assert found.install


def test_what_to_install_is_known_of_every_provider() -> None:
    assert [table.provider for table in TABLES if not table.install] == []


def test_the_form_that_is_here_is_the_one_to_complete() -> None:
    rocm = target.load("rocm-migraphx")
    broken = {**HERE, "providers": {CPU: None, "MIGraphXExecutionProvider": MISSING}}
    assert "libmigraphx_c" in diagnosis.verdict(rocm, broken, "x86_64").install
    assert "onnxruntime-ep-migraphx" in diagnosis.verdict(rocm, HERE, "x86_64").install


def test_the_probe_runs_the_smallest_model_on_what_is_here() -> None:
    answer = probe.ask()
    assert answer["providers"][CPU] is None
    assert CPU in answer["compiled"]


def test_a_crash_of_a_library_is_a_sentence(tmp_path: Path) -> None:
    """A stand-in for an interpreter whose onnxruntime crashes."""
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -SEGV $$\n")
    python.chmod(0o755)
    assert probe.ask(str(python)) == {"error": "loading onnxruntime and its providers ends with code -11"}


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("raise ImportError('libstdc++.so.6: version GLIBCXX_3.4.32 not found')", "is installed and cannot load"),
        ("", "onnxruntime is installed in part only"),
    ],
    ids=["broken", "in part"],
)
def test_a_broken_onnxruntime_is_a_sentence(tmp_path: Path, module: str, sentence: str) -> None:
    written(tmp_path, onnxruntime____init__="")
    (tmp_path / "onnxruntime").mkdir(exist_ok=True)
    (tmp_path / "onnxruntime" / "__init__.py").write_text(module)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nfrom edgekit import cli\ncli.main(['doctor', '--json'])"
    environment = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "EDGEKIT_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, sentence in done.stdout) == (0, True), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_features_are_read_and_told(tmp_path: Path) -> None:
    x86 = machine.features(written(tmp_path / "a", proc__cpuinfo="flags\t\t: fpu avx2 avx512_vnni\n"))
    arm = machine.features(written(tmp_path / "b", proc__cpuinfo="Features\t: fp asimd asimddp i8mm\n"))
    assert (x86, arm) == (("avx2", "avx512_vnni"), ("asimddp", "i8mm"))
    assert "is fast" in machine.int8(x86, "x86_64")
    assert "reduce_range" in machine.int8(("avx2",), "x86_64")
    assert "runs on dot products" in machine.int8(arm, "aarch64")
    assert "gains little" in machine.int8(("sve",), "aarch64")
    assert machine.features(tmp_path / "nowhere") == ()


def test_drivers_are_told_by_what_can_be_opened(tmp_path: Path) -> None:
    assert machine.drivers(tmp_path) == []
    written(tmp_path, sys__module__amdgpu__version="6", sys__module__amdxdna__x="", dev__galcore="")
    found = {driver.name: driver for driver in machine.drivers(tmp_path)}
    assert {name: driver.usable for name, driver in found.items()} == {
        "amdgpu": False,
        "amdxdna": False,
        "galcore": True,
    }
    assert "/dev/kfd" in found["amdgpu"].state
    written(tmp_path, dev__kfd="")
    assert machine.drivers(tmp_path)[0].usable


def test_a_cache_folder_that_is_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert machine.cache(tmp_path / "file")[1] is False
    assert machine.cache(tmp_path / "new" / "folder")[1] is True
