"""Boxes and text on a picture: with OpenCV, else with Pillow."""

from __future__ import annotations

import colorsys
import math
import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime import image as images

Color = tuple[int, int, int]  # blue, green, red

_WHITE: Color = (255, 255, 255)
_BLACK: Color = (20, 20, 20)
_WEIGHT = 500  # of OpenCV 5's letters: 400 is regular, 700 bold
_SMALLEST_TEXT = 9  # pixels; below, letters run together
# fonts with more than ASCII, by the names under which systems keep them
_FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial.ttf")


class Painter(Protocol):
    """A canvas with the three things that are drawn. Coordinates are whole pixels; text is placed by its top left."""

    def rectangle(self, box: tuple[int, int, int, int], color: Color, *, width: int) -> None: ...  # noqa: D102

    def text(self, at: tuple[int, int], text: str, color: Color, size: int) -> None: ...  # noqa: D102

    def text_width(self, text: str, size: int) -> int: ...  # noqa: D102

    def picture(self) -> NDArray[np.uint8]: ...  # noqa: D102


def draw_boxes(
    image: NDArray[np.uint8], boxes: NDArray[Any], labels: Sequence[str], class_ids: Sequence[int] | NDArray[Any]
) -> NDArray[np.uint8]:
    """A copy of a BGR image with labelled boxes, a colour for each class. The first box ends up on top.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    painter = _painter(image)
    line, size = _line_width(image), _text_size(image)
    height, width = image.shape[:2]
    corners = np.clip(np.round(boxes), 0, (width - 1, height - 1, width - 1, height - 1)).astype(int).tolist()
    drawn = [
        ((x1, y1, x2, y2), label, color_of(int(class_id)))
        for (x1, y1, x2, y2), label, class_id in zip(corners, labels, class_ids, strict=True)
    ]
    for box, _, color in reversed(drawn):
        painter.rectangle(box, color, width=line)
    for box, label, color in reversed(drawn):  # after all lines, so that none crosses a label
        _draw_label(painter, box, label, color, size, (height, width))
    return painter.picture()


def draw_lines(image: NDArray[np.uint8], lines: Sequence[str]) -> NDArray[np.uint8]:
    """A copy of a BGR image with lines of text on a dark panel at the top left.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    height, width = image.shape[:2]
    size = min(_text_size(image), (height - 4) // max(1, len(lines)) * 2 // 3)
    margin = max(2, size // 2)
    painter = _painter(image)
    fitted = [_fitted(painter, text, size, width - 2 * margin) for text in lines] if size >= _SMALLEST_TEXT else []
    if not any(fitted):
        return painter.picture()
    step = size * 3 // 2
    right = min(width, 2 * margin + max(painter.text_width(text, size) for text in fitted))
    bottom = min(height, margin + step * len(fitted) + margin // 2)
    dark = image.copy()
    dark[:bottom, :right] //= 4
    painter = _painter(dark)
    for i, text in enumerate(fitted):
        painter.text((margin, margin + i * step), text, _WHITE, size)
    return painter.picture()


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
    return _BLACK if luminance > 0.19 else _WHITE


def ascii_of(text: str) -> str:
    """The nearest text that a font with ASCII alone can show.

    >>> ascii_of("Fußgänger 行人")
    'Fussganger ??'
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ł", "l").replace("Ł", "L"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return plain.encode("ascii", "replace").decode()


def _draw_label(
    painter: Painter, box: tuple[int, int, int, int], label: str, color: Color, size: int, image: tuple[int, int]
) -> None:
    """Above the box; inside where there is no room above; never across the picture's border."""
    height, width = image
    margin = max(2, size // 4)
    tall = size + 2 * margin
    text = _fitted(painter, label, size, width - 2 * margin)
    if not text or tall > height:
        return
    wide = painter.text_width(text, size) + 2 * margin
    left = max(0, min(box[0] - _line_width_of(size) // 2, width - wide))
    top = box[1] - tall if box[1] >= tall else min(box[1], height - tall)
    painter.rectangle((left, top, left + wide - 1, top + tall - 1), color, width=-1)
    painter.text((left + margin, top + margin), text, text_color_on(color), size)


def _fitted(painter: Painter, text: str, size: int, width: int) -> str:
    """The text in one line, or as much of its start as fits; empty where that is less than three letters."""
    text = "".join(c if c.isprintable() else " " for c in text)
    if painter.text_width(text, size) <= width:
        return text
    for end in range(len(text) - 1, 2, -1):
        if painter.text_width(text[:end] + "..", size) <= width:
            return text[:end] + ".."
    return ""


def _text_size(image: NDArray[np.uint8]) -> int:
    return max(_SMALLEST_TEXT + 2, round(0.02 * math.sqrt(image.shape[0] * image.shape[1])))


def _line_width(image: NDArray[np.uint8]) -> int:
    return _line_width_of(_text_size(image))


def _line_width_of(size: int) -> int:
    return max(1, round(size / 7))


def _painter(image: NDArray[np.uint8]) -> Painter:
    cv2 = images.opencv()
    if cv2 is not None:
        return _OpenCV(cv2, image)
    pil = images.pillow()
    if pil is not None:
        return _Pillow(pil, image)
    raise images.missing_vision("drawing")


class _OpenCV:
    """OpenCV 5 has fonts with most scripts; before, the strokes of Hershey's, which are ASCII."""

    def __init__(self, cv2: Any, image: NDArray[np.uint8]) -> None:
        self._cv2 = cv2
        self._image = np.ascontiguousarray(image).copy()
        self._font = cv2.FontFace("sans") if hasattr(cv2, "FontFace") else None

    def rectangle(self, box: tuple[int, int, int, int], color: Color, *, width: int) -> None:
        self._cv2.rectangle(self._image, box[:2], box[2:], color, width)

    def text(self, at: tuple[int, int], text: str, color: Color, size: int) -> None:
        cv2, origin = self._cv2, (at[0], at[1] + round(size * 0.82))
        if self._font is not None:
            cv2.putText(self._image, text, origin, color, self._font, size, _WEIGHT)
            return
        hershey, scale, thick = self._hershey(size)
        cv2.putText(self._image, ascii_of(text), origin, hershey, scale, color, thick, cv2.LINE_AA)

    def text_width(self, text: str, size: int) -> int:
        if self._font is not None:
            # measured on no image: on one, text is wrapped at its border
            x, _, wide, _ = self._cv2.getTextSize((0, 0), text, (0, 0), self._font, size, _WEIGHT)
            return int(x + wide)
        hershey, scale, thick = self._hershey(size)
        (wide, _), _ = self._cv2.getTextSize(ascii_of(text), hershey, scale, thick)
        return int(wide)

    def picture(self) -> NDArray[np.uint8]:
        return self._image

    def _hershey(self, size: int) -> tuple[int, float, int]:
        return self._cv2.FONT_HERSHEY_SIMPLEX, size / 31, max(1, round(size / 11))


class _Pillow:
    """A font of the system where one is found: Pillow's own has little beyond ASCII."""

    def __init__(self, pil: Any, image: NDArray[np.uint8]) -> None:
        import PIL.ImageDraw
        import PIL.ImageFont

        self._fonts = PIL.ImageFont
        self._picture = pil.Image.fromarray(np.ascontiguousarray(image[:, :, ::-1]))
        self._draw = PIL.ImageDraw.Draw(self._picture)
        self._loaded: dict[int, tuple[Any, bool]] = {}

    def rectangle(self, box: tuple[int, int, int, int], color: Color, *, width: int) -> None:
        if width < 0:
            self._draw.rectangle(box, fill=color[::-1])
            return
        # Pillow's lines grow inwards, OpenCV's to both sides
        out = width // 2
        self._draw.rectangle((box[0] - out, box[1] - out, box[2] + out, box[3] + out), outline=color[::-1], width=width)

    def text(self, at: tuple[int, int], text: str, color: Color, size: int) -> None:
        font, shown = self._shown(text, size)
        self._draw.text((at[0], at[1] + round(size * 0.82)), shown, fill=color[::-1], font=font, anchor="ls")

    def text_width(self, text: str, size: int) -> int:
        font, shown = self._shown(text, size)
        return int(np.ceil(font.getlength(shown)))

    def picture(self) -> NDArray[np.uint8]:
        return np.ascontiguousarray(np.asarray(self._picture)[:, :, ::-1])

    def _shown(self, text: str, size: int) -> tuple[Any, str]:
        if size not in self._loaded:
            self._loaded[size] = self._load(size)
        font, is_wide = self._loaded[size]
        return font, text if is_wide else ascii_of(text)

    def _load(self, size: int) -> tuple[Any, bool]:
        """A font, and whether it knows more than ASCII."""
        for name in _FONTS:
            try:
                return self._fonts.truetype(name, size), True
            except OSError:  # not on this system, or Pillow was built without FreeType
                continue
        return self._fonts.load_default(size), False
