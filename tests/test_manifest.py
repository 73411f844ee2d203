from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgekit import manifest
from edgekit.errors import IntegrityError, PackageError, UsageError
from edgekit.manifest import FileRecord, Interface, Manifest, TensorSpec, Variant
from edgekit.preprocessing import Preprocess

words = st.text(st.characters(whitelist_categories=["L", "N"]), min_size=1, max_size=8)
texts = st.dictionaries(words, words, max_size=3)


@st.composite
def variants(draw: st.DrawFn) -> Variant:
    dims = st.one_of(st.integers(-1, 9), words)
    spec = st.builds(TensorSpec, words, st.sampled_from(["float32", "int64"]), st.lists(dims, max_size=4).map(tuple))
    interface = Interface(
        inputs=tuple(draw(st.lists(spec, max_size=2))),
        outputs=tuple(draw(st.lists(spec, max_size=2))),
        task="detect",
        decoder=draw(st.sampled_from(["yolov8", None])),
        decoder_options=draw(texts),
        preprocess=draw(st.sampled_from([None, Preprocess(), Preprocess(resize="crop", shorter_side=256)])),
        metadata={"names": draw(st.dictionaries(st.integers(0, 99), words, min_size=1, max_size=3)), "stride": 32},
    )
    return Variant(
        name=draw(words),
        directory=draw(st.sampled_from([".", "cpu-arm64"])),
        model_file="model.onnx",
        target=draw(words),
        provider="CPUExecutionProvider",
        precision="fp32",
        interface=interface,
        architectures=draw(st.sampled_from([(), ("x86_64", "AMD64")])),
        provider_options=draw(texts),
        session_options=draw(texts),
        requirements=draw(texts),
        files={"model.onnx": FileRecord(draw(st.integers(0, 2**40)), "00" * 32)},
        golden=draw(st.sampled_from([None, "golden.npz"])),
    )


@given(st.lists(variants(), min_size=1, max_size=3, unique_by=lambda v: v.name))
def test_a_manifest_survives_being_written_and_read(given: list[Variant]) -> None:
    written = Manifest(tuple(given))
    assert Manifest.from_json(written.to_json()) == written


def simple() -> Variant:
    spec = TensorSpec("images", "float32", (1, 3, 64, 64), "image")
    interface = Interface((spec,), (), "detect", "yolov8", preprocess=Preprocess(), metadata={"names": {0: "a"}})
    return Variant("cpu", ".", "model.onnx", "cpu", "CPUExecutionProvider", "fp32", interface)


def data() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(Manifest((simple(),)).to_json())
    return loaded


@pytest.mark.parametrize("path", ["/etc/passwd", "../model.onnx", "a/../../b", "C:\\model.onnx", "a\\b", ""])
@pytest.mark.parametrize("key", ["variant_directory", "model_file", "files", "golden"])
def test_a_path_outside_the_package_is_refused(key: str, path: str) -> None:
    spoiled = data()
    variant = spoiled["components"]["model"]["variants"]["cpu"]
    if key == "variant_directory":
        variant[key] = path
    elif key == "model_file":
        variant["executor_info"]["ort"][key] = path
    elif key == "files":
        variant["executor_info"]["edgekit"]["files"] = {path: {"size": 1, "sha256": ""}}
    elif path:
        variant["executor_info"]["edgekit"]["golden"] = path
    else:
        return  # no golden data is no path
    with pytest.raises(PackageError, match="outside the package"):
        Manifest.from_json(json.dumps(spoiled))


def paths_in(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key of nested data, as the way to it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way for key, inner in items for way in [(*at, key), *paths_in(inner, (*at, key))]]


@pytest.mark.parametrize("junk", [None, 3, "text", [1], {"a": 1}])
def test_a_damaged_manifest_is_a_package_error_and_never_another(junk: Any) -> None:
    for way in paths_in(data()):
        spoiled = data()
        at: Any = spoiled
        for key in way[:-1]:
            at = at[key]
        at[way[-1]] = junk
        try:
            Manifest.from_json(json.dumps(spoiled))
        except PackageError:
            continue
        except UsageError as e:  # pre-processing speaks for itself; `read` turns it into a PackageError
            assert "pre-processing" in str(e)  # noqa: PT017


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(PackageError):
        Manifest.from_json(text)


def test_a_folder_without_a_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no manifest\.json"):
        manifest.read(tmp_path)


@pytest.mark.parametrize(("content", "said"), [(None, "is missing"), (b"12", "has 2 bytes, 1 were packaged")])
def test_a_file_of_another_size_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "model.onnx").write_bytes(content)
    variant = replace(simple(), files={"model.onnx": FileRecord(1, "")})
    with pytest.raises(IntegrityError, match=said):
        manifest.check_sizes(tmp_path, variant)
