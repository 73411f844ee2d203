"""What a model found in one image, in the pixels of that image: boxes, masks, keypoints, maps, probabilities."""

from edgekit.runtime.result.boxes import Boxes
from edgekit.runtime.result.classes import ClassAreas
from edgekit.runtime.result.coco import image_id, to_coco
from edgekit.runtime.result.depth import Depths
from edgekit.runtime.result.keypoints import Keypoints
from edgekit.runtime.result.masks import Masks
from edgekit.runtime.result.probs import Probs
from edgekit.runtime.result.result import Result
from edgekit.runtime.result.rotated import RotatedBoxes

__all__ = [
    "Boxes",
    "ClassAreas",
    "Depths",
    "Keypoints",
    "Masks",
    "Probs",
    "Result",
    "RotatedBoxes",
    "image_id",
    "to_coco",
]
