"""The result of one image, whatever the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import DependencyError, UsageError
from edgekit.runtime import drawing
from edgekit.runtime import image as images
from edgekit.runtime.result import plain
from edgekit.runtime.result.boxes import Boxes
from edgekit.runtime.result.classes import ClassAreas
from edgekit.runtime.result.depth import Depths
from edgekit.runtime.result.keypoints import Keypoints
from edgekit.runtime.result.masks import Masks
from edgekit.runtime.result.probs import Probs
from edgekit.runtime.result.rotated import RotatedBoxes
from edgekit.runtime.transform import Geometry
from edgekit.tasks import rotated
from edgekit.tasks.predictions import ClassMap, DepthMap, Detections, Prediction, Probabilities


@dataclass(frozen=True, eq=False)
class Result:
    """What a model found in one image; what there is goes by the task.

    detect: `boxes`. segment, pose, obb: `boxes` and, one for each of them, `masks`, `keypoints` or `obb`. classify:
    `probs`. semantic: `classes`. depth: `depth`. raw: `outputs`.
    """

    source: str  # the name that the user gave
    shape: tuple[int, int]  # height, width
    task: str
    names: Mapping[int, str] = field(default_factory=dict)
    boxes: Boxes | None = None
    masks: Masks | None = None
    keypoints: Keypoints | None = None
    obb: RotatedBoxes | None = None
    probs: Probs | None = None
    classes: ClassAreas | None = None
    depth: Depths | None = None
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
        bare = cls(source, geometry.image, task, names or {}, speed=speed or {}, image=image)
        match prediction:
            case Detections():
                return replace(bare, **_objects(prediction, geometry))
            case Probabilities():
                return replace(bare, probs=Probs(prediction.values))
            case ClassMap():
                return replace(bare, classes=ClassAreas.of(prediction, geometry))
            case DepthMap():
                return replace(bare, depth=Depths.of(prediction, geometry))

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
        if self.classes is not None:
            return ", ".join(f"{self.class_name(i)} {share:.0%}" for i, share in self.classes.shares().items())
        if self.depth is not None:
            known = self.depth.range()
            return f"from {known[0]:.3g} to {known[2]:.3g}, median {known[1]:.3g}" if known else "no depth is finite"
        return ", ".join(f"{name} {a.dtype}{list(a.shape)}" for name, a in (self.outputs or {}).items())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, an entry of `results` in the schema `edgekit.run/1`.

        Boxes are rounded to 2 decimals, scores to 5. `detections` has for segment a `mask` in COCO's compressed run
        lengths, for pose `keypoints`, for obb an `obb`. `classes` are the top five for classify, each class's share
        and mask for semantic. `depth` sums the distances up; `outputs` are the shapes and dtypes of task raw.
        """
        return plain.result(self)

    def plot(self) -> NDArray[np.uint8]:
        """A copy of the image with what was found drawn on it; for depth, the distances as colours.

        Raises:
            UsageError: the result was made without its image.
            DependencyError: neither OpenCV nor Pillow is here.
        """
        if self.image is None:
            raise UsageError(f"the result for {self.source} was made without its image: nothing to draw on")
        if self.boxes is not None:
            return self._plot_objects(self.image, self.boxes)
        if self.probs is not None:
            lines = [f"{self.probs.data[i]:.2f}  {self.class_name(i)}" for i in self.probs.top5]
            return drawing.draw_lines(self.image, lines)
        if self.classes is not None:
            found = [(i, f"{self.class_name(i)} {share:.0%}") for i, share in self.classes.shares().items()]
            return drawing.draw_classes(self.image, self.classes.data, dict(found))
        if self.depth is not None:
            return drawing.draw_depth(self.depth.data, self.summary())
        return self.image.copy()

    def save(self, path: Path | str) -> None:
        """Write `plot()` to a picture; its format goes by the ending.

        Raises:
            UsageError: no format has this ending, or there is no image to draw on.
            EdgekitError: it cannot be written.
        """
        images.write(path, self.plot())

    def save_map(self, path: Path | str) -> Path | None:
        """Write what a picture for people does not hold, beside it: `stem-classes.png`, a grey picture of the class
        ids (of those below 256), or `stem-depth.npy`, float32 (H, W).

        Args:
            path: of the picture.

        Returns:
            The file; None for a task without a map.

        Raises:
            EdgekitError: it cannot be written.
        """
        path = Path(path)
        if self.classes is not None:
            written = path.with_name(f"{path.stem}-classes.png")
            images.write(written, self.classes.data.astype(np.uint8))
            return written
        if self.depth is not None:
            written = path.with_name(f"{path.stem}-depth.npy")
            images.write_array(written, self.depth.data)
            return written
        return None

    def to_supervision(self) -> Any:
        """The objects as `supervision.Detections`, with masks, and with the corners of rotated boxes.

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
        data: dict[str, Any] = {"class_name": np.array([self.class_name(i) for i in self.boxes.cls], dtype=str)}
        if self.obb is not None:
            data["xyxyxyxy"] = self.obb.xyxyxyxy
        return supervision.Detections(
            xyxy=self.boxes.xyxy,
            mask=self.masks.data if self.masks is not None and len(self.masks) else None,
            confidence=self.boxes.conf,
            class_id=self.boxes.cls,
            data=data,
        )

    def _plot_objects(self, image: NDArray[np.uint8], boxes: Boxes) -> NDArray[np.uint8]:
        labels = [f"{self.class_name(i)} {s:.2f}" for i, s in zip(boxes.cls, boxes.conf, strict=True)]
        if self.masks is not None:
            image = drawing.blend_masks(image, [(c.pixels, c.top, c.left) for c in self.masks.crops], boxes.cls)
        if self.obb is not None:
            return drawing.draw_rotated(image, self.obb.xyxyxyxy, labels, boxes.cls)
        image = drawing.draw_boxes(image, boxes.xyxy, labels, boxes.cls)
        return (
            image if self.keypoints is None else drawing.draw_keypoints(image, self.keypoints.xy, self.keypoints.conf)
        )


def _objects(found: Detections, geometry: Geometry) -> dict[str, Any]:
    """What `Result` has of detections."""
    turned = None if found.rotated is None else geometry.rotated_to_image(found.rotated)
    xyxy = geometry.to_image(found.boxes) if turned is None else geometry.clipped(rotated.enclosing(turned))
    kept = (xyxy[:, 2] > xyxy[:, 0]) & (xyxy[:, 3] > xyxy[:, 1])
    out: dict[str, Any] = {"boxes": Boxes(xyxy[kept], found.scores[kept], found.class_ids[kept], geometry.image)}
    if turned is not None:
        out["obb"] = RotatedBoxes(turned[kept])
    if found.keypoints is not None:
        points = found.keypoints[kept]
        conf = points[:, :, 2] if points.shape[2] == 3 else None
        out["keypoints"] = Keypoints(geometry.points_to_image(points[:, :, :2]), conf)
    if found.masks is not None:
        mixture = replace(found.masks, coefficients=found.masks.coefficients[kept])
        out["masks"] = Masks.mixed(mixture, xyxy[kept], geometry)
    return out
