"""A canvas: with OpenCV, else with Pillow."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edgekit.runtime import image as images
from edgekit.runtime.drawing.colors import Color

Point = tuple[int, int]

WEIGHT = 500  # of OpenCV 5's letters: 400 is regular, 700 bold
# fonts with more than ASCII, by the names under which systems keep them
FONTS = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial.ttf")


class Painter(Protocol):
    """What is drawn is made of these. Coordinates are whole pixels; text is placed by its top left."""

    def rectangle(self, box: tuple[int, int, int, int], color: Color, *, width: int) -> None: ...  # noqa: D102

    def line(self, start: Point, end: Point, color: Color, *, width: int) -> None: ...  # noqa: D102

    def polygon(self, points: Sequence[Point], color: Color, *, width: int) -> None: ...  # noqa: D102

    def disc(self, at: Point, radius: int, color: Color) -> None: ...  # noqa: D102

    def text(self, at: Point, text: str, color: Color, size: int) -> None: ...  # noqa: D102

    def text_width(self, text: str, size: int) -> int: ...  # noqa: D102

    def picture(self) -> NDArray[np.uint8]: ...  # noqa: D102


def on(image: NDArray[np.uint8]) -> Painter:
    """A painter on a copy of a BGR image.

    Raises:
        DependencyError: neither OpenCV nor Pillow is here.
    """
    cv2 = images.opencv()
    if cv2 is not None:
        return _OpenCV(cv2, image)
    pil = images.pillow()
    if pil is not None:
        return _Pillow(pil, image)
    raise images.missing_vision("drawing")


def ascii_of(text: str) -> str:
    """The nearest text that a font with ASCII alone can show.

    >>> ascii_of("Fußgänger 行人")
    'Fussganger ??'
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ł", "l").replace("Ł", "L"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    return plain.encode("ascii", "replace").decode()


class _OpenCV:
    """OpenCV 5 has fonts with most scripts; before, the strokes of Hershey's, which are ASCII."""

    def __init__(self, cv2: Any, image: NDArray[np.uint8]) -> None:
        self._cv2 = cv2
        self._image = np.ascontiguousarray(image).copy()
        self._font = cv2.FontFace("sans") if hasattr(cv2, "FontFace") else None

    def rectangle(self, box: tuple[int, int, int, int], color: Color, *, width: int) -> None:
        self._cv2.rectangle(self._image, box[:2], box[2:], color, width)

    def line(self, start: Point, end: Point, color: Color, *, width: int) -> None:
        self._cv2.line(self._image, start, end, color, width, self._cv2.LINE_AA)

    def polygon(self, points: Sequence[Point], color: Color, *, width: int) -> None:
        outline = np.array(points, np.int32)
        self._cv2.polylines(self._image, [outline], True, color, width, self._cv2.LINE_AA)

    def disc(self, at: Point, radius: int, color: Color) -> None:
        self._cv2.circle(self._image, at, radius, color, -1, self._cv2.LINE_AA)

    def text(self, at: Point, text: str, color: Color, size: int) -> None:
        cv2, origin = self._cv2, (at[0], at[1] + round(size * 0.82))
        if self._font is not None:
            cv2.putText(self._image, text, origin, color, self._font, size, WEIGHT)
            return
        hershey, scale, thick = self._hershey(size)
        cv2.putText(self._image, ascii_of(text), origin, hershey, scale, color, thick, cv2.LINE_AA)

    def text_width(self, text: str, size: int) -> int:
        if self._font is not None:
            # measured on no image: on one, text is wrapped at its border
            x, _, wide, _ = self._cv2.getTextSize((0, 0), text, (0, 0), self._font, size, WEIGHT)
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

    def line(self, start: Point, end: Point, color: Color, *, width: int) -> None:
        self._draw.line((start, end), fill=color[::-1], width=width)

    def polygon(self, points: Sequence[Point], color: Color, *, width: int) -> None:
        self._draw.line((*points, points[0]), fill=color[::-1], width=width, joint="curve")

    def disc(self, at: Point, radius: int, color: Color) -> None:
        (x, y), r = at, radius
        self._draw.ellipse((x - r, y - r, x + r, y + r), fill=color[::-1])

    def text(self, at: Point, text: str, color: Color, size: int) -> None:
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
        for name in FONTS:
            try:
                return self._fonts.truetype(name, size), True
            except OSError:  # not on this system, or Pillow was built without FreeType
                continue
        return self._fonts.load_default(size), False
