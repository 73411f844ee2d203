"""What a package or a profile may ask of a provider: the tables, and how they are read."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit.errors import ProviderError
from edgekit.manifest import Interface, Variant
from edgekit.runtime import providers
from edgekit.runtime.providers import TABLES, Flaw, Known
from edgekit.runtime.providers.known import NEVER
from edgekit.runtime.providers.place import strays
from edgekit.runtime.providers.release import Span, release
from tests.conftest import ROOT

VITIS = "VitisAIExecutionProvider"
MIGRAPHX, MIGRAPHX_PLUGIN = "MIGraphXExecutionProvider", "onnxruntime_ep_migraphx"
OPENVINO, OPENVINO_PLUGIN = "OpenVINOExecutionProvider", "onnxruntime_ep_openvino"


def variant(provider: str = providers.CPU, **fields: Any) -> Any:
    return Variant("v", ".", "model.onnx", "v", provider, "fp32", Interface((), (), "raw", None), **fields)


def option_flaws(provider: str, options: dict[str, str], plugin: str | None = None, versions: str = "") -> list[Flaw]:
    return providers.flaws(provider, plugin, options, {}, versions=versions)


def test_each_form_of_a_provider_has_one_table() -> None:
    forms = [(t.provider, t.plugin) for t in TABLES]
    assert len(set(forms)) == len(forms)
    assert all(providers.known(*form) is table for form, table in zip(forms, TABLES, strict=True))


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.provider}-{t.plugin or 'built in'}")
def test_a_table_is_sound(table: Known) -> None:
    for entries in (table.options, table.environment):
        names = [o.name for o in entries]
        assert len(set(names)) == len(names)
        for option in entries:
            assert option.source
            assert not (option.instead and not option.until), option
            assert release(option.since or "0") < release(option.until) if option.until not in ("", NEVER) else True
            if option.instead and " " not in option.instead:
                assert option.instead in names, f"{option.name} points to {option.instead}"


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.provider}-{t.plugin or 'built in'}")
def test_no_table_has_an_option_that_carries_an_address(table: Known) -> None:
    addresses = ("user_compute_stream", "external_alloc", "external_free", "external_empty_cache")
    names = [o.name for o in (*table.options, *table.environment)]
    assert [n for n in names if any(a in n for a in addresses)] == []


def test_the_tables_need_the_standard_library_alone() -> None:
    # a stand-in for edgekit.runtime, whose own names need numpy
    code = (
        "import sys, types; r = types.ModuleType('edgekit.runtime'); r.__path__ = [sys.argv[1]]\n"
        "sys.modules['edgekit.runtime'] = r; import edgekit.runtime.providers\n"
        "bad = {'numpy', 'onnxruntime', 'edgekit.target', 'edgekit.packaging', 'edgekit.manifest'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code, str(ROOT / "edgekit" / "runtime")], check=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("provider", "plugin", "given", "message", "suggestion"),
    [
        (VITIS, None, {"cachdir": "${cache}"}, "VitisAIExecutionProvider has no option cachdir", "cache_dir"),
        (VITIS, None, {"cacheDir": "${cache}"}, "cacheDir is called cache_dir since Ryzen AI 1.4", "cache_dir"),
        (VITIS, None, {"target": "x2"}, "must be one of X2, X1, VAIML, is 'x2'", "X2"),
        (VITIS, None, {"log_level": "info"}, "use the session option session.log_severity_level", None),
        ("CoreMLExecutionProvider", None, {"ModelFormat": "mlprogram"}, "is 'mlprogram'", "MLProgram"),
        (MIGRAPHX, None, {"fp16_enable": "1"}, "has no option fp16_enable", "migraphx_fp16_enable"),
        (MIGRAPHX, None, {"migraphx_save_compiled_model": "1"}, "since ROCm 6.4", "migraphx_model_cache_dir"),
        (MIGRAPHX, MIGRAPHX_PLUGIN, {"migraphx_model_cache_dir": "${cache}"}, "use cache_dir", "cache_dir"),
        (MIGRAPHX, MIGRAPHX_PLUGIN, {"compute_mode": "50"}, "must be one of eager, balanced, maximum", None),
        (OPENVINO, OPENVINO_PLUGIN, {"cache_dir": "${cache}"}, "use CACHE_DIR in load_config", None),
        ("DmlExecutionProvider", None, {"enable_graph_capture": "1"}, "session option ep.dml.enable_graph", None),
        ("VSINPUExecutionProvider", None, {"device_id": "0"}, "has no option device_id", None),
        (providers.CPU, None, {"arena": "0"}, "CPUExecutionProvider has no option arena", None),
    ],
)
def test_a_wrong_option_is_answered_with_what_to_write(
    provider: str, plugin: str | None, given: dict[str, str], message: str, suggestion: str | None
) -> None:
    (flaw,) = option_flaws(provider, given, plugin)
    assert message in flaw.message
    assert flaw.suggestion == suggestion
    assert flaw.key == ("provider", "options", next(iter(given)))


@pytest.mark.parametrize(
    ("name", "versions", "right"),
    [
        ("cacheDir", "<1.4", True),
        ("cacheDir", "==1.3", True),
        ("cacheDir", ">=1.1,<1.4", True),
        ("cacheDir", ">=1.3", False),
        ("cacheDir", "==1.4", False),
        ("cache_dir", ">=1.4", True),
        ("cache_dir", ">=1.10", True),
        ("cache_dir", ">=1.3", False),
        ("cache_dir", "", True),
        ("config_file", "<9", True),
    ],
)
def test_an_option_must_be_known_to_every_release_that_the_profile_is_for(
    name: str, versions: str, right: bool
) -> None:
    assert (not option_flaws(VITIS, {name: "${cache}"}, versions=versions)) is right


def test_a_misspelled_name_is_answered_with_the_one_of_that_release() -> None:
    (flaw,) = option_flaws(VITIS, {"cachedir": "${cache}"}, versions="<1.4")
    assert flaw.suggestion == "cacheDir"


def test_variables_and_libraries_are_checked_too() -> None:
    found = providers.flaws(
        MIGRAPHX,
        MIGRAPHX_PLUGIN,
        {},
        {"MIGRAPHX_DISABLE_WINOGRAD": "1", "MIGRAPHX_DISABLE_WINOGARD": "1"},
        ["libmigraphx_c.so.3", "libmigraphx_c.so"],
    )
    assert [(f.key, f.suggestion) for f in found] == [
        (("environment", "MIGRAPHX_DISABLE_WINOGARD"), "MIGRAPHX_DISABLE_WINOGRAD"),
        (("provider", "plugin", "preload", 1), "libmigraphx_c.so.3"),
    ]


def test_what_a_third_party_brings_is_not_judged() -> None:
    assert providers.known("AcmeExecutionProvider") is None
    assert providers.flaws("AcmeExecutionProvider", "acme_ep", {"speed": "11"}, {"ACME": "1"}, ["libacme.so"]) == []
    assert providers.flaws(OPENVINO, "acme_ep", {"speed": "11"}, {}) == []


def test_a_misspelled_module_is_answered_with_the_right_one() -> None:
    (flaw,) = providers.flaws(OPENVINO, "onnxruntime_openvino_ep", {"anything": "1"}, {})
    assert flaw.key == ("provider", "plugin", "module")
    assert flaw.suggestion == OPENVINO_PLUGIN


def test_a_placeholder_stands_for_any_value() -> None:
    assert option_flaws(VITIS, {"target": "${target}", "cache_key": "${model_stem}"}) == []


@pytest.mark.parametrize(
    "good",
    [
        variant(),
        variant(VITIS, provider_options={"config_file": "${package}/vitisai_config.json", "target": "a later one"}),
        variant(VITIS, environment={"XLNX_ONNX_EP_REPORT_FILE": "vitisai_ep_report.json"}),
        variant(MIGRAPHX, plugin_module=MIGRAPHX_PLUGIN, preload=("libmigraphx_c.so.3",)),
        variant(
            OPENVINO,
            plugin_module=OPENVINO_PLUGIN,
            provider_options={"load_config": '{"CPU": {"CACHE_DIR": "${cache}", "INFERENCE_PRECISION_HINT": "f32"}}'},
        ),
    ],
    ids=str,
)
def test_a_package_may_set_what_its_provider_knows(good: Any) -> None:
    providers.check(good)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (variant("AcmeExecutionProvider"), "wants AcmeExecutionProvider, which this edgekit does not know"),
        (variant(OPENVINO, plugin_module="os"), "wants OpenVINOExecutionProvider from os"),
        (variant(provider_options={"x": "1"}), "the option x, which CPUExecutionProvider does not know"),
        (variant(environment={"LD_PRELOAD": "x"}), "the environment variable LD_PRELOAD"),
        (variant(MIGRAPHX, provider_options={"migraphx_external_alloc": "140"}), "migraphx_external_alloc"),
        (variant(OPENVINO, plugin_module=OPENVINO_PLUGIN, provider_options={"cache_dir": "${cache}"}), "cache_dir"),
        (variant(preload=("libevil.so",)), "loads libevil.so"),
        (variant(VITIS, provider_options={"cache_dir": "/etc"}), "a place outside the package"),
        (variant(VITIS, environment={"XLNX_ONNX_EP_REPORT_FILE": "../x"}), "a place outside the package"),
        (
            variant(OPENVINO, provider_options={"load_config": '{"CPU": {"CACHE_DIR": "/root", "CACHE_DIR": "x"}}'}),
            "a place outside the package",
        ),
    ],
    ids=str,
)
def test_a_package_that_asks_for_more_is_refused(bad: Any, message: str) -> None:
    with pytest.raises(ProviderError, match="refused") as caught:
        providers.check(bad)
    assert message in str(caught.value)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.provider}-{t.plugin or 'built in'}")
def test_every_option_of_a_table_can_be_set_by_a_package(table: Known) -> None:
    usable = {o.name: "${cache}" for o in table.options if o.until != NEVER}
    environment = {o.name: "${cache}" for o in table.environment}
    providers.check(
        variant(table.provider, plugin_module=table.plugin, preload=table.preloads, provider_options=usable)
    )
    providers.check(variant(table.provider, plugin_module=table.plugin, environment=environment))


PARTS = st.lists(st.sampled_from(["a", "b.c", "..", ".", "", "${cache}", "C:", "~"]), min_size=1, max_size=4)


@given(PARTS, st.sampled_from(["/", "\\"]))
def test_no_path_leads_out_of_where_it_begins(parts: list[str], separator: str) -> None:
    path = separator.join(parts)
    if not strays(path):
        assert ".." not in parts
        assert len(parts) == 1 or parts[0].startswith("${")
        assert parts[0] not in ("C:", "~")


@given(st.recursive(st.just("/etc"), lambda inner: st.lists(inner, min_size=1) | st.fixed_dictionaries({"k": inner})))
def test_a_path_in_json_is_found_however_deep_it_is(data: object) -> None:
    assert strays(json.dumps(data))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=3))
def test_a_release_and_itself_with_zeros_are_the_same(numbers: list[int]) -> None:
    text = ".".join(map(str, numbers))
    assert release(text) == release(text + ".0")
    assert not Span.of(f">={text}").begins_before(text)
    assert Span.of(f">={text}").reaches(text)
    assert not Span.of(f"<{text}").reaches(text)
