"""Devices, providers and options as a user names them, and what becomes of each."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit import manifest, packaging
from edgekit.errors import EdgekitError, ProviderError, UsageError
from edgekit.runtime import load, opening, session_keys
from edgekit.runtime.devices import NAMES, Device
from edgekit.runtime.placeholders import fill
from edgekit.runtime.providers import CPU
from tests.conftest import ROOT

SHAPES = ROOT / "examples" / "shapes" / "shapes.onnx"
SCENE = ROOT / "examples" / "shapes" / "scene.jpg"


@pytest.mark.parametrize("text", ["auto", "cpu", "cuda", "cuda:0", "cuda:12", "mps", "dml", "npu", "rocm", "rocm:1"])
def test_a_device_reads_as_it_is_written(text: str) -> None:
    assert str(Device.parse(text)) == text


@given(st.text(max_size=8))
def test_any_text_is_a_device_or_refused(text: str) -> None:
    with suppress(UsageError):
        assert str(Device.parse(text)).split(":")[0] in {name.split("[")[0] for name in NAMES}


@pytest.mark.parametrize("text", ["gpu", "cpu:1", "npu:0", "cuda:", "cuda:x", ""])
def test_other_devices_are_refused_with_the_list(text: str) -> None:
    with pytest.raises(UsageError, match=r"it is one of auto, cpu, cuda\[:n\], mps"):
        load(SHAPES, device=text)


@pytest.mark.parametrize(
    ("said", "provider"),
    [
        ({"device": "cuda:1"}, "CUDAExecutionProvider"),
        ({"device": "rocm"}, "MIGraphXExecutionProvider"),
        ({"device": "mps"}, "CoreMLExecutionProvider"),
        ({"device": "dml"}, "DmlExecutionProvider"),
        ({"providers": ["VitisAIExecutionProvider"]}, "VitisAIExecutionProvider"),
        ({"providers": [("OpenVINOExecutionProvider", {}), CPU]}, "OpenVINOExecutionProvider"),
        ({"providers": ["MyExecutionProvider"]}, "MyExecutionProvider"),
    ],
)
def test_a_provider_that_is_not_here_costs_a_sentence_and_the_cpu_runs(said: dict[str, Any], provider: str) -> None:
    model = load(SHAPES, **said)
    sentence = f"{provider} is not in this onnxruntime {ort.__version__} (it has "
    assert (model.fallback or "").startswith(sentence)
    assert model.providers == [CPU]
    with pytest.raises(ProviderError) as caught:
        load(SHAPES, fallback="error", **said)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"device": "npu"}, "a model file does not say which NPU"),
        ({"target": "cpu"}, "has no variants to choose from"),
        ({"providers": []}, "no provider is given"),
        ({"fallback": "never"}, 'fallback is "warn" or "error"'),
        ({"session_options": {"session.intra_op.allow_spining": "0"}}, "no session option 'session.intra_op.allow_sp"),
    ],
)
def test_what_cannot_be_meant_is_refused(said: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        load(SHAPES, **said)


def test_a_mistyped_session_option_gets_the_nearest_one() -> None:
    with pytest.raises(UsageError) as caught:
        session_keys.check(["session.intra_op.allow_spining"])
    assert caught.value.hint == "session.intra_op.allow_spinning"
    session_keys.check(["ep.context_enable", "ep.openvinoexecutionprovider.load_config", "session.disable_prepacking"])


def test_a_mistyped_option_of_a_provider_gets_the_nearest_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ort, "get_available_providers", lambda: ["CUDAExecutionProvider", CPU])
    with pytest.raises(UsageError) as caught:
        opening.of_user([("CUDAExecutionProvider", {"device_idd": 1})])
    assert (str(caught.value), caught.value.hint) == ("CUDAExecutionProvider has no option device_idd", "device_id")
    (request,) = opening.of_device(Device("cuda", 1))
    assert request.built_in == ("CUDAExecutionProvider", {"device_id": "1"})


def test_options_of_a_whole_session_are_taken_as_they_are() -> None:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 3
    assert load(SHAPES, session_options=options).session.get_session_options().intra_op_num_threads == 3


@pytest.mark.parametrize("arguments", [["--provider-option", "a=b"], ["--provider", CPU, "--provider-option", "a"]])
def test_half_an_option_on_the_command_line_is_refused(edgekit: Any, arguments: list[str]) -> None:
    result = edgekit("run", SHAPES, SCENE, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr


@pytest.fixture
def package(toy_package: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy_package, tmp_path / "p"))


ABSENT = {
    "apple-coreml": "CoreMLExecutionProvider is not in this onnxruntime",
    "nvidia-cuda": "CUDAExecutionProvider is not in this onnxruntime",
    "amd-ryzenai": "VitisAIExecutionProvider is not in this onnxruntime",
    "nxp-imx8mp": "VSINPUExecutionProvider is not in this onnxruntime",
    "rocm-migraphx": "onnxruntime_ep_migraphx, which brings MIGraphXExecutionProvider, is not installed",
}


@pytest.fixture(scope="module")
def for_all(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo model for accelerators that are not here."""
    folder = tmp_path_factory.mktemp("all")
    return packaging.package(SHAPES, list(ABSENT), output=folder / "p", precision="fp32").path


@pytest.mark.parametrize("target", ABSENT)
def test_an_accelerator_that_is_not_here_costs_a_sentence_or_the_run(edgekit: Any, for_all: Path, target: str) -> None:
    reason = f"variant {target} cannot run here: {ABSENT[target]}"
    fell_back = edgekit("run", for_all, SCENE, "--target", target, "--json")
    data = json.loads(fell_back.stdout)
    assert (fell_back.exit_code, data["provider"]) == (0, CPU)
    assert data["fallback"].startswith(reason)
    assert f"warning: {data['fallback']}: it runs on the CPU instead" in fell_back.stderr
    refused = edgekit("run", for_all, SCENE, "--target", target, "--require-accelerator")
    assert (refused.exit_code, refused.stdout) == (5, "")
    assert refused.stderr.startswith(f"error: {reason}")
    assert f"edgekit doctor {target}" in refused.stderr
    assert edgekit("evaluate", for_all, ROOT, "--target", target).exit_code == 5  # measured is what was asked for


def test_no_accelerator_at_all_names_each_that_was_passed_over(edgekit: Any, for_all: Path) -> None:
    refused = edgekit("run", for_all, SCENE, "--require-accelerator")
    assert refused.exit_code == 5
    for reason in ABSENT.values():
        assert reason in refused.stderr


def edit(package: Path, variant: str, **values: Any) -> None:
    data = json.loads((package / "manifest.json").read_text())
    data["components"]["model"]["variants"][variant]["executor_info"]["edgekit"].update(values)
    (package / "manifest.json").write_text(json.dumps(data))


def test_the_environment_of_a_variant_is_set_unless_the_user_has(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for a provider with variables: the CPU's has none, so its table is widened here."""
    monkeypatch.setattr("edgekit.runtime.providers.check", lambda variant: None)
    edit(package, "cpu-x86_64", environment={"EDGEKIT_TEST_A": "1", "EDGEKIT_TEST_B": "1"})
    edit(package, "cpu", environment={"EDGEKIT_TEST_A": "1", "EDGEKIT_TEST_B": "1"})
    monkeypatch.setenv("EDGEKIT_TEST_A", "mine")
    monkeypatch.delenv("EDGEKIT_TEST_B", raising=False)
    load(package)
    assert (os.environ["EDGEKIT_TEST_A"], os.environ.pop("EDGEKIT_TEST_B")) == ("mine", "1")


def test_threads_are_those_that_the_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("edgekit.runtime.session.usable_processors", lambda: 5)
    assert load(SHAPES).session.get_session_options().intra_op_num_threads == 5
    assert load(SHAPES, threads=2).session.get_session_options().intra_op_num_threads == 2


def test_a_model_in_onnxruntimes_own_format_opens(tmp_path: Path) -> None:
    options = ort.SessionOptions()
    options.add_session_config_entry("session.save_model_format", "ORT")
    options.optimized_model_filepath = str(tmp_path / "m.ort")
    ort.InferenceSession(str(SHAPES), options, providers=[CPU])
    there, here = load(tmp_path / "m.ort")(SCENE), load(SHAPES)(SCENE)
    assert len(there.boxes.xyxy) == len(here.boxes.xyxy) >= 5
    np.testing.assert_allclose(there.boxes.xyxy, here.boxes.xyxy, atol=0.5)


names = st.sampled_from(["package", "cache", "model_stem"])


@given(st.dictionaries(names, st.text(st.characters(exclude_characters="$"), max_size=5)), names)
def test_an_option_is_filled_in_or_left_out(values: dict[str, str], name: str) -> None:
    filled = fill({"a": f"x${{{name}}}y", "b": json.dumps({"c": f"${{{name}}}", "d": 1})}, values)
    if name in values:
        assert filled["a"] == f"x{values[name]}y"
        assert json.loads(filled["b"]) == {"c": values[name], "d": 1}
    else:
        assert "a" not in filled
        assert json.loads(filled["b"]) == {"d": 1}


@pytest.mark.parametrize("said", [{}, {"providers": [CPU]}, {"target": "cpu", "providers": [CPU]}])
def test_no_way_of_opening_lets_a_package_set_what_it_chose(package: Path, said: dict[str, Any]) -> None:
    data = json.loads((package / "manifest.json").read_text())
    for variant in data["components"]["model"]["variants"].values():
        variant["executor_info"]["edgekit"]["environment"] = {"EDGEKIT_TEST_EVIL": "1"}
    (package / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(ProviderError, match="refused"):
        load(package, **said)
    assert "EDGEKIT_TEST_EVIL" not in os.environ
    for variant in data["components"]["model"]["variants"].values():
        variant["executor_info"]["edgekit"]["environment"] = {}
        variant["executor_info"]["ort"]["session_options"] = {"ep.context_file_path": "/tmp/x"}
    (package / "manifest.json").write_text(json.dumps(data))
    with pytest.raises(ProviderError, match="refused"):
        load(package, **said)


def test_a_refused_variant_is_no_reason_to_fall_back(package: Path) -> None:
    edit(package, "cpu-x86_64", environment={"LD_PRELOAD": "evil.so"})
    with pytest.raises(EdgekitError, match="sets the environment variable LD_PRELOAD"):
        load(package)


ACME = """
name: acme-npu
title: A board of somebody else's
provider: {name: AcmeExecutionProvider, plugin: {module: acme_ep}, options: {power: low}}
environment: {ACME_LOG: "0"}
precision: {default: fp32, allowed: [fp32]}
sources: {provider.options: Acme, environment: Acme, precision: Acme}
"""


@pytest.mark.parametrize(
    ("change", "trusted"),
    [
        ({}, True),
        ({"provider_options": {"power": "high"}}, False),
        ({"provider_options": {"power": "low", "run": "evil.so"}}, False),
        ({"environment": {"LD_PRELOAD": "evil.so"}}, False),
        ({"plugin_module": "evil"}, False),
        ({"preload": ("evil.so",)}, False),
    ],
)
def test_a_provider_of_somebody_elses_is_trusted_as_its_installed_profile_has_it(
    toy_package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], trusted: bool
) -> None:
    variant = replace(
        manifest.read(toy_package).variants[0],
        target="acme-npu",
        provider="AcmeExecutionProvider",
        plugin_module="acme_ep",
        provider_options={"power": "low"},
        environment={"ACME_LOG": "0"},
        session_options={},
    )
    with pytest.raises(ProviderError, match="which this edgekit does not know: refused"):
        opening.of_variant(toy_package, variant)
    (tmp_path / "acme-npu.yaml").write_text(ACME)
    monkeypatch.setenv("EDGEKIT_TARGETS", str(tmp_path))
    if trusted:
        assert opening.of_variant(toy_package, variant).options == {"power": "low"}
    else:
        with pytest.raises(ProviderError, match="refused"):
            opening.of_variant(toy_package, replace(variant, **change))
