"""EdgeMDT's NMS, which Sony's converter knows and onnxruntime does not: what its definition says of its inputs.

boxes (B, N, 4) are corners, scores (B, N, C), and each class of a box counts for itself (sony/custom_layers,
sony_custom_layers/pytorch/nms/nms_common.py). In Ultralytics' `imx` exports, the only ones known, boxes are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import onnx

from edgekit.packaging.cutting.reading import Reading
from edgekit.packaging.cutting.tensors import Tensor

DOMAIN = "EdgeMDT"
READING = Reading(
    "scored_boxes", ("boxes", "scores"), {"boxes": "xyxy", "relative": False, "nms": True, "multi_label": True}
)


def is_nms(node: onnx.NodeProto) -> bool:
    """Whether a node is MultiClassNMS or MultiClassNMSWithIndices; MultiClassNMSOBB takes other boxes."""
    return node.domain == DOMAIN and node.op_type in ("MultiClassNMS", "MultiClassNMSWithIndices")


def boxes(nodes: Iterable[onnx.NodeProto], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The boxes that such nodes read, whose shape follows from that of the scores."""
    found = {}
    for node in filter(is_nms, nodes):
        scores = tensors.get(node.input[1])
        if scores:
            found[node.input[0]] = Tensor(node.input[0], scores.element, (*scores.shape[:2], 4))
    return found
