"""What nodes cost, against sums done by hand and against the layers themselves."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper

from edgekit.packaging.check.work import macs
from edgekit.packaging.tensors import Tensor


def cost(
    operator: str, shapes: dict[str, tuple[int, ...] | None], inputs: list[str], **attributes: object
) -> int | None:
    node = helper.make_node(operator, inputs, ["y"], **attributes)
    return macs(node, {name: Tensor("float32", shape) for name, shape in shapes.items()})


@pytest.mark.parametrize(
    ("operator", "shapes", "expected"),
    [
        ("Conv", {"x": (1, 3, 8, 8), "w": (16, 3, 3, 3), "y": (1, 16, 6, 6)}, 16 * 36 * 27),
        ("Conv", {"x": (1, 32, 8, 8), "w": (32, 1, 3, 3), "y": (1, 32, 8, 8)}, 32 * 64 * 9),  # depthwise
        ("ConvTranspose", {"x": (1, 8, 4, 4), "w": (8, 6, 2, 2), "y": (1, 6, 8, 8)}, 8 * 16 * 6 * 4),
        ("MatMul", {"x": (2, 5, 7), "w": (2, 7, 3), "y": (2, 5, 3)}, 2 * 5 * 3 * 7),
        ("Gemm", {"x": (4, 10), "w": (6, 10), "y": (4, 6)}, 4 * 6 * 10),  # transB
        ("Gemm", {"x": (4, 10), "w": (10, 6), "y": (4, 6)}, 4 * 6 * 10),
        ("ConvInteger", {"x": (1, 3, 8, 8), "w": (16, 3, 3, 3), "y": (1, 16, 6, 6)}, 16 * 36 * 27),
    ],
)
def test_a_weighted_node_costs_its_products(operator: str, shapes: dict[str, tuple[int, ...]], expected: int) -> None:
    assert cost(operator, dict(shapes), ["x", "w"]) == expected


def test_the_weights_of_an_integer_convolution_are_its_fourth_input() -> None:
    inputs = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    shapes = {"x": (1, 3, 8, 8), "w": (16, 3, 3, 3), "y": (1, 16, 6, 6)}
    assert cost("QLinearConv", dict(shapes), inputs) == 16 * 36 * 27


def test_a_node_without_weights_costs_nothing() -> None:
    assert cost("Relu", {}, ["x"]) == 0


@pytest.mark.parametrize("missing", [None, (1, -1, 8, 8)])
def test_a_shape_that_is_not_known_makes_the_cost_unknown(missing: tuple[int, ...] | None) -> None:
    shapes = {"x": missing, "w": (16, 3, 3, 3), "y": (1, 16, 6, 6)}
    assert cost("Conv", shapes, ["x", "w"]) is None


def test_a_real_model_costs_what_its_makers_say(zoo: object) -> None:
    """YOLOv8n at 640: 8.7 GFLOPs by Ultralytics' table, two of which are one multiply-accumulate."""
    from edgekit.packaging import tensors

    model = onnx.load(f"{zoo}/models/yolov8n.onnx")
    known = tensors.read(model)
    total = sum(macs(node, known) or 0 for node in model.graph.node)
    assert total * 2 == pytest.approx(8.7e9, rel=0.02)
