"""cv2.dnn in the place of onnxruntime."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from edgekit import load
from edgekit.errors import ProviderError, UsageError
from edgekit.packaging import package
from edgekit.runtime.engines.opencv import OpenCvSession
from tests.conftest import ROOT

SHAPES = ROOT / "examples" / "shapes"


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return package(SHAPES / "shapes.onnx", ["cpu"], output=tmp_path_factory.mktemp("m") / "shapes").path


def test_it_finds_what_onnxruntime_finds(shapes: Path) -> None:
    pytest.importorskip("cv2")
    ours = load(shapes, engine="opencv")
    assert (ours.provider, ours.providers, ours.placement) == ("OpenCV", ["OpenCV"], None)
    there, here = (m(SHAPES / "scene.jpg", conf=0.25).to_dict()["detections"] for m in (ours, load(shapes)))
    assert len(there) == len(here) >= 5
    for a, b in zip(there, here, strict=True):
        assert a["class_id"] == b["class_id"]
        assert a["box"] == pytest.approx(b["box"], abs=0.5)


def test_it_needs_no_onnxruntime(shapes: Path) -> None:
    pytest.importorskip("cv2")
    code = (
        "import sys\nsys.modules['onnxruntime'] = None\nfrom edgekit import cli\n"
        f"sys.exit(cli.main(['run', {str(shapes)!r}, {str(SHAPES / 'scene.jpg')!r}, '--engine', 'opencv', '--json']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"provider": "OpenCV"' in done.stdout


@pytest.mark.parametrize(
    "said", [{"device": "cuda"}, {"providers": ["CPUExecutionProvider"]}, {"session_options": {"a": "b"}}]
)
def test_what_means_nothing_to_it_is_refused(shapes: Path, said: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="takes no provider, device or session option"):
        load(shapes, engine="opencv", **said)


def test_a_bare_file_is_refused_with_the_way_out(edgekit: Any) -> None:
    result = edgekit("run", SHAPES / "shapes.onnx", SHAPES / "scene.jpg", "--engine", "opencv")
    assert result.exit_code == 2
    assert "edgekit package" in result.stderr


def test_a_model_that_it_cannot_read_is_one_sentence(shapes: Path, tmp_path: Path) -> None:
    pytest.importorskip("cv2")
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes((shapes / "model.onnx").read_bytes()[:5000])
    with pytest.raises(ProviderError, match=r"OpenCV \S+ cannot read .*model\.onnx") as caught:
        OpenCvSession(damaged, load(shapes).interface)
    assert caught.value.hint == "--engine onnxruntime"


def test_an_input_that_is_not_the_models_is_refused(shapes: Path) -> None:
    pytest.importorskip("cv2")
    with pytest.raises(UsageError, match="the model takes images, not pictures"):
        load(shapes, engine="opencv").run({"pictures": np.zeros((1, 3, 192, 192), np.float32)})
