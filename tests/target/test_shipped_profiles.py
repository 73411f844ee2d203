"""The profiles that edgekit ships: what each of them promises, held against the tables of the providers."""

from __future__ import annotations

import json
import platform
from string import Template

import numpy as np
import pytest
import yaml

from edgekit import target
from edgekit.errors import TargetError
from edgekit.runtime import providers
from edgekit.target import Target, finding
from edgekit.target.inheritance import leaves
from edgekit.target.problem import dotted

NAMES = [
    *("cpu-x86_64", "cpu-arm64", "nxp-imx8mp", "nxp-imx93", "nxp-imx95"),
    *("amd-ryzenai", "amd-ryzenai-phx", "amd-versal-gen2", "rocm-migraphx"),
    *("apple-coreml", "intel-openvino", "nvidia-cuda", "windows-directml"),
]
CLAIMS = ("provider.options", "provider.versions", "precision", "scheme", "limits", "device", "files", "model_metadata")
PLACEHOLDERS = {"package": "/package", "cache": "/cache", "model_stem": "model"}

every_target = pytest.mark.parametrize("shipped", target.find_all(), ids=lambda t: t.name)


def claims(of: Target) -> list[str]:
    """The keys that a profile speaks of itself, those of its parents among them."""
    assert of.file is not None
    return [key for key in map(dotted, leaves(finding.assembled(of.file).data)) if key.startswith(CLAIMS)]


def pins() -> list[str]:
    return [f"{t.name}@{name}" for t in target.find_all() for name, image in t.images.items() if not image.unsupported]


def test_every_target_of_the_design_is_shipped() -> None:
    assert sorted(NAMES) == sorted(t.name for t in target.find_all())


@every_target
def test_a_target_says_what_it_is_for(shipped: Target) -> None:
    assert all((shipped.title, shipped.family, shipped.links))
    assert shipped.note or shipped.family == "cpu"
    assert all(link.startswith("https://") for link in shipped.links)


@every_target
def test_what_a_target_says_beyond_the_cpu_family_has_a_source(shipped: Target) -> None:
    if shipped.family != "cpu":
        unsaid = [key for key in claims(shipped) if key not in shipped.sources]
        assert [key for key in unsaid if not _from_the_cpu_family(shipped, key)] == []


def _from_the_cpu_family(of: Target, key: str) -> bool:
    """Whether the key is as the CPU targets have it, which are measured as a whole."""
    cpu, mine = target.load("cpu-arm64").to_dict(), of.to_dict()
    for part in key.split("."):
        cpu, mine = cpu.get(part, {}), mine.get(part, {})
    return cpu == mine and of.provider.name == providers.CPU


@every_target
def test_a_target_asks_its_provider_for_nothing_that_it_does_not_know(shipped: Target) -> None:
    provider = shipped.provider
    plugin = provider.plugin
    assert providers.known(provider.name, plugin.module if plugin else None) is not None
    assert (
        providers.flaws(
            provider.name,
            plugin.module if plugin else None,
            provider.options,
            shipped.environment,
            plugin.preload if plugin else (),
            provider.versions or "",
        )
        == []
    )


@every_target
def test_options_and_files_hold_only_placeholders_that_are_filled_in(shipped: Target) -> None:
    for text in (*shipped.provider.options.values(), *shipped.environment.values()):
        filled = Template(text).substitute(PLACEHOLDERS)
        if text.startswith("{"):
            json.loads(filled)
    for name, text in shipped.files.items():
        assert not name.endswith(".json") or json.loads(text)


@every_target
def test_a_file_that_an_option_points_to_is_shipped_or_asked_for_in_the_note(shipped: Target) -> None:
    for value in shipped.provider.options.values():
        if value.startswith("${package}/"):
            name = value.removeprefix("${package}/")
            assert name in shipped.files or name in shipped.note


@every_target
def test_a_cache_is_kept_exactly_where_an_option_names_its_folder(shipped: Target) -> None:
    named = any("${cache}" in value for value in shipped.provider.options.values())
    assert named == (shipped.cache == "directory")


@every_target
def test_a_target_that_runs_int8_says_how_it_is_made(shipped: Target) -> None:
    runs_int8 = "int8" in shipped.precision.allowed
    assert runs_int8 == (shipped.scheme is not None and shipped.quantizer is not None)


@every_target
def test_types_are_named_as_numpy_names_them(shipped: Target) -> None:
    assert [np.dtype(name).name for name in shipped.limits.dtypes] == list(shipped.limits.dtypes)


@every_target
def test_the_operators_that_a_target_quantizes_are_ones_that_its_provider_takes(shipped: Target) -> None:
    int8 = shipped.in_precision("int8")
    known = target.operator_list(int8)
    if known is not None and int8.scheme is not None:
        assert [name for name in int8.scheme.operators if not known.takes(name)] == []


@pytest.mark.parametrize("pin", pins())
def test_a_target_can_be_pinned_to_each_image_that_is_supported(pin: str) -> None:
    pinned = target.load(pin)
    assert pinned.provider.name in pinned.images[pinned.image or ""].providers
    target.operator_list(pinned)  # there, or none


@pytest.mark.parametrize("name", ["nxp-imx8mp", "nxp-imx93", "nxp-imx95"])
@pytest.mark.parametrize("image", ["6.6.3", "6.1.55"])
def test_an_image_whose_onnxruntime_is_too_old_is_refused(name: str, image: str) -> None:
    with pytest.raises(TargetError, match=r"onnxruntime 1\.16\.1 is older than 1\.17"):
        target.load(f"{name}@{image}")


@pytest.mark.parametrize("image", ["6.6.36", "6.6.23"])
def test_an_imx8mp_image_without_the_npu_is_a_cpu_target_like_the_others(image: str) -> None:
    pinned, cpu = target.load(f"nxp-imx8mp@{image}"), target.load("cpu-arm64")
    assert (pinned.provider, pinned.device, pinned.precision) == (cpu.provider, "cpu", cpu.precision)
    assert (pinned.scheme, pinned.cache, pinned.limits) == (cpu.scheme, "none", cpu.limits)
    assert "Cortex-A53" in pinned.note
    assert "int8 is not promised to be faster" in pinned.note
    assert "VSINPU" not in yaml.safe_dump({**pinned.sources, "facts": [f.value for f in pinned.facts.values()]})


def test_an_imx8mp_image_with_the_npu_is_for_its_onnxruntime() -> None:
    older, newer = target.load("nxp-imx8mp@6.12"), target.load("nxp-imx8mp@6.18.20")
    assert older.provider.name == newer.provider.name == "VSINPUExecutionProvider"
    assert (older.onnxruntime, older.limits.opset_max, older.limits.operator_list) == (">=1.22.0", 22, "vsinpu-1.22")
    assert (newer.onnxruntime, newer.limits.opset_max, newer.limits.operator_list) == (">=1.24.3", 22, "vsinpu-1.22")


@pytest.mark.parametrize("name", ["nxp-imx93", "nxp-imx95"])
def test_a_board_whose_npu_onnx_does_not_reach_says_so_and_what_does(name: str) -> None:
    board = target.load(name)
    assert board.provider.name == providers.CPU
    assert "Cortex-A55" in board.title
    assert all(word in board.note for word in ("NPU", "TFLite"))


def test_cpu_means_no_board(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert target.load("cpu").name == "cpu-arm64"


@pytest.mark.parametrize("name", ["amd-ryzenai", "amd-versal-gen2"])
def test_the_configuration_of_vitis_ai_names_the_passes_that_it_runs(name: str) -> None:
    configuration = json.loads(target.load(name).files["vitisai_config.json"])
    passes = [step["name"] for step in configuration["passes"]]
    assert {"name": configuration["target"], "pass": passes} in configuration["targets"]


def test_int8_on_ryzen_ai_takes_none_of_the_options_of_bf16() -> None:
    int8 = target.load("amd-ryzenai").in_precision("int8")
    assert int8.files == {}
    assert set(int8.provider.options) == {"target", "cache_dir", "cache_key", "enable_cache_file_io_in_mem"}
    assert set(int8.sources) >= {f"provider.options.{name}" for name in int8.provider.options}
