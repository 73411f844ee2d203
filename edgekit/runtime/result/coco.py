"""Results as a COCO results file has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime.result import rounding

if TYPE_CHECKING:
    from edgekit.runtime.result.result import Result


def to_coco(results: Iterable[Result], *, categories: Mapping[int, int] | None = None) -> list[dict[str, Any]]:
    """Entries of a COCO results file: image_id, category_id, bbox (x, y, width, height), score.

    With masks `segmentation` (compressed run lengths) is added, with keypoints `keypoints` (x, y and 1 or, where the
    model says it, how sure it is, one after another), with rotated boxes `obb` (centre x, centre y, width,
    height, radians; not COCO's). A class map gives an entry for each class: category_id and `segmentation`.

    An image's id is its file's name without the ending, as a number where it is one: `val/000000000785.jpg` is 785,
    `bus.jpg` is "bus".

    Args:
        categories: COCO category by class id; the class id itself if not given.
    """
    return [
        {"image_id": image_id(result.source), "category_id": i if categories is None else categories[i], **entry}
        for result in results
        for i, entry in _entries(result)
    ]


def image_id(source: str) -> int | str:
    """COCO's id for an image.

    >>> image_id("val/000000000785.jpg"), image_id("photos/bus.jpg")
    (785, 'bus')
    """
    stem = Path(source).stem
    return int(stem) if stem.isascii() and stem.isdigit() else stem


def _entries(result: Result) -> Iterator[tuple[int, dict[str, Any]]]:
    """Class id, and what COCO has for one object."""
    if result.classes is not None:
        for class_id, mask in result.classes.rle():
            yield class_id, {"segmentation": mask}
    if (boxes := result.boxes) is None:
        return
    masks = result.masks.rle() if result.masks is not None else None
    for i, (x1, y1, x2, y2) in enumerate(boxes.xyxy.astype(float)):
        box = rounding.pixels(np.array((x1, y1, x2 - x1, y2 - y1)))
        entry: dict[str, Any] = {"bbox": box, "score": rounding.score(boxes.conf[i])}
        if masks is not None:
            entry["segmentation"] = masks[i]
        if result.keypoints is not None:
            entry["keypoints"] = _flat(result.keypoints.data[i])
        if result.obb is not None:
            entry["obb"] = [*rounding.pixels(result.obb.xywhr[i, :4]), rounding.score(result.obb.xywhr[i, 4])]
        yield int(boxes.cls[i]), entry


def _flat(points: NDArray[np.float32]) -> list[float]:
    """(K, 2 or 3): x, y and the third value of each point."""
    third = points[:, 2] if points.shape[1] == 3 else np.ones(len(points))
    return [v for point, c in zip(points, third, strict=True) for v in (*rounding.pixels(point[:2]), rounding.score(c))]
