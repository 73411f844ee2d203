from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from edgekit.errors import ModelError
from edgekit.runtime import load
from edgekit.tasks.decoders.yolov5_heads import YoloV5Heads
from edgekit.tasks.predictions import Settings

SIZE = (64, 96)


def cut(zoo: Path, folder: Path, dimensions: str, anchors: Any = None) -> Path:
    """yolov5n up to its three heads, (1, 255, H, W) or (1, 3, H, W, 85)."""
    source = zoo / "models" / "yolov5n.onnx"
    model = onnx.load(source)
    wanted = "Conv" if dimensions == "four" else "Transpose"
    last = {f"/model.24/m.{i}/Conv" for i in range(3)}
    reshapes = {n.output[0] for n in model.graph.node if n.op_type == "Reshape" and n.name.startswith("/model.24")}
    heads = [
        n.output[0]
        for n in model.graph.node
        if (n.name in last if wanted == "Conv" else n.op_type == "Transpose" and n.input[0] in reshapes)
    ]
    assert len(heads) == 3
    path = folder / f"heads-{dimensions}.onnx"
    onnx.utils.extract_model(str(source), str(path), [model.graph.input[0].name], heads)
    model = onnx.load(path)
    if anchors is not None:
        model.metadata_props.add(key="anchors", value=str(anchors))
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("dimensions", ["four", "five"])
@pytest.mark.parametrize(
    "anchors", [None, [[10, 13, 16, 30, 33, 23], [30, 61, 62, 45, 59, 119], [116, 90, 156, 198, 373, 326]]]
)
def test_a_model_cut_at_its_heads_gives_the_same_boxes(
    zoo: Path, tmp_path: Path, dimensions: str, anchors: Any
) -> None:
    photo = zoo / "images" / "photos" / "bus.jpg"
    whole = load(zoo / "models" / "yolov5n.onnx")(photo)
    model = load(cut(zoo, tmp_path, dimensions, anchors))
    assert model.interface.decoder == "yolov5_heads"
    assert ("anchors" in model.interface.decoder_options) is (anchors is not None)
    found = model(photo)
    assert found.boxes.cls.tolist() == whole.boxes.cls.tolist()
    np.testing.assert_allclose(found.boxes.xyxy, whole.boxes.xyxy, atol=0.01)
    np.testing.assert_allclose(found.boxes.conf, whole.boxes.conf, atol=1e-4)


def heads(classes: int = 2):
    return {s: np.full((1, 3 * (5 + classes), SIZE[0] // s, SIZE[1] // s), -20, np.float32) for s in (8, 16, 32)}


def named(arrays):
    return {f"out{stride}": array for stride, array in arrays.items()}


def test_other_anchors_give_other_sizes_and_the_order_of_outputs_means_nothing() -> None:
    arrays = heads()
    arrays[16][0, 7:14, 1, 2] = [0, 0, 0, 0, 20, -20, 20]  # the second anchor
    anchors = np.arange(1, 19).reshape(3, 3, 2).tolist()
    for outputs in (named(arrays), dict(reversed(named(arrays).items()))):
        (found,) = YoloV5Heads.build(SIZE, {"anchors": anchors})(outputs, Settings())
        x, y, width, height = 2.5 * 16, 1.5 * 16, 9, 10
        np.testing.assert_allclose(
            found.boxes, [[x - width / 2, y - height / 2, x + width / 2, y + height / 2]], rtol=1e-5
        )
        assert found.class_ids.tolist() == [1]


def test_it_fits_three_heads_of_the_same_classes() -> None:
    shapes = {name: array.shape for name, array in named(heads()).items()}
    assert YoloV5Heads.fits(shapes, SIZE, 2)
    assert not YoloV5Heads.fits(shapes, SIZE, 3)
    assert not YoloV5Heads.fits(shapes, (64, 64))
    assert not YoloV5Heads.fits({**shapes, "out8": (1, 24, 8, 12)}, SIZE)
    assert not YoloV5Heads.fits({n: s for n, s in shapes.items() if n != "out8"}, SIZE)


@pytest.mark.parametrize("anchors", [[1, 2, 3], "big", [[0] * 6] * 3, [[-1] * 6] * 3, [[float("nan")] * 6] * 3, None])
def test_anchors_that_are_none_are_refused(anchors: Any) -> None:
    with pytest.raises(ModelError, match="yolov5_heads: anchors are"):
        YoloV5Heads.build(SIZE, {"anchors": anchors})


@pytest.mark.parametrize("conf", [0.0, 1.0])
def test_the_ends_of_confidence(conf: float) -> None:
    arrays = heads()
    arrays[8][0, :7, 0, 0] = [0, 0, 0, 0, np.inf, np.inf, -20]
    arrays[8][0, :7, 0, 1] = np.nan
    (found,) = YoloV5Heads.build(SIZE, {})(named(arrays), Settings(conf=conf))
    assert len(found) >= 1
    assert np.isfinite(found.scores).all()
