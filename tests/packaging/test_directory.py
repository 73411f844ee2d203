"""One package for every target that edgekit ships."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import edgekit as api
from edgekit import manifest
from edgekit import target as profiles
from edgekit.packaging import package
from edgekit.runtime import verification
from edgekit.runtime.interface import grey_feed
from tests.conftest import ROOT

SHAPES = ROOT / "examples" / "shapes"
TARGETS = [t.name for t in profiles.find_all()]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("everything")
    scene = SHAPES / "scene.jpg"  # one picture to calibrate on: the demo model bears it
    return package(SHAPES / "shapes.onnx", TARGETS, calibration=scene, precision="auto", output=folder / "p").path


def test_each_target_has_its_variant_and_any_machine_the_first(everything: Path) -> None:
    variants = manifest.read(everything).variants
    assert [v.name for v in variants] == ["cpu", *TARGETS]
    assert variants[0].provider == "CPUExecutionProvider"


def test_it_is_whole_and_runs_here(everything: Path) -> None:
    verified = verification.verify(everything)
    assert verified.bad == ()
    assert api.load(everything)(SHAPES / "scene.jpg").summary() == "3 circle, 1 square, 3 triangle, 2 star"


def test_each_variant_gives_the_same_objects_on_the_cpu(everything: Path) -> None:
    """Every model runs on the CPU provider, whatever provider its variant is for."""
    for directory in {v.directory for v in manifest.read(everything).variants}:
        found = api.load(everything / directory / "model.onnx")(SHAPES / "scene.jpg").summary()
        assert found == "3 circle, 1 square, 3 triangle, 2 star", directory


@pytest.mark.skipif(not hasattr(ort, "ModelPackageContext"), reason="onnxruntime >= 1.32 reads model packages")
def test_onnxruntime_alone_lists_all_and_takes_the_generic_one(everything: Path) -> None:
    context = ort.ModelPackageContext(str(everything))
    assert context.get_variant_names("model") == ["cpu", *TARGETS]
    session = context.select_component("model", ort.ModelPackageOptions(ort.SessionOptions())).create_session()
    model = api.load(everything, target="cpu")
    feed = grey_feed(model.interface.inputs, (192, 192))
    assert np.array_equal(session.run(None, feed)[0], model.raw(feed)["output0"])


def test_no_model_is_stored_twice(everything: Path) -> None:
    models = [path.read_bytes() for path in everything.rglob("model.onnx")]
    assert len(models) == len(set(models)) < len(TARGETS)


def test_what_a_target_wants_beside_or_in_its_model_is_there(everything: Path) -> None:
    coreml = manifest.read(everything).variant("apple-coreml")
    assert coreml is not None
    props = {p.key: p.value for p in onnx.load(coreml.path(everything)).metadata_props}
    key = props["COREML_CACHE_KEY"]
    assert (len(key) <= 64, key.isalnum(), coreml.model_metadata) == (True, True, {"COREML_CACHE_KEY": key})
    versal = manifest.read(everything).variant("amd-versal-gen2")
    assert versal is not None
    assert json.loads(versal.path(everything, "vitisai_config.json").read_text())["target"] == "VAIML"
    assert "vitisai_config.json" in versal.files


def test_models_keep_to_the_limits_of_their_targets(everything: Path) -> None:
    for name in TARGETS:
        variant, limits = manifest.read(everything).variant(name), profiles.load(name).limits
        assert variant is not None
        model = onnx.load(variant.path(everything))
        onnx.checker.check_model(model, full_check=True)
        opset = next(o.version for o in model.opset_import if o.domain == "")
        assert (limits.opset_min or 1) <= opset <= (limits.opset_max or 99)
        assert model.ir_version <= (limits.ir_max or 99)
        assert all(spec.dtype in (limits.dtypes or [spec.dtype]) for spec in variant.interface.inputs)


def test_a_changed_key_in_the_model_is_found(everything: Path, tmp_path: Path) -> None:
    import shutil

    copy = Path(shutil.copytree(everything, tmp_path / "copy"))
    text = (copy / "manifest.json").read_text()
    coreml = manifest.read(copy).variant("apple-coreml")
    assert coreml is not None
    (copy / "manifest.json").write_text(text.replace(coreml.model_metadata["COREML_CACHE_KEY"], "other"))
    session = ort.InferenceSession(coreml.path(copy))
    changed = manifest.read(copy).variant("apple-coreml")
    assert changed is not None
    check = verification._metadata_props(session, changed)
    assert (check.ok, "COREML_CACHE_KEY" in check.detail) == (False, True)


def test_a_precision_that_one_target_cannot_run_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(api.EdgekitError, match="apple-coreml does not run int8") as caught:
        package(SHAPES / "shapes.onnx", ["cpu-x86_64", "apple-coreml"], precision="int8", output=tmp_path / "out")
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_an_npu_for_int8_wants_photos(tmp_path: Path) -> None:
    with pytest.raises(api.EdgekitError, match="nxp-imx8mp runs int8, which needs photos") as caught:
        package(SHAPES / "shapes.onnx", ["nxp-imx8mp"], output=tmp_path / "out")
    assert (caught.value.exit_code, caught.value.hint) == (
        2,
        "--calibration FOLDER, or --precision fp16, or --precision fp32",
    )


def test_one_target_with_two_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(api.EdgekitError, match="a package holds one of them"):
        package(SHAPES / "shapes.onnx", ["nxp-imx8mp@6.12", "nxp-imx8mp@6.6.36"], output=tmp_path / "out")


def test_free_dimensions_are_refused_where_shapes_are_fixed(tmp_path: Path) -> None:
    with pytest.raises(api.EdgekitError, match="apple-coreml runs fixed shapes only"):
        package(SHAPES / "shapes.onnx", ["apple-coreml"], dynamic=True, output=tmp_path / "out")
