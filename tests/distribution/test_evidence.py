"""The tables of provider options against the libraries of the real providers, as their makers publish them.

A name proves itself by standing in the library as a text of its own. What no published library shows is listed here
with the source that it rests on, so that no name enters a table without either.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path

import pytest

from edgekit.runtime.providers import TABLES, Known, Option, coreml, cuda, directml, migraphx, openvino, qnn, vitisai
from edgekit.runtime.providers.known import NEVER
from tests import toys
from tests.distribution.conftest import NO_DEVICE

evidence = pytest.mark.evidence  # downloads 560 MB of wheels


@dataclass(frozen=True)
class Wheel:
    """A file on PyPI, and the library in it that reads the options of `table`."""

    table: Known
    requirement: str
    platform: str
    library: str


WHEELS = (
    Wheel(migraphx.BUILT_IN, "onnxruntime-migraphx==1.27.1", "manylinux_2_34_x86_64", "*_providers_migraphx.so"),
    Wheel(coreml.KNOWN, "onnxruntime==1.32.0", "macosx_14_0_arm64", "*/onnxruntime_pybind11_state.so"),
    Wheel(openvino.BUILT_IN, "onnxruntime-openvino==1.24.1", "manylinux_2_28_x86_64", "*_providers_openvino.so"),
    Wheel(openvino.PLUGIN, "onnxruntime-ep-openvino==1.8.1", "manylinux_2_28_x86_64", "*_openvino_plugin.so"),
    Wheel(cuda.KNOWN, "onnxruntime-gpu==1.31.1", "manylinux_2_28_x86_64", "*_providers_cuda.so"),
    Wheel(directml.KNOWN, "onnxruntime-directml==1.24.4", "win_amd64", "*/onnxruntime_pybind11_state.pyd"),
    Wheel(qnn.PLUGIN, "onnxruntime-qnn==2.7.0", "manylinux_2_35_x86_64", "*_providers_qnn.so"),
)

# By table: the names that no library shows, under the source that each rests on.
# Vitis AI is in no wheel on PyPI: there is no onnxruntime-vitisai, no file of voe can be had, and ryzenai is a project
# of somebody else in plain Python. onnxruntime-ep-migraphx there is an empty placeholder; AMD's index has the real one.
CITED: dict[Known, dict[str, set[str]]] = {
    vitisai.KNOWN: {
        vitisai.GUIDE: {"config_file", "target", "xclbin", "enable_cache_file_io_in_mem", "encryption_key", "opt_level"}
        | {"log_level"},
        vitisai.NOTES_14: {"cache_dir", "cache_key", "encryptionKey"},
        vitisai.BEFORE: {"cacheDir", "cacheKey"},
        vitisai.ANALYZER: {"ai_analyzer_visualization", "ai_analyzer_profiling"},
        vitisai.WINDOWS_ML: {"optimize_level"},
        vitisai.REPORT: {"XLNX_ONNX_EP_REPORT_FILE"},
        vitisai.NOTES_15: {"XLNX_VART_FIRMWARE", "XLNX_ENABLE_CACHE", "XLNX_TARGET_NAME"},
    },
    migraphx.BUILT_IN: {
        # AMD's own builds have them, for ROCm 7.1 and later; the wheel on PyPI is built from the upstream sources
        migraphx.GUIDE: {"migraphx_max_dynamic_batch", "migraphx_compile_batches", "migraphx_hip_graph_enable"}
        | {"hiprtc_disable_processes", "compute_mode"}
        | {"ORT_MIGRAPHX_MAX_DYNAMIC_BATCH", "ORT_MIGRAPHX_COMPILE_BATCHES", "ORT_MIGRAPHX_HIP_GRAPH_ENABLE"}
        | {"ORT_MIGRAPHX_COMPUTE_MODE", "ORT_MIGRAPHX_COALESCE_IO"},
        migraphx.GONE: {"migraphx_save_compiled_model", "migraphx_save_compiled_path"}
        | {"migraphx_load_compiled_model", "migraphx_load_compiled_path"},
        # read by the MIGraphX library below the provider
        "ROCm/AMDMIGraphX#5234": {"MIGRAPHX_DISABLE_WINOGRAD", "MIGRAPHX_SKIP_BENCHMARKING"},
    },
    migraphx.PLUGIN: {
        migraphx.OPTIONS: {"fp16_enable", "bf16_enable", "fp8_enable", "int8_enable", "int8_calibration_table_name"}
        | {"int8_use_native_calibration_table", "exhaustive_tune", "cache_dir", "disable_caching", "force_recompile"}
        | {"hip_graph_enable", "precompile_at_load", "coalesce_io", "cpu_control_flow", "device_id", "compute_mode"}
        | {"coresident_programs", "max_resident_programs", "max_dynamic_batch", "compile_batches", "static_pad_seq"}
        | {"static_pad_seq_len", "static_pad_inputs", "static_pad_outputs", "mlss_use_specific_ops", "model_arch"}
        | {"migraphx_fp16_enable", "migraphx_bf16_enable", "migraphx_fp8_enable", "migraphx_int8_enable"}
        | {"migraphx_exhaustive_tune", "migraphx_int8_use_native_calibration_table"}
        | {"migraphx_int8_calibration_table_name", "migraphx_model_cache_dir"},
        migraphx.VARIABLES: {"ORT_MIGRAPHX_FP16_ENABLE", "ORT_MIGRAPHX_BF16_ENABLE", "ORT_MIGRAPHX_FP8_ENABLE"}
        | {"ORT_MIGRAPHX_INT8_ENABLE", "ORT_MIGRAPHX_INT8_USE_NATIVE_CALIBRATION_TABLE", "ORT_MIGRAPHX_CACHE_DIR"}
        | {"ORT_MIGRAPHX_EXHAUSTIVE_TUNE", "ORT_MIGRAPHX_HIP_GRAPH_ENABLE", "ORT_MIGRAPHX_FORCE_RECOMPILE"}
        | {"ORT_MIGRAPHX_DISABLE_COMPILED_MODEL_CACHING", "ORT_MIGRAPHX_COALESCE_IO", "ORT_MIGRAPHX_MODEL_ARCH"}
        | {"ORT_MIGRAPHX_INT8_CALIBRATION_TABLE_NAME", "ORT_MIGRAPHX_COMPUTE_MODE", "ORT_MIGRAPHX_COMPILE_BATCHES"}
        | {"ORT_MIGRAPHX_MAX_DYNAMIC_BATCH", "ORT_MIGRAPHX_MLSS_USE_SPECIFIC_OPS"},
        "ROCm/AMDMIGraphX#5234": {"MIGRAPHX_DISABLE_WINOGRAD", "MIGRAPHX_SKIP_BENCHMARKING"},
    },
    directml.KNOWN: {
        directml.CODE: {"enable_dynamic_graph_fusion"},  # in the wheel 1.17.0, gone in 1.18.0
        directml.WHEEL: set(directml.SESSION),
    },
}


@dataclass(frozen=True)
class Library:
    """The bytes of a provider, and where they are."""

    table: Known
    folder: Path  # the whole wheel, unpacked
    file: Path

    @cached_property
    def content(self) -> bytes:
        return self.file.read_bytes()

    def has(self, text: str) -> bool:
        """Whether the text stands here by itself, not as a part of a longer name."""
        alone = rb"(?<![A-Za-z0-9_.])" + re.escape(text.encode()) + rb"(?![A-Za-z0-9_])"
        return re.search(alone, self.content) is not None


def entries(table: Known) -> Iterator[Option]:
    yield from table.options
    yield from table.environment


def cited(table: Known) -> dict[str, str]:
    return {name: source for source, names in CITED.get(table, {}).items() for name in names}


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.provider}-{t.plugin or 'built in'}")
def test_what_rests_on_a_source_alone_is_in_its_table_with_that_source(table: Known) -> None:
    sources = {o.name: o.source for o in entries(table)}
    assert {name: sources.get(name) for name in cited(table)} == cited(table)
    if table not in [w.table for w in WHEELS]:
        assert set(cited(table)) == set(sources)


@pytest.fixture(scope="session", params=WHEELS, ids=lambda w: w.requirement)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A provider's library, out of a wheel that is downloaded and not installed."""
    wheel: Wheel = request.param
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    where = ["--dest", str(folder), "--platform", wheel.platform, "--python-version", "3.11"]
    subprocess.run([*command, *where, wheel.requirement], check=True)
    file = next(folder.glob("*.whl"))
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
        (name,) = [n for n in archive.namelist() if fnmatch(n, wheel.library)]
    file.unlink()
    return Library(wheel.table, folder, folder / name)


@evidence
def test_every_name_stands_in_the_providers_library_or_is_cited_here(library: Library) -> None:
    absent = {o.name for o in entries(library.table) if not library.has(o.name)}
    assert absent == set(cited(library.table))


@evidence
def test_every_value_that_is_a_word_stands_in_the_providers_library(library: Library) -> None:
    # compilers compare shorter texts in registers: these leave no trace
    words = {v for o in entries(library.table) if o.name not in cited(library.table) for v in o.values if len(v) > 7}
    assert [word for word in sorted(words) if not library.has(word)] == []


@evidence
@pytest.mark.skipif(sys.platform != "linux", reason="the wheel of the plugin is for Linux")
@pytest.mark.parametrize("library", [w for w in WHEELS if w.table is openvino.PLUGIN], indirect=True)
def test_the_openvino_plugin_ignores_what_the_table_says_it_ignores(library: Library, tmp_path: Path) -> None:
    model = toys.save(toys.detector(), tmp_path / "m.onnx")
    code = (
        "import sys, onnxruntime as ort\n"
        "library, model, *names = sys.argv[1:]\n"
        "ort.register_execution_provider_library('openvino', library)\n"
        "device = next((d for d in ort.get_ep_devices() if d.ep_name == 'OpenVINOExecutionProvider'), None)\n"
        "print('none' if device is None else 'one')\n"
        "for name in names if device else ():\n"
        "    options = ort.SessionOptions()\n"
        "    options.add_provider_for_devices([device], {name: '1'})\n"
        "    ort.InferenceSession(model, options)\n"
    )
    ignored = [o.name for o in openvino.PLUGIN.options if o.until == NEVER]
    done = subprocess.run(
        [sys.executable, "-c", code, str(library.file), str(model), *ignored, "hint_enable_gqa"],
        capture_output=True,
        text=True,
        check=True,
    )
    if done.stdout.strip() == "none":
        pytest.skip(NO_DEVICE)
    assert re.findall(r"Provider option (\w+) is ignored", done.stderr) == ignored
