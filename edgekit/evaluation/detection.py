"""COCO's detection metrics, by pycocotools."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import DependencyError, UsageError
from edgekit.evaluation.datasets import Objects
from edgekit.evaluation.metric import ClassScore, Scores

if TYPE_CHECKING:
    from edgekit.runtime.result import Result

EVERY_AREA = (0.0, 1e10)


@dataclass(frozen=True)
class _Image:
    """What is kept of an image: its labelled and its found boxes, x y w h."""

    truth: NDArray[np.float64]
    truth_ids: NDArray[np.int64]
    crowd: NDArray[np.bool_]
    found: NDArray[np.float64]
    found_ids: NDArray[np.int64]
    scores: NDArray[np.float64]


@dataclass
class DetectionMetric:
    """Average precision over the classes that have labels: map50_95, map50, map75, each class's too.

    All that the model returns counts; how many that are is the model's setting.

    Raises:
        DependencyError: pycocotools is not installed.
    """

    images: list[_Image] = field(default_factory=list)

    def __post_init__(self) -> None:
        _pycocotools()  # missing it is said before the first image, not after the last

    def add(self, result: Result, truth: Objects) -> None:
        """See `Metric.add`."""
        if result.boxes is None:
            raise UsageError(f"a result of task {result.task} has no boxes to compare with the labels")
        self.images.append(
            _Image(
                _xywh(truth.in_pixels(result.shape, name=result.source)),
                truth.class_ids,
                truth.crowd,
                _xywh(result.boxes.xyxy.astype(np.float64)),
                result.boxes.cls,
                result.boxes.conf.astype(np.float64),
            )
        )

    def scores(self) -> Scores:
        """See `Metric.scores`."""
        labelled = np.concatenate([i.truth_ids[~i.crowd] for i in self.images] or [np.zeros(0, np.int64)])
        present, counts = np.unique(labelled, return_counts=True)
        if not len(present):
            raise UsageError(f"none of the {len(self.images)} images has a labelled object: nothing to measure on")
        precision = self._precision([int(i) for i in present])
        per_class = tuple(
            ClassScore(int(class_id), int(count), _averages(precision[:, :, k]))
            for k, (class_id, count) in enumerate(zip(present, counts, strict=True))
        )
        return Scores(_averages(precision), per_class)

    def _precision(self, present: list[int]) -> NDArray[np.float64]:
        """(10, 101, C): precision by IoU threshold from 0.5 to 0.95, recall from 0 to 1, and class."""
        coco, evaluator_class = _pycocotools()
        with contextlib.redirect_stdout(io.StringIO()):  # it reports its steps with print
            truth, found = coco(), coco()
            truth.dataset, found.dataset = self._annotations(present)
            truth.createIndex()
            found.createIndex()
            evaluator = evaluator_class(truth, found, "bbox")
            evaluator.params.areaRng, evaluator.params.areaRngLbl = [EVERY_AREA], ["all"]
            evaluator.params.maxDets = [max(1, *(len(image.scores) for image in self.images))]
            evaluator.evaluate()
            evaluator.accumulate()
        precision: NDArray[np.float64] = evaluator.eval["precision"][:, :, :, 0, 0]
        return precision

    def _annotations(self, present: list[int]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Truth and detections as COCO has them; classes without labels change nothing and are left out."""
        common = {"images": [{"id": n} for n in range(len(self.images))], "categories": [{"id": i} for i in present]}
        truth: list[dict[str, Any]] = []
        found: list[dict[str, Any]] = []
        for n, image in enumerate(self.images):
            for box, class_id, crowd in zip(image.truth.tolist(), image.truth_ids.tolist(), image.crowd, strict=True):
                truth.append(_annotation(n, class_id, box) | {"iscrowd": int(crowd), "id": len(truth) + 1})
            for k in np.flatnonzero(np.isin(image.found_ids, present)):
                entry = _annotation(n, int(image.found_ids[k]), image.found[k].tolist())
                found.append(entry | {"score": float(image.scores[k]), "id": len(found) + 1})
        return {**common, "annotations": truth}, {**common, "annotations": found}


def _annotation(image: int, class_id: int, box: list[float]) -> dict[str, Any]:
    return {"image_id": image, "category_id": class_id, "bbox": box, "area": box[2] * box[3]}


def _averages(precision: NDArray[np.float64]) -> dict[str, float]:
    return {
        "map50_95": float(precision.mean()),
        "map50": float(precision[0].mean()),
        "map75": float(precision[5].mean()),
    }


def _xywh(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate((boxes[:, :2], boxes[:, 2:] - boxes[:, :2]), axis=1)


def _pycocotools() -> tuple[Any, Any]:
    try:
        from pycocotools.coco import COCO
        from pycocotools.cocoeval import COCOeval
    except ImportError as e:
        raise DependencyError(
            "measuring detections needs pycocotools, which is not installed", hint='pip install "edgekit[host]"'
        ) from e
    return COCO, COCOeval
