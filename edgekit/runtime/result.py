"""What a model found in one image, in the pixels of that image."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import DependencyError, UsageError
from edgekit.runtime import drawing
from edgekit.runtime import image as images
from edgekit.runtime.transform import Geometry
from edgekit.tasks.predictions import Prediction, Probabilities

# a hundredth of a pixel and 1e-5 are below what a model resolves, and keep JSON short
BOX_DECIMALS = 2
SCORE_DECIMALS = 5


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of one image, best score first.

    xyxy: (N, 4) float32, x1 y1 x2 y2 in pixels of the image.
    conf: (N,) float32 in 0..1.
    cls: (N,) int64.
    shape: height, width of the image.
    """

    xyxy: NDArray[np.float32]
    conf: NDArray[np.float32]
    cls: NDArray[np.int64]
    shape: tuple[int, int]

    def __len__(self) -> int:
        return len(self.conf)

    @property
    def xywh(self) -> NDArray[np.float32]:
        """(N, 4): centre x, centre y, width, height in pixels."""
        low, high = self.xyxy[:, :2], self.xyxy[:, 2:]
        return np.concatenate(((low + high) / 2, high - low), axis=1)

    @property
    def xyxyn(self) -> NDArray[np.float32]:
        """`xyxy` as parts of the image's width and height."""
        return self.xyxy / self._sides

    @property
    def xywhn(self) -> NDArray[np.float32]:
        """`xywh` as parts of the image's width and height."""
        return self.xywh / self._sides

    @property
    def _sides(self) -> NDArray[np.float32]:
        height, width = self.shape
        return np.array((width, height, width, height), np.float32)


@dataclass(frozen=True, eq=False)
class Probs:
    """Class probabilities of one image: (C,) float32.

    >>> Probs(np.array([0.1, 0.7, 0.2], np.float32)).top5
    [1, 2, 0]
    """

    data: NDArray[np.float32]

    @property
    def top5(self) -> list[int]:
        """The five likeliest classes (fewer if there are fewer), likeliest first; the lower id where they tie."""
        return [int(i) for i in np.argsort(-self.data, kind="stable")[:5]]

    @property
    def top5conf(self) -> NDArray[np.float32]:
        """Their probabilities."""
        return self.data[self.top5]

    @property
    def top1(self) -> int:
        """The likeliest class."""
        return int(np.argmax(self.data))

    @property
    def top1conf(self) -> float:
        """Its probability."""
        return float(self.data[self.top1])


@dataclass(frozen=True, eq=False)
class Result:
    """What a model found in one image.

    Of `boxes`, `probs` and `outputs` one is set, by task: detect, classify, raw.
    """

    source: str  # the name that the user gave
    shape: tuple[int, int]  # height, width
    task: str
    names: Mapping[int, str] = field(default_factory=dict)
    boxes: Boxes | None = None
    probs: Probs | None = None
    outputs: Mapping[str, NDArray[Any]] | None = None
    speed: Mapping[str, float] = field(default_factory=dict)  # milliseconds: preprocess, inference, postprocess
    image: NDArray[np.uint8] | None = None  # BGR, for `plot`

    @classmethod
    def from_prediction(
        cls,
        prediction: Prediction,
        geometry: Geometry,
        *,
        source: str,
        task: str,
        names: Mapping[int, str] | None = None,
        speed: Mapping[str, float] | None = None,
        image: NDArray[np.uint8] | None = None,
    ) -> Result:
        """Bring a prediction back from the model's input to the image.

        Boxes are clipped to the image; those that lie wholly in the padding are dropped.
        """
        boxes, probs = None, None
        if isinstance(prediction, Probabilities):
            probs = Probs(prediction.values)
        else:
            xyxy = geometry.to_image(prediction.boxes)
            kept = (xyxy[:, 2] > xyxy[:, 0]) & (xyxy[:, 3] > xyxy[:, 1])
            boxes = Boxes(xyxy[kept], prediction.scores[kept], prediction.class_ids[kept], geometry.image)
        return cls(source, geometry.image, task, names or {}, boxes=boxes, probs=probs, speed=speed or {}, image=image)

    @classmethod
    def from_outputs(
        cls,
        outputs: Mapping[str, NDArray[Any]],
        *,
        source: str,
        image: NDArray[np.uint8],
        names: Mapping[int, str] | None = None,
        speed: Mapping[str, float] | None = None,
    ) -> Result:
        """The result of task raw: the outputs as the session gave them."""
        shape = (image.shape[0], image.shape[1])
        return cls(source, shape, "raw", names or {}, outputs=outputs, speed=speed or {}, image=image)

    def __len__(self) -> int:
        """How many objects were found."""
        return len(self.boxes) if self.boxes is not None else 0

    def __bool__(self) -> bool:
        """A result is one, also without objects."""
        return True

    def class_name(self, class_id: int) -> str:
        """Its name; `class_7` for one without."""
        return str(self.names.get(int(class_id), f"class_{int(class_id)}"))

    def summary(self) -> str:
        """One line for people: `4 person, 1 bus`, by class id."""
        if self.boxes is not None:
            counts = sorted(Counter(self.boxes.cls.tolist()).items())
            return ", ".join(f"{n} {self.class_name(i)}" for i, n in counts) or "no detections"
        if self.probs is not None:
            return ", ".join(f"{self.class_name(i)} {self.probs.data[i]:.2f}" for i in self.probs.top5)
        return ", ".join(f"{name} {a.dtype}{list(a.shape)}" for name, a in (self.outputs or {}).items())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, an entry of `results` in the schema `edgekit.run/1`.

        Boxes are rounded to 2 decimals, scores to 5. `classes` (the top five) is there for classify, `outputs`
        (shape and dtype of each, not the values) for raw.
        """
        out: dict[str, Any] = {
            "source": self.source,
            "shape": list(self.shape),
            "task": self.task,
            "detections": self._detections(),
        }
        if self.probs is not None:
            out["classes"] = [
                {"class_id": i, "class_name": self.class_name(i), "score": _score(self.probs.data[i])}
                for i in self.probs.top5
            ]
        if self.outputs is not None:
            out["outputs"] = {
                name: {"shape": list(array.shape), "dtype": str(array.dtype)} for name, array in self.outputs.items()
            }
        out["speed_ms"] = {stage: round(float(ms), 3) for stage, ms in self.speed.items()}
        return out

    def plot(self) -> NDArray[np.uint8]:
        """A copy of the image with the boxes drawn on it, or with the top five classes written on it.

        Raises:
            UsageError: the result was made without its image.
            DependencyError: neither OpenCV nor Pillow is here.
        """
        if self.image is None:
            raise UsageError(f"the result for {self.source} was made without its image: nothing to draw on")
        if self.boxes is not None:
            labels = [f"{self.class_name(i)} {s:.2f}" for i, s in zip(self.boxes.cls, self.boxes.conf, strict=True)]
            return drawing.draw_boxes(self.image, self.boxes.xyxy, labels, self.boxes.cls)
        if self.probs is not None:
            lines = [f"{self.probs.data[i]:.2f}  {self.class_name(i)}" for i in self.probs.top5]
            return drawing.draw_lines(self.image, lines)
        return self.image.copy()

    def save(self, path: Path | str) -> None:
        """Write `plot()` to a picture; its format goes by the ending.

        Raises:
            UsageError: no format has this ending, or there is no image to draw on.
            EdgekitError: it cannot be written.
        """
        images.write(path, self.plot())

    def to_supervision(self) -> Any:
        """The boxes as `supervision.Detections`.

        Raises:
            DependencyError: supervision is not installed.
            UsageError: the task has no boxes.
        """
        if self.boxes is None:
            raise UsageError(f"a result of task {self.task} has no boxes for supervision")
        try:
            import supervision
        except ImportError as e:
            raise DependencyError("supervision is not installed", hint="pip install supervision") from e
        return supervision.Detections(
            xyxy=self.boxes.xyxy,
            confidence=self.boxes.conf,
            class_id=self.boxes.cls,
            data={"class_name": np.array([self.class_name(i) for i in self.boxes.cls], dtype=str)},
        )

    def _detections(self) -> list[dict[str, Any]]:
        if self.boxes is None:
            return []
        return [
            {
                "box": [round(float(side), BOX_DECIMALS) for side in box],
                "score": _score(score),
                "class_id": int(class_id),
                "class_name": self.class_name(class_id),
            }
            for box, score, class_id in zip(self.boxes.xyxy, self.boxes.conf, self.boxes.cls, strict=True)
        ]


def to_coco(results: Iterable[Result], *, categories: Mapping[int, int] | None = None) -> list[dict[str, Any]]:
    """Entries of a COCO results file: image_id, category_id, bbox (x, y, width, height), score.

    An image's id is its file's name without the ending, as a number where it is one: `val/000000000785.jpg` is 785,
    `bus.jpg` is "bus".

    Args:
        categories: COCO category by class id; the class id itself if not given.
    """
    return [
        {
            "image_id": image_id(result.source),
            "category_id": int(i) if categories is None else categories[int(i)],
            "bbox": [round(float(v), BOX_DECIMALS) for v in (x1, y1, x2 - x1, y2 - y1)],
            "score": _score(score),
        }
        for result in results
        if result.boxes is not None
        for (x1, y1, x2, y2), score, i in zip(
            result.boxes.xyxy.astype(float), result.boxes.conf, result.boxes.cls, strict=True
        )
    ]


def image_id(source: str) -> int | str:
    """COCO's id for an image.

    >>> image_id("val/000000000785.jpg"), image_id("photos/bus.jpg")
    (785, 'bus')
    """
    stem = Path(source).stem
    return int(stem) if stem.isascii() and stem.isdigit() else stem


def _score(value: Any) -> float:
    return round(float(value), SCORE_DECIMALS)
