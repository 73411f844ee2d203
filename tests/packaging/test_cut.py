from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from edgekit.errors import ModelError
from edgekit.manifest import Interface
from edgekit.packaging.cutting import Cut, agreement, cut
from edgekit.packaging.passes.freeze import FreezeShapes
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.probe import Feed, feeds_for
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.hints import Hints
from edgekit.runtime.model import Model
from tests import nms_toys, toys

NMS = ["NonMaxSuppression"]
TOPK = ["TopK"]
PIXELS = {"boxes": "xyxy", "relative": False, "nms": True, "multi_label": False}


def opened(model: onnx.ModelProto, interface: Interface | None = None) -> Model:
    created = session.create(model.SerializeToString(), name="the toy")
    return Model(created, interface or interfaces.identify(created, Hints()).interface, path=Path("the toy"))


def without(model: onnx.ModelProto, forbidden: Sequence[str]) -> Cut:
    """The cut of a model that has to be cut, and is valid."""
    found = cut(model, forbidden)
    assert found is not None
    onnx.checker.check_model(found.model, full_check=True)
    return found


def feeds(model: Model, seed: int = 0, count: int = 3) -> list[Feed]:
    rng = np.random.default_rng(seed)
    return feeds_for(model, [rng.integers(0, 256, (48, 64, 3), np.uint8) for _ in range(count)], seed)


def agreed(original: onnx.ModelProto, found: Cut, seed: int = 0) -> int:
    """On how many objects the two models agree."""
    reference = opened(original)
    return agreement(reference, opened(found.model, found.interface(reference.interface)), feeds(reference, seed))


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


def declared(values: Sequence[onnx.ValueInfoProto]) -> dict[str, list[int]]:
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in values}


TAILS: dict[str, tuple[Any, Sequence[str], str, dict[str, Any], dict[str, Any]]] = {
    "centres": (
        lambda: nms_toys.with_nms(toys.detector()),
        NMS,
        "yolov8",
        {},
        {"conf": 0.25, "iou": 0.7, "max_detections": 300},
    ),
    "corners": (
        lambda: nms_toys.with_nms(nms_toys.corner_detector(), corners=True, conf=0.4, iou=0.6, most=50),
        NMS,
        "scored_boxes",
        PIXELS,
        {"conf": 0.4, "iou": 0.6, "max_detections": 50},
    ),
    "across classes": (
        lambda: nms_toys.with_nms(toys.detector(), agnostic=True),
        NMS,
        "yolov8",
        {},
        {"conf": 0.25, "iou": 0.7, "max_detections": 300, "class_agnostic": True},
    ),
    "per class": (
        lambda: nms_toys.with_nms_per_class(toys.detector()),
        NMS,
        "scored_boxes",
        PIXELS | {"multi_label": True},
        {"conf": 0.3, "iou": 0.5},
    ),
    "per class, of centres": (
        lambda: nms_toys.with_nms_per_class(toys.detector(), centres=True),
        NMS,
        "scored_boxes",
        PIXELS | {"multi_label": True, "boxes": "xywh"},
        {"conf": 0.3, "iou": 0.5},
    ),
    "the best": (
        lambda: nms_toys.with_best(toys.detector()),
        TOPK,
        "scored_boxes",
        {"boxes": "xyxy", "relative": True, "nms": False, "multi_label": True},
        {"max_detections": 20},
    ),
    "the best, twice": (
        lambda: nms_toys.with_best_twice(toys.detector()),
        TOPK,
        "scored_boxes",
        {"boxes": "xyxy", "relative": False, "nms": False, "multi_label": True},
        {"max_detections": 30},
    ),
}


@pytest.mark.parametrize("tail", TAILS)
def test_a_tail_goes_and_a_decoder_finds_the_same_objects(tail: str) -> None:
    build, forbidden, decoder, options, postprocess = TAILS[tail]
    model = build()
    found = without(model, forbidden)
    assert (found.decoder, found.decoder_options, found.postprocess) == (decoder, options, postprocess)
    assert found.left == ()
    assert operators(found.model) <= {"Conv", "Mul", "Div", "Sub", "Add", "Reshape", "Sigmoid"} | {
        *("Concat", "Transpose", "Slice"),
    }
    assert agreed(model, found) > 5


@settings(max_examples=15)
@given(
    conf=st.sampled_from([0.1, 0.25, 0.45, 0.5]),
    iou=st.sampled_from([0.3, 0.45, 0.6, 0.7]),
    corners=st.booleans(),
    agnostic=st.booleans(),
    seed=st.integers(0, 99),
)
@example(conf=0.1, iou=0.6, corners=False, agnostic=False, seed=41)  # two boxes overlap by 0.6, but for rounding
def test_whatever_its_thresholds_a_cut_model_finds_the_same(
    conf: float, iou: float, corners: bool, agnostic: bool, seed: int
) -> None:
    head = nms_toys.corner_detector() if corners else toys.detector()
    model = nms_toys.with_nms(head, conf=conf, iou=iou, corners=corners, agnostic=agnostic)
    found = without(model, NMS)
    assert (found.postprocess["conf"], found.postprocess["iou"]) == (conf, iou)
    agreed(model, found, seed)


def test_a_graph_without_a_forbidden_operator_is_not_cut() -> None:
    assert cut(toys.detector(), [*NMS, *TOPK]) is None
    assert cut(nms_toys.with_nms(toys.detector()), TOPK) is None
    assert cut(nms_toys.with_nms(toys.detector()), []) is None


def test_a_model_in_which_the_selection_is_not_needed_is_not_cut() -> None:
    model = nms_toys.with_nms(toys.detector(), keep_head=True)
    del model.graph.output[0]
    assert cut(model, NMS) is None


def test_the_model_that_is_cut_is_not_changed() -> None:
    model = nms_toys.with_best(toys.detector())
    before = model.SerializeToString(deterministic=True)
    without(model, TOPK)
    assert model.SerializeToString(deterministic=True) == before


def test_a_selection_in_the_middle_is_left_and_named() -> None:
    model = nms_toys.selecting_inside(nms_toys.with_best(toys.detector()))
    found = without(model, TOPK)
    assert found.left == ("inside",)
    assert "tail/best" in found.removed
    assert "TopK inside stays: learned layers are behind it" in found.notes
    assert agreed(model, found) > 20


def test_with_nothing_but_a_selection_in_the_middle_the_model_is_as_it_was() -> None:
    model = nms_toys.selecting_inside(toys.detector())
    found = without(model, TOPK)
    assert (found.decoder, found.left, found.removed) == (None, ("inside",), ())
    assert found.model == model
    interface = opened(model).interface
    assert found.interface(interface) == interface


def test_what_only_the_selection_read_is_gone() -> None:
    found = without(nms_toys.with_best(toys.detector()), TOPK)
    assert list(declared(found.model.graph.input)) == ["images"]
    read = {name for node in found.model.graph.node for name in node.input}
    assert {weight.name for weight in found.model.graph.initializer} <= read
    assert any("orig_target_sizes" in note for note in found.notes)


def test_every_removed_node_is_named_and_no_other() -> None:
    model = nms_toys.with_nms(toys.detector())
    found = without(model, NMS)
    kept = {node.name for node in found.model.graph.node}
    assert kept.isdisjoint(found.removed)
    assert kept | set(found.removed) == {node.name for node in model.graph.node}
    assert all(name.startswith("tail/") for name in found.removed)


def test_an_end_that_is_an_output_already_stays_one() -> None:
    model = nms_toys.with_nms(toys.detector(), keep_head=True)
    found = without(model, NMS)
    assert declared(found.model.graph.output) == {"output0": [1, 7, 64]}
    assert found.decoder == "yolov8"


def test_an_end_that_is_read_elsewhere_too_is_read_there_still() -> None:
    """The boxes' tensor is what makes the scores, so it is inside and at the end."""
    model = toys.detector()
    model.graph.node.append(helper.make_node("Mul", ["output0", "up"], ["again"], name="again"))
    model.graph.node.append(helper.make_node("Add", ["again", "output0"], ["sum"], name="sum"))
    model.graph.output[0].name = "sum"
    found = without(nms_toys.with_nms(model), NMS)
    assert declared(found.model.graph.output) == {"output0_1": [1, 7, 64]}
    assert agreed(nms_toys.with_nms(model), found) > 20


def test_an_output_of_another_kind_beside_them_keeps_the_selection() -> None:
    model = nms_toys.with_nms(toys.detector())
    model.graph.output.append(helper.make_tensor_value_info("raw", TensorProto.FLOAT, [1, 7, 8, 8]))
    found = without(model, NMS)
    assert found.decoder is None
    assert found.left
    assert "no decoder reads" in found.notes[0]


def test_the_names_of_new_outputs_are_free() -> None:
    model = nms_toys.with_nms(nms_toys.corner_detector(), corners=True)
    for node in model.graph.node:
        node.input[:] = ["scores" if name == "raw" else name for name in node.input]
        node.output[:] = ["scores" if name == "raw" else name for name in node.output]
    found = without(model, NMS)
    assert list(declared(found.model.graph.output)) == ["boxes", "scores_1"]
    assert agreed(model, found) > 5


def test_tensors_without_a_batch_get_one_and_a_background_is_known() -> None:
    """As torchvision's SSD has them: boxes (N, 4), scores (N, C) with the background first, labels from 1 on."""
    model = nms_toys.with_background(toys.detector())
    found = without(model, NMS)
    assert declared(found.model.graph.output) == {"boxes": [1, 64, 4], "scores": [1, 64, 3]}
    assert found.decoder_options == PIXELS | {"multi_label": True, "background": 0}
    assert found.postprocess == {"conf": 0.3, "iou": 0.5, "max_detections": 25}
    assert agreed(model, found) > 20


def test_a_limit_for_each_class_is_said() -> None:
    found = without(nms_toys.with_nms_per_class(toys.detector(), per_class=12), NMS)
    assert any("at most 12 boxes of a class" in note for note in found.notes)


def test_the_operator_may_be_inside_a_subgraph() -> None:
    """torchvision's exports run NMS in a branch of an If, for images without any candidate."""
    model = nms_toys.with_nms(toys.detector())
    nodes = {node.op_type: node for node in model.graph.node if node.op_type == "NonMaxSuppression"}
    inner = onnx.NodeProto()
    inner.CopyFrom(nodes["NonMaxSuppression"])
    output = inner.output[0]
    inner.output[0] = "inner"
    branch = helper.make_graph([inner], "some", [], [helper.make_tensor_value_info("inner", TensorProto.INT64, None)])
    nothing = helper.make_graph(
        [],
        "none",
        [],
        [helper.make_tensor_value_info("no", TensorProto.INT64, [0, 3])],
        [numpy_helper.from_array(np.zeros((0, 3), np.int64), "no")],
    )
    choice = helper.make_node("If", ["always"], [output], name="choice", then_branch=branch, else_branch=nothing)
    nodes["NonMaxSuppression"].CopyFrom(choice)
    model.graph.initializer.append(numpy_helper.from_array(np.array(True), "always"))
    found = without(model, NMS)
    assert (found.decoder, found.postprocess["iou"], found.left) == ("yolov8", 0.7, ())
    assert agreed(model, found) > 20


def test_the_interface_says_what_is_left_to_do() -> None:
    metadata = toys.METADATA | {"args": "{'nms': True, 'batch': 1}", "end2end": "True"}
    model = nms_toys.with_nms(toys.detector(metadata=metadata), conf=0.4)
    original = opened(model).interface
    assert original.decoder == "end2end"
    found = without(model, NMS).interface(original)
    assert (found.task, found.decoder, found.postprocess["conf"]) == ("detect", "yolov8", 0.4)
    assert [(spec.name, spec.shape, spec.dtype) for spec in found.outputs] == [("output0", (1, 7, 64), "float32")]
    assert found.metadata["args"] == {"nms": False, "batch": 1}  # else every reader would take them for finished
    assert found.metadata["end2end"] is False
    assert found.metadata["names"] == original.metadata["names"]
    assert found.preprocess == original.preprocess


def test_a_model_that_finds_other_objects_is_refused() -> None:
    model = nms_toys.with_nms(toys.detector())
    found = without(model, NMS)
    moved = onnx.ModelProto()
    moved.CopyFrom(found.model)
    scale = next(weight for weight in moved.graph.initializer if weight.name == "scale")
    scale.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scale) * np.float32(1.05), "scale"))
    reference = opened(model)
    with pytest.raises(ModelError, match=r"finds other objects in image 1: \d+ of \d+ are gone or changed"):
        agreement(reference, opened(moved, found.interface(reference.interface)), feeds(reference))


def test_other_numbers_that_scores_are_compared_with_are_no_threshold() -> None:
    model = nms_toys.with_nms(toys.detector(), conf=0.3, aside=0.6)
    found = without(model, NMS)
    assert found.postprocess["conf"] == 0.3
    assert agreed(model, found) > 20


@pytest.mark.parametrize("change", [{"conf": 0.6}, {"conf": 0.1}, {"iou": 0.3}, {"max_detections": 5}])
def test_thresholds_that_are_not_the_graph_s_are_refused(change: dict[str, Any]) -> None:
    model = nms_toys.with_nms(toys.detector(), conf=0.5)
    found = without(model, NMS)
    with pytest.raises(ModelError, match="finds other objects"):
        agreed(model, replace(found, postprocess={**found.postprocess, **change}))


def test_agreement_on_nothing_says_so() -> None:
    model = nms_toys.with_nms(toys.detector(), conf=0.999)
    assert agreed(model, without(model, NMS)) == 0


def test_an_original_that_no_decoder_reads_has_no_agreement() -> None:
    model = nms_toys.with_nms(toys.detector())
    found = without(model, NMS)
    raw = toys.detector()
    raw.graph.output[0].name = "squashed"
    reference = opened(raw, interfaces.identify(opened(raw).session, Hints(task="raw")).interface)
    with pytest.raises(ModelError, match="cannot be read"):
        agreement(reference, opened(found.model, found.interface(reference.interface)), feeds(reference))


def test_a_thousand_nodes_take_no_time() -> None:
    model = nms_toys.with_nms(toys.detector())
    long = [helper.make_node("Relu", ["images"], ["r0"], name="r0")]
    long += [helper.make_node("Relu", [f"r{i}"], [f"r{i + 1}"], name=f"r{i + 1}") for i in range(1000)]
    rest = list(model.graph.node)
    next(node for node in rest if node.op_type == "Conv").input[0] = "r1000"
    del model.graph.node[:]
    model.graph.node.extend([*long, *rest])
    start = time.perf_counter()
    without(model, NMS)
    assert time.perf_counter() - start < 2  # measured: 0.04 s


# Real models


def zoo_photos(zoo: Path) -> list[np.ndarray]:
    cv2 = pytest.importorskip("cv2")
    paths = [*(zoo / "images" / "photos" / name for name in ("bus.jpg", "zidane.jpg"))]
    paths += sorted((zoo / "images" / "coco128" / "images" / "train2017").glob("*.jpg"))[:6]
    return [cv2.imread(str(path)) for path in paths]


def agreed_on_photos(zoo: Path, model: onnx.ModelProto, found: Cut) -> int:
    reference = opened(model)
    images = feeds_for(reference, zoo_photos(zoo), 0)
    return agreement(reference, opened(found.model, found.interface(reference.interface)), images)


@pytest.mark.parametrize("agnostic", [False, True])
def test_yolov8_with_nms_inside_finds_the_same_without(zoo: Path, agnostic: bool) -> None:
    model = nms_toys.with_nms(onnx.load(zoo / "models" / "yolov8n.onnx"), agnostic=agnostic)
    found = without(model, NMS)
    assert found.decoder == "yolov8"  # not yolox, which has rows of the same shape one node further on
    assert declared(found.model.graph.output) == {"output0": [1, 84, 8400]}
    assert agreed_on_photos(zoo, model, found) > 15


def test_yolov8_with_nms_per_class_finds_the_same_without(zoo: Path) -> None:
    model = nms_toys.with_nms_per_class(onnx.load(zoo / "models" / "yolov8n.onnx"))
    found = without(model, NMS)
    assert found.decoder_options["multi_label"] is True
    assert agreed_on_photos(zoo, model, found) > 15


def test_yolov5_with_nms_inside_finds_the_same_without(zoo: Path) -> None:
    model = nms_toys.with_nms(onnx.load(zoo / "models" / "yolov5n.onnx"), objectness=True)
    found = without(model, NMS)
    assert found.decoder == "yolov5"
    assert agreed_on_photos(zoo, model, found) > 15


def test_a_detr_ends_before_its_last_selection(zoo: Path) -> None:
    model = onnx.load(zoo / "models" / "deimv2_atto.onnx")
    shapes = {"images": (1, 3, 320, 320), "orig_target_sizes": (1, 2)}
    model = Simplify()(FreezeShapes(shapes)(model).model).model
    found = without(model, TOPK)
    assert found.left == ("/model/decoder/TopK", "/model/decoder/decoder/lqe_layers.2/TopK")
    assert found.decoder_options == {"boxes": "xyxy", "relative": True, "nms": False, "multi_label": True}
    assert declared(found.model.graph.input) == {"images": [1, 3, 320, 320]}
    assert declared(found.model.graph.output) == {"boxes": [1, 100, 4], "scores": [1, 100, 80]}
    assert agreed_on_photos(zoo, model, found) > 15


def test_sonys_nms_is_known_by_its_definition(zoo: Path) -> None:
    model = onnx.load(zoo / "models" / "yolo11n_imx_model" / "model_imx.onnx")
    model = FreezeShapes({"input": (1, 3, 320, 320)})(model).model
    found = cut(model, NMS)
    assert found is not None
    assert found.decoder_options == PIXELS | {"multi_label": True}
    assert found.postprocess == {"conf": 0.25, "iou": 0.7, "max_detections": 300}
    assert found.removed == ("/MultiClassNMSWithIndices",)
    assert declared(found.model.graph.output) == {"boxes": [1, 2100, 4], "scores": [1, 2100, 80]}
    assert "EdgeMDT" not in {node.domain for node in found.model.graph.node}
