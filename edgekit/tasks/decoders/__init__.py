"""The decoders by name. A new one is a class in a file of its own, and a line in `_ALL`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from edgekit.errors import ModelError
from edgekit.tasks.decoders.arranged import Arranged
from edgekit.tasks.decoders.classify import Classify
from edgekit.tasks.decoders.decoder import Decoder, Size
from edgekit.tasks.decoders.depth import Depth
from edgekit.tasks.decoders.detr import Detr
from edgekit.tasks.decoders.edgemdt import EdgeMdt, EdgeMdtPose, EdgeMdtSegment
from edgekit.tasks.decoders.end2end import End2End, End2EndObb, End2EndPose, End2EndSegment
from edgekit.tasks.decoders.fastestdet import FastestDet
from edgekit.tasks.decoders.nanodet import NanoDet
from edgekit.tasks.decoders.scored_boxes import ScoredBoxes
from edgekit.tasks.decoders.semantic import Semantic
from edgekit.tasks.decoders.ssd import Ssd
from edgekit.tasks.decoders.yolov5 import YoloV5
from edgekit.tasks.decoders.yolov5_heads import YoloV5Heads
from edgekit.tasks.decoders.yolov8 import YoloV8, YoloV8Obb, YoloV8Pose, YoloV8Segment
from edgekit.tasks.decoders.yolox import YoloX

_ALL: tuple[type[Decoder], ...] = (
    YoloV8,
    YoloV8Segment,
    YoloV8Pose,
    YoloV8Obb,
    YoloV5,
    YoloV5Heads,
    YoloX,
    NanoDet,
    FastestDet,
    End2End,
    End2EndSegment,
    End2EndPose,
    End2EndObb,
    EdgeMdt,
    EdgeMdtSegment,
    EdgeMdtPose,
    Detr,
    ScoredBoxes,
    Ssd,
    Classify,
    Semantic,
    Depth,
)

DECODERS: Mapping[str, type[Decoder]] = {decoder.name: decoder for decoder in _ALL}
# those with the option kpt_shape; each tells how many `keypoint_values` there are in outputs
POSES: Mapping[str, type[YoloV8Pose | End2EndPose | EdgeMdtPose]] = {
    decoder.name: decoder for decoder in (YoloV8Pose, End2EndPose, EdgeMdtPose)
}
# those whose outputs come apart and are concatenated
SEPARATE = frozenset({Detr.name, EdgeMdt.name, EdgeMdtSegment.name, EdgeMdtPose.name})

# where their authors' settings are others: NMS of RangiLyu/nanodet nanodet/model/head/gfl_head.py, of
# dog-qiuqiu/FastestDet utils/tool.py, and of arXiv:1512.02325 for ssd, whose softmax over half is likelier than not
SETTINGS: Mapping[str, Mapping[str, float]] = {
    "nanodet": {"iou": 0.6},
    "fastestdet": {"iou": 0.45},
    "ssd": {"conf": 0.5, "iou": 0.45},
}


def build(name: str, size: Size, options: Mapping[str, Any]) -> Decoder | Arranged:
    """The decoder of a model with this input size.

    Args:
        options: the decoder's own, and for any decoder `channels_last`, the names of the outputs whose channels come
            last, and `batch_axis`, false where the outputs have none.

    Raises:
        ModelError: no decoder has this name, or it has no such option.
    """
    arrangement = {key: value for key, value in options.items() if key in ("channels_last", "batch_axis")}
    decoder = get(name).build(size, {key: value for key, value in options.items() if key not in arrangement})
    if not arrangement:
        return decoder
    last = frozenset(map(str, arrangement.get("channels_last", ())))
    return Arranged(decoder, last, batch_axis=arrangement.get("batch_axis") is not False)


def get(name: str) -> type[Decoder]:
    """The decoder of this name.

    Raises:
        ModelError: there is none; the nearest name is suggested.
    """
    if name not in DECODERS:
        near = difflib.get_close_matches(name, DECODERS, n=1)
        raise ModelError(
            f"no decoder {name!r}",
            hint=f"did you mean {near[0]!r}?" if near else f"decoders: {', '.join(DECODERS)}",
        )
    return DECODERS[name]
