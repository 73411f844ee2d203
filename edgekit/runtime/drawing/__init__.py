"""What was found, on a picture: with OpenCV, else with Pillow."""

from edgekit.runtime.drawing.areas import blend_masks, draw_classes, draw_depth
from edgekit.runtime.drawing.colors import Color, color_of, text_color_on
from edgekit.runtime.drawing.keypoints import draw_keypoints
from edgekit.runtime.drawing.lines import draw_lines
from edgekit.runtime.drawing.objects import draw_boxes, draw_rotated

__all__ = [
    "Color",
    "blend_masks",
    "color_of",
    "draw_boxes",
    "draw_classes",
    "draw_depth",
    "draw_keypoints",
    "draw_lines",
    "draw_rotated",
    "text_color_on",
]
