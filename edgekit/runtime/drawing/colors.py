"""A colour for each class, and for text on it."""

from __future__ import annotations

import colorsys

Color = tuple[int, int, int]  # blue, green, red

WHITE: Color = (255, 255, 255)
BLACK: Color = (20, 20, 20)


def color_of(class_id: int) -> Color:
    """A class's colour. Hues follow the golden ratio, so that neighbours differ most however many classes there are."""
    hue = (0.58 + class_id * 0.618034) % 1
    saturation = (0.85, 0.6, 0.95)[class_id // 7 % 3]
    value = (0.95, 0.75, 1.0, 0.6)[class_id // 5 % 4]
    red, green, blue = colorsys.hsv_to_rgb(hue, saturation, value)
    return (round(blue * 255), round(green * 255), round(red * 255))


def text_color_on(color: Color) -> Color:
    """Black or white, whichever has more contrast (as WCAG counts it)."""
    blue, green, red = ((v / 255) ** 2.2 for v in color)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return BLACK if luminance > 0.19 else WHITE
