"""The same directory, opened by onnxruntime alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import edgekit
from edgekit.runtime.interface import grey_feed

pytestmark = pytest.mark.skipif(
    not hasattr(ort, "ModelPackageContext"), reason="onnxruntime >= 1.32 reads model packages"
)


def test_onnxruntime_opens_the_directory_and_gives_the_same(toy_package: Path) -> None:
    context = ort.ModelPackageContext(str(toy_package))
    assert context.get_variant_names("model") == ["cpu", "cpu-x86_64"]
    session = context.select_component("model", ort.ModelPackageOptions(ort.SessionOptions())).create_session()
    model = edgekit.load(toy_package)
    feed = grey_feed(model.interface.inputs, (64, 64))
    assert np.array_equal(session.run(None, feed)[0], model.raw(feed)["output0"])


def test_onnxruntime_takes_the_variant_for_any_machine(toy_package: Path) -> None:
    context = ort.ModelPackageContext(str(toy_package))
    assert context.get_variant_ep_name("model", "cpu") == "CPUExecutionProvider"
