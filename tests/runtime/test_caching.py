"""The compile cache around a session: a provider's faults do not reach the user, and the key knows every part."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper

from edgekit.cache import CompileCache
from edgekit.errors import Frozen, ProviderError
from edgekit.runtime import caching, identity
from edgekit.runtime import session as sessions
from edgekit.runtime.caching import places
from edgekit.runtime.identity import Identity
from edgekit.runtime.opening import Opening
from edgekit.runtime.plugins import Plugin
from edgekit.runtime.request import Request
from tests.runtime.standin_provider import VARIABLE, StandInProvider

MIGRAPHX = Request("MIGraphXExecutionProvider", {}, Plugin("onnxruntime_ep_migraphx"))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompileCache:
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "store"))
    places.root.cache_clear()
    return CompileCache()


@pytest.fixture
def provider(store: CompileCache, monkeypatch: pytest.MonkeyPatch) -> StandInProvider:
    stand_in = StandInProvider()
    monkeypatch.setattr(sessions, "create", stand_in.create)
    monkeypatch.setattr(identity, "of", lambda ort, request: Identity("1.0", "gfx1201", "6.1"))
    return stand_in


def saved(folder: Path, weight: float, name: str = "model.onnx", *, external: bool = False) -> Path:
    """y = x * weight."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xy")
    tensor = helper.make_tensor("w", TensorProto.FLOAT, [1, 4], [weight] * 4)
    graph = helper.make_graph([helper.make_node("Mul", ["x", "w"], ["y"])], "scale", [x], [y], [tensor])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    folder.mkdir(parents=True, exist_ok=True)
    if external:
        tensor.raw_data = np.full(4, weight, np.float32).tobytes()
        tensor.ClearField("float_data")
        del model.graph.initializer[:]
        model.graph.initializer.append(tensor)
        onnx.save(model, folder / name, save_as_external_data=True, location="weights.bin", size_threshold=0)
    else:
        onnx.save(model, folder / name)
    return folder / name


def opened(model: Path, request: Request = MIGRAPHX, **parts: Any) -> caching.Opened:
    return Opening(model, (request,), **parts).open()


def ended(*sessions: caching.Opened) -> None:
    """As at the end of a process."""
    for session in sessions:
        assert session.use is not None
        assert session.use.loan is not None
        session.use.loan.close()


def test_a_model_trained_anew_under_its_old_name_does_not_run_the_old_weights(
    provider: StandInProvider, tmp_path: Path
) -> None:
    old = opened(saved(tmp_path, 1.0))
    ended(old)
    new = opened(saved(tmp_path, 2.0))
    assert new.session.program != old.session.program
    assert provider.compiled == 2
    again = opened(saved(tmp_path, 1.0))
    assert again.use is not None
    assert again.use.hit
    assert again.session.program == old.session.program


def test_other_options_do_not_run_the_old_program(provider: StandInProvider, tmp_path: Path) -> None:
    model = saved(tmp_path, 1.0)
    programs = [
        opened(model, replace(MIGRAPHX, options=options)).session.program
        for options in ({}, {"fp16_enable": "1"}, {"bf16_enable": "1"})
    ]
    assert len(set(programs)) == provider.compiled == 3


def test_a_write_that_was_cut_short_is_not_served(provider: StandInProvider, tmp_path: Path) -> None:
    model = saved(tmp_path, 1.0)
    provider.fails = "half"
    with pytest.raises(RuntimeError):
        opened(model)
    provider.fails = None
    whole = opened(model)
    assert len(whole.session.program) > 50


def test_what_is_written_inside_the_first_run_is_kept(
    provider: StandInProvider, store: CompileCache, tmp_path: Path
) -> None:
    first = opened(saved(tmp_path, 1.0))
    first.session.run(None, {"x": np.ones((1, 4), np.float32)})
    ended(first)
    [entry] = store.entries()
    assert set(entry.files) == {"model-1x3.mxr", "for-this-shape.mxr"}
    assert next(store.damaged())[1] is None


def test_a_provider_that_never_cleans_up_does_not_fill_the_disk(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGEKIT_CACHE_MAX_ENTRIES", "3")
    for weight in range(6):
        ended(opened(saved(tmp_path, float(weight))))
    assert len(CompileCache().entries()) == 3


def test_what_the_provider_cannot_read_costs_a_sentence_and_no_run(provider: StandInProvider, tmp_path: Path) -> None:
    model = saved(tmp_path, 1.0)
    ended(opened(model))
    provider.fails = "reads"
    again = opened(model)
    assert again.use is not None
    assert again.use.notice == (
        "nothing that is compiled is kept: MIGraphXExecutionProvider fails with its cache: "
        "the stand-in cannot read what it finds"
    )
    provider.fails = None
    after = opened(model)
    assert after.use is not None
    assert after.use.reason == "nothing is kept for this provider yet"  # what it failed over is gone


def test_what_a_package_carries_is_used_where_nothing_can_be_written(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = saved(tmp_path / "package", 1.0)
    made = opened(model)
    assert made.use is not None
    caching.ship(Opening(model, (MIGRAPHX,)), made.use)
    (tmp_path / "file").write_text("a file in the place of the store")
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("EDGEKIT_CACHE_MAX_ENTRIES", "0")
    carried = opened(model, frozen=True)
    assert carried.use is not None
    assert carried.use.hit
    assert carried.session.program == made.session.program
    ended(carried)
    assert len(CompileCache(tmp_path / "package" / "compiled").entries()) == 1  # no limit of ours takes it away


def test_what_a_package_carries_for_another_machine_is_refused_with_the_reason(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = saved(tmp_path / "package", 1.0)
    made = opened(model)
    assert made.use is not None
    caching.ship(Opening(model, (MIGRAPHX,)), made.use)
    monkeypatch.setenv("EDGEKIT_CACHE_DIR", str(tmp_path / "board"))
    monkeypatch.setattr(identity, "of", lambda ort, request: Identity("1.0", "gfx1100", "6.1"))
    other = opened(model)
    assert other.use is not None
    assert not other.use.hit
    [said] = [record.getMessage() for record in caplog.records]
    assert said == (
        "the compiled program in the package is not used: what was kept does not fit: device was gfx1201, is gfx1100"
    )


def test_the_variable_of_the_user_is_back_after_and_its_folder_is_not_touched(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model-1x3.mxr").write_bytes(b"another model's program")
    monkeypatch.setenv(VARIABLE, str(mine))
    made = opened(saved(tmp_path, 1.0))
    assert made.session.program != b"another model's program"
    assert os.environ[VARIABLE] == str(mine)
    assert (mine / "model-1x3.mxr").read_bytes() == b"another model's program"
    assert CompileCache(mine / "edgekit").entries()  # the root is where the user wants it
    ended(made)


def test_the_variable_is_unset_where_the_cache_cannot_be_used(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "model-1x3.mxr").write_bytes(b"another model's program")
    (mine / "edgekit").write_text("a file in the place of the store")
    monkeypatch.setenv(VARIABLE, str(mine))
    made = opened(saved(tmp_path, 1.0))
    assert made.session.program != b"another model's program"
    assert made.use is not None
    assert made.use.notice is not None
    assert os.environ[VARIABLE] == str(mine)


def test_nothing_is_kept_with_the_cache_off(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDGEKIT_CACHE", "off")
    assert opened(saved(tmp_path, 1.0)).use is None
    assert not (tmp_path / "store" / "programs").exists()


def test_frozen_never_compiles(provider: StandInProvider, tmp_path: Path) -> None:
    model = saved(tmp_path, 1.0)
    with pytest.raises(Frozen, match=r"the cache has no [0-9a-f]{32} \(nothing is kept for this provider yet\)"):
        opened(model, frozen=True)
    assert provider.compiled == 0
    ended(opened(model))
    kept = opened(model, frozen=True)
    assert kept.use is not None
    assert kept.use.hit
    assert provider.compiled == 1


def test_a_session_that_is_gone_lets_its_entry_go(
    provider: StandInProvider, store: CompileCache, tmp_path: Path
) -> None:
    made = opened(saved(tmp_path, 1.0))
    assert [h.in_use for h in store.held()] == [True]
    del made
    gc.collect()
    assert [h.in_use for h in store.held()] == [False]


def test_a_folder_of_the_users_own_is_left_to_him(
    provider: StandInProvider, store: CompileCache, tmp_path: Path
) -> None:
    own = replace(MIGRAPHX, options={"cache_dir": str(tmp_path / "own")})
    assert opened(saved(tmp_path, 1.0), own).use is None
    assert store.entries() == []


def test_a_sessions_options_that_cannot_be_read_cost_the_cache_and_a_sentence(
    provider: StandInProvider, store: CompileCache, tmp_path: Path
) -> None:
    made = opened(saved(tmp_path, 1.0), session_options=ort.SessionOptions())
    assert made.use is not None
    assert "SessionOptions object" in str(made.use.notice)
    assert store.entries() == []


def test_a_failure_that_is_not_the_caches_is_raised_once(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def refuses(*args: Any, **kwargs: Any) -> None:
        calls.append(args)
        raise ProviderError("no such operator")

    monkeypatch.setattr(sessions, "create", refuses)
    with pytest.raises(ProviderError, match="no such operator"):
        opened(saved(tmp_path, 1.0))
    assert len(calls) == 1


PARTS: dict[str, Callable[[pytest.MonkeyPatch, Path], Opening]] = {}


def part(change: Callable[[pytest.MonkeyPatch, Path], Any]) -> Callable[[pytest.MonkeyPatch, Path], Any]:
    PARTS[change.__name__] = change
    return change


def plain(folder: Path) -> Opening:
    return Opening(saved(folder, 1.0), (replace(MIGRAPHX, options={"fp16_enable": "1"}),), {"a.b": "1"})


@part
def weights(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), model=saved(folder, 2.0))


@part
def option(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), requests=(replace(MIGRAPHX, options={"fp16_enable": "0"}),))


@part
def another_option(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), requests=(replace(MIGRAPHX, options={"fp16_enable": "1", "bf16_enable": "0"}),))


@part
def device_number(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), requests=(replace(plain(folder).requests[0], index=1),))


@part
def session_option(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), session_options={"a.b": "2"})


@part
def threads(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), threads=2)


@part
def another_provider_beside_it(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), requests=(*plain(folder).requests, Request("CUDAExecutionProvider")))


@part
def environment_of_the_profile(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    return replace(plain(folder), environment={"MIGRAPHX_DISABLE_WINOGRAD": "1"})


@part
def environment_of_the_user(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    patch.setenv("MIGRAPHX_TRACE_EVAL", "1")
    return plain(folder)


@part
def hidden_devices(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    patch.setenv("HIP_VISIBLE_DEVICES", "1")
    return plain(folder)


def learnt(**parts: str | None) -> Callable[[pytest.MonkeyPatch, Path], Opening]:
    def change(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
        patch.setattr(identity, "of", lambda ort, request: replace(Identity("1.0", "gfx1201", "6.1"), **parts))
        return plain(folder)

    return change


PARTS |= {
    "provider version": learnt(version="1.1"),
    "device": learnt(device="gfx1100"),
    "driver": learnt(driver="6.2"),
    "unknown driver": learnt(driver=None),
}


@part
def onnxruntime_release(patch: pytest.MonkeyPatch, folder: Path) -> Opening:
    patch.setattr(ort, "__version__", "1.99.0")
    return plain(folder)


@pytest.mark.parametrize("name", PARTS)
def test_every_part_makes_another_key(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    before = plain(tmp_path)
    one = caching.key_of(ort, before, before.requests[0])
    assert one == caching.key_of(ort, plain(tmp_path), before.requests[0])
    changed = PARTS[name](monkeypatch, tmp_path)
    assert caching.key_of(ort, changed, changed.requests[0]).digest != one.digest


def test_weights_in_a_file_of_their_own_belong_to_the_key(provider: StandInProvider, tmp_path: Path) -> None:
    opening = replace(plain(tmp_path), model=saved(tmp_path / "m", 1.0, external=True))
    one = caching.key_of(ort, opening, MIGRAPHX)
    np.full(4, 2.0, np.float32).tofile(tmp_path / "m" / "weights.bin")
    assert caching.key_of(ort, opening, MIGRAPHX) != one


def test_a_files_content_belongs_to_the_key_and_not_where_it_is(provider: StandInProvider, tmp_path: Path) -> None:
    def key(path: Path, content: str) -> Any:
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        request = Request("VitisAIExecutionProvider", {"config_file": str(path), "cache_dir": "${cache}"})
        return caching.key_of(ort, replace(plain(tmp_path), requests=(request,)), request)

    one = key(tmp_path / "a" / "vitisai_config.json", "{}")
    assert key(tmp_path / "b" / "vitisai_config.json", "{}") == one
    assert key(tmp_path / "b" / "vitisai_config.json", "{ }") != one


def test_what_cannot_be_learnt_makes_the_key_stricter(
    provider: StandInProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platform

    assert platform.release() not in caching.key_of(ort, plain(tmp_path), MIGRAPHX).system
    opening = learnt(version=None)(monkeypatch, tmp_path)
    assert platform.release() in caching.key_of(ort, opening, MIGRAPHX).system


@pytest.mark.parametrize(
    ("request_", "options"),
    [
        (MIGRAPHX, {"cache_dir": "F"}),
        (Request("MIGraphXExecutionProvider"), {"migraphx_model_cache_dir": "F"}),
        (
            Request("VitisAIExecutionProvider"),
            {"cache_dir": "F", "cache_key": "model", "enable_cache_file_io_in_mem": "0"},
        ),
        (Request("CoreMLExecutionProvider"), {"ModelCacheDirectory": "F"}),
        (Request("OpenVINOExecutionProvider"), {"cache_dir": "F"}),
        (
            Request("OpenVINOExecutionProvider", plugin=Plugin("onnxruntime_ep_openvino")),
            {"load_config": '{"CPU": {"CACHE_DIR": "F"}}'},
        ),
    ],
)
def test_each_provider_is_told_its_folder(tmp_path: Path, request_: Request, options: dict[str, str]) -> None:
    found = caching.wanted(Opening(tmp_path / "m.onnx", (request_,)))
    assert found is not None
    assert found[0].in_folder(Path("F")).options == options


def test_the_cpus_provider_keeps_nothing(tmp_path: Path) -> None:
    assert caching.wanted(Opening(tmp_path / "m.onnx")) is None


def test_what_is_shipped_is_what_is_kept_and_not_a_sessions_own_copy(provider: StandInProvider, tmp_path: Path) -> None:
    model = saved(tmp_path / "package", 1.0)
    first, second = opened(model), opened(model)
    assert second.use is not None
    second.session.run(None, {"x": np.ones((1, 4), np.float32)})
    caching.ship(Opening(model, (MIGRAPHX,)), second.use)
    [shipped] = CompileCache(tmp_path / "package" / "compiled").entries()
    assert set(shipped.files) == {"model-1x3.mxr", "for-this-shape.mxr"}
    [kept] = CompileCache().entries()
    assert second.use.to_dict()["entry"] == kept.name
    ended(first, second)
