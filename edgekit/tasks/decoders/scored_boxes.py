"""scored_boxes: boxes, and a score for each of their classes, in two outputs. Graphs that end before their NMS."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import ModelError
from edgekit.tasks.boxes import xywh_to_xyxy
from edgekit.tasks.decoders.decoder import Outputs, Shapes, Size, check_options, mismatch
from edgekit.tasks.predictions import Detections, Prediction, Settings
from edgekit.tasks.selection import filtered, strongest, suppressed

EXPECTS = "boxes (batch, boxes, 4) and scores (batch, boxes, classes) or (batch, classes, boxes)"
CORNERS: Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "xyxy": lambda boxes: boxes,
    "xywh": xywh_to_xyxy,  # centre and size
    "yxyx": lambda boxes: boxes[:, [1, 0, 3, 2]],
}


@dataclass(frozen=True)
class ScoredBoxes:
    """boxes (B, N, 4), scores (B, N, C) or (B, C, N), told apart by their names `boxes` and `scores`, else by shape."""

    name: ClassVar[str] = "scored_boxes"
    task: ClassVar[str] = "detect"

    size: Size
    boxes: str = "xyxy"  # one of CORNERS
    relative: bool = False  # boxes are in 0..1, not in input pixels
    nms: bool = True  # else the best scores are taken as they are
    multi_label: bool = False  # a box counts for each of its classes, not for its best one only
    background: int | None = None  # this column of the scores is no class; the others keep their numbers

    @classmethod
    def build(cls, size: Size, options: Mapping[str, Any]) -> ScoredBoxes:
        """See `Decoder.build`. The options are the fields."""
        known = [field.name for field in fields(cls) if field.name != "size"]
        check_options(cls.name, options, known)
        for option, value in options.items():
            _check(option, value)
        return cls(size, **options)

    @classmethod
    def fits(cls, shapes: Shapes, size: Size, classes: int | None = None) -> bool:
        """Two such outputs. Two scores a box may be two classes, or one and the background: they must be known."""
        pair = _pair(shapes)
        count = pair and _columns(*pair)
        return count == classes if classes is not None else count not in (None, 2)

    @classmethod
    def class_count(cls, shapes: Shapes) -> int | None:
        """C, the background counted."""
        pair = _pair(shapes)
        return _columns(*pair) if pair else None

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`: boxes (B, N, 4), scores (B, N, C), the background among them."""
        shapes = {name: array.shape for name, array in outputs.items()}
        names = _names(shapes)
        if names is None:
            raise mismatch(self.name, EXPECTS, outputs)
        boxes, scores = (outputs[name] for name in names)
        count = boxes.shape[1]
        return {"boxes": boxes, "scores": scores if scores.shape[1] == count else scores.transpose(0, 2, 1)}

    @np.errstate(over="ignore", invalid="ignore")  # NaN and inf are dropped, not warned of
    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`. Without NMS `settings.iou` and `class_agnostic` have no effect."""
        parts = self.parts(outputs)
        boxes, scores = (parts[name].astype(np.float32, copy=False) for name in ("boxes", "scores"))
        if self.background is not None:
            scores = scores.copy()
            scores[:, :, self.background] = -np.inf  # not finite, so never chosen
        return [self._decode(*image, settings) for image in zip(boxes, scores, strict=True)]

    def _decode(self, boxes: NDArray[np.float32], scores: NDArray[np.float32], settings: Settings) -> Detections:
        limit = settings.max_candidates if self.nms else len(boxes) * scores.shape[1]
        if self.multi_label:
            flat = scores.ravel()
            best = strongest(flat, settings.conf, limit)
            rows, class_ids, kept = best // scores.shape[1], best % scores.shape[1], flat[best]
        else:
            highest = scores.max(axis=1, initial=-np.inf)
            rows = strongest(highest, settings.conf, limit)
            class_ids, kept = scores[rows].argmax(axis=1), highest[rows]
        select = suppressed if self.nms else filtered
        return select(self._in_pixels(boxes[rows]), kept, class_ids, settings)

    def _in_pixels(self, boxes: NDArray[np.float32]) -> NDArray[np.float32]:
        """Corners in input pixels."""
        corners = CORNERS[self.boxes](boxes)
        height, width = self.size
        return corners * np.array([width, height, width, height], np.float32) if self.relative else corners


def _check(option: str, value: Any) -> None:
    """Refuse a value of the wrong kind."""
    if option == "boxes":
        right, kinds = isinstance(value, str) and value in CORNERS, "one of " + ", ".join(CORNERS)
    elif option == "background":
        whole = isinstance(value, int) and not isinstance(value, bool)
        right, kinds = value is None or (whole and value >= 0), "the number of a column"
    else:
        right, kinds = isinstance(value, bool), "true or false"
    if not right:
        raise ModelError(f"decoder scored_boxes: {option} is {value!r}, must be {kinds}")


def _names(shapes: Shapes) -> tuple[str, str] | None:
    """Which output is the boxes, and which the scores; None where they are others, or cannot be told apart."""
    if set(shapes) == {"boxes", "scores"}:
        orders = [("boxes", "scores")]
    elif len(shapes) == 2:
        first, second = shapes
        orders = [(first, second), (second, first)]
    else:
        return None
    fitting = [order for order in orders if _columns(shapes[order[0]], shapes[order[1]]) is not None]
    return fitting[0] if len(fitting) == 1 else None


def _pair(shapes: Shapes) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    names = _names(shapes)
    return (shapes[names[0]], shapes[names[1]]) if names else None


def _columns(boxes: tuple[int, ...], scores: tuple[int, ...]) -> int | None:
    """How many scores a box has; None where these are no boxes and scores."""
    if len(boxes) != 3 or len(scores) != 3 or boxes[2] != 4 or boxes[0] != scores[0] or boxes[1] not in scores[1:]:
        return None
    return scores[2] if scores[1] == boxes[1] else scores[1]
