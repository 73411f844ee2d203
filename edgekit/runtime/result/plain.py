"""A result as plain data, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.result import rounding

if TYPE_CHECKING:
    from edgekit.runtime.result.depth import Depths
    from edgekit.runtime.result.result import Result


def result(found: Result) -> dict[str, Any]:
    """See `Result.to_dict`."""
    out: dict[str, Any] = {
        "source": found.source,
        "shape": list(found.shape),
        "task": found.task,
        "detections": _detections(found),
    }
    if found.probs is not None:
        top = [(i, found.probs.data[i]) for i in found.probs.top5]
        out["classes"] = [{**_class(found, i), "score": rounding.score(value)} for i, value in top]
    if found.classes is not None:
        shares = found.classes.shares()
        out["classes"] = [
            {**_class(found, i), "share": rounding.score(shares[i]), "mask": mask} for i, mask in found.classes.rle()
        ]
    if found.depth is not None:
        out["depth"] = _depth(found.depth)
    if found.outputs is not None:
        out["outputs"] = {
            name: {"shape": list(array.shape), "dtype": str(array.dtype)} for name, array in found.outputs.items()
        }
    out["speed_ms"] = {stage: round(float(ms), 3) for stage, ms in found.speed.items()}
    return out


def _detections(found: Result) -> list[dict[str, Any]]:
    if (boxes := found.boxes) is None:
        return []
    out = [
        {"box": rounding.pixels(box), "score": rounding.score(score), **_class(found, int(class_id))}
        for box, score, class_id in zip(boxes.xyxy, boxes.conf, boxes.cls, strict=True)
    ]
    if found.masks is not None:
        for entry, mask in zip(out, found.masks.rle(), strict=True):
            entry["mask"] = mask
    if found.keypoints is not None:
        for entry, points in zip(out, found.keypoints.data, strict=True):
            entry["keypoints"] = [[*rounding.pixels(point[:2]), *map(rounding.score, point[2:])] for point in points]
    if found.obb is not None:
        for entry, box in zip(out, found.obb.xywhr, strict=True):
            entry["obb"] = [*rounding.pixels(box[:4]), rounding.score(box[4])]
    return out


def _class(found: Result, class_id: int) -> dict[str, Any]:
    return {"class_id": class_id, "class_name": found.class_name(class_id)}


def _depth(depths: Depths) -> dict[str, Any]:
    """Nothing of the picture but what sums it up; `known` is the share of pixels with a finite distance."""
    known = depths.range() or (None, None, None)
    values = dict(zip(("min", "median", "max"), known, strict=True))
    share: NDArray[np.bool_] = np.isfinite(depths.data)
    return {**{k: v if v is None else round(v, 4) for k, v in values.items()}, "known": rounding.score(share.mean())}
