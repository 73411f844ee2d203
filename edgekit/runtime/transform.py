"""From an image to a model's input tensor, and its boxes back: the arithmetic of `edgekit.preprocessing`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.preprocessing import Interpolation, Preprocess
from edgekit.runtime.image import as_image, opencv

# a crop out of an image resized to more than this many times the input is sampled directly: 1x5000 pixels
# brought to a shorter side of 256 would be 328 million
_LARGEST_DETOUR = 8


@dataclass(frozen=True)
class Geometry:
    """Where an image lies in the model's input: `x_input = x_image * scale + offset`, x and y apart.

    Coordinates are those of pixel edges: an image of width w spans 0 to w.

    Law: `to_image(to_input(boxes))` is `boxes`, clipped to the image.

    >>> g = Geometry(image=(100, 200), input=(640, 640), scale=(3.2, 3.2), offset=(0.0, 160.0))
    >>> g.to_image(np.array([[32, 192, 320, 9999]])).tolist()
    [[10.0, 10.0, 100.0, 100.0]]
    """

    image: tuple[int, int]  # height, width
    input: tuple[int, int]  # height, width
    scale: tuple[float, float]  # x, y
    offset: tuple[float, float]  # x, y

    def to_input(self, boxes: NDArray[Any]) -> NDArray[np.float32]:
        """(N, 4) x1 y1 x2 y2 in image pixels -> the same in pixels of the model's input."""
        scaled: NDArray[np.float32] = np.asarray(boxes * np.tile(self.scale, 2) + np.tile(self.offset, 2), np.float32)
        return scaled

    def to_image(self, boxes: NDArray[Any]) -> NDArray[np.float32]:
        """(N, 4) x1 y1 x2 y2 in pixels of the model's input -> image pixels, clipped to the image."""
        return self.points_to_image(boxes.reshape(-1, 2, 2)).reshape(-1, 4)

    def points_to_image(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """(..., 2) x y in pixels of the model's input -> image pixels, clipped to the image."""
        return self.clipped(self._unscaled(points))

    def clipped(self, points: NDArray[Any]) -> NDArray[np.float32]:
        """(..., 2) x y, or (N, 4) x1 y1 x2 y2, in image pixels, clipped to the image."""
        limits = np.tile(self.image[::-1], points.shape[-1] // 2)
        clipped: NDArray[np.float32] = np.clip(points, 0, limits).astype(np.float32)
        return clipped

    def rotated_to_image(self, boxes: NDArray[Any]) -> NDArray[np.float32]:
        """(N, 5) centre x, centre y, width, height, angle in pixels of the model's input -> the same in the image.

        Not clipped: a part of a rotated box is none. Where x and y are scaled apart, sides keep their directions and
        lengths, and the angle is the width's.
        """
        cos, sin = np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
        along = boxes[:, 2, None] * np.stack((cos, sin), axis=1) / self.scale
        across = boxes[:, 3, None] * np.stack((-sin, cos), axis=1) / self.scale
        lengths = np.stack((np.hypot(*along.T), np.hypot(*across.T)), axis=1)
        angles = np.arctan2(sin / self.scale[1], cos / self.scale[0])
        out = np.concatenate((self._unscaled(boxes[:, :2]), lengths, angles[:, None]), axis=1)
        return out.astype(np.float32)

    def places_in(
        self, grid: tuple[int, int], rows: NDArray[Any], columns: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where the centres of the image's pixels lie in a map of the whole input, in indices of that map.

        Args:
            grid: height and width of the map.
            rows, columns: indices of pixels.
        """
        (scale_x, scale_y), (x, y), (height, width) = self.scale, self.offset, self.input
        down = ((rows + 0.5) * scale_y + y) * (grid[0] / height) - 0.5
        right = ((columns + 0.5) * scale_x + x) * (grid[1] / width) - 0.5
        return np.clip(down, 0, grid[0] - 1), np.clip(right, 0, grid[1] - 1)

    def _unscaled(self, points: NDArray[Any]) -> NDArray[np.float64]:
        unscaled: NDArray[np.float64] = (points - np.array(self.offset)) / np.array(self.scale)
        return unscaled


@dataclass(frozen=True)
class _Placement:
    """A resize to `resized`, of which the part at `start` of size `size` goes to `at` in the input; all (y, x)."""

    resized: tuple[int, int]
    start: tuple[int, int]
    size: tuple[int, int]
    at: tuple[int, int]

    def geometry(self, image: tuple[int, int], size: tuple[int, int]) -> Geometry:
        # the ratio of whole pixels, not the ideal one: it is what the pixels were really scaled by
        return Geometry(
            image=image,
            input=size,
            scale=(self.resized[1] / image[1], self.resized[0] / image[0]),
            offset=(float(self.at[1] - self.start[1]), float(self.at[0] - self.start[0])),
        )


class Transform:
    """Makes a model's input from one image at a time, in buffers that are allocated once.

    The tensor that a call returns is a view of the buffer that the next call fills: copy it to keep it, do not write
    to it. Not for use from several threads at once.

    Rounding is that of the reference implementations: letterbox as Ultralytics' (sides and padding by `round`, half a
    pixel of padding goes to the bottom right), crop as torchvision's (longer side truncated; an image smaller than
    the crop is centred on padding). Nearest samples at pixel centres. A uint8 input gets the pixels as they are:
    `scale`, `mean` and `std` do not apply.
    """

    def __init__(self, preprocess: Preprocess, *, use_opencv: bool | None = None) -> None:
        """Allocate the buffers.

        Args:
            use_opencv: False resizes in numpy also where OpenCV is installed.
        """
        self.preprocess = preprocess
        self._cv2 = None if use_opencv is False else opencv()
        height, width = preprocess.size
        channels_first = preprocess.layout == "NCHW"
        # what every call returns; it can be bound to the session once
        self.buffer = np.empty((1, 3, height, width) if channels_first else (1, height, width, 3), preprocess.dtype)
        self._tables = _tables(preprocess)
        memory = self.buffer[0]
        if preprocess.dtype == "float16":  # OpenCV does not know it; looking pixels up needs its bits only
            memory, self._tables = memory.view(np.uint16), self._tables.view(np.uint16)
        self._input = memory.transpose(1, 2, 0) if channels_first else memory  # as (H, W, 3), whatever the layout
        self._source = (2, 1, 0) if preprocess.color == "RGB" else (0, 1, 2)  # of each channel, in the BGR image
        self._scratch = np.empty((2, height * width * 3), np.uint8)
        self._geometry: Geometry | None = None

    def __call__(self, image: NDArray[np.uint8]) -> tuple[NDArray[Any], Geometry]:
        """A BGR image (H, W, 3) -> the input tensor, and where the image lies in it.

        Returns:
            (1, 3, H, W) or (1, H, W, 3) in the dtype of the pre-processing: a view that the next call overwrites.

        Raises:
            UsageError: it is not a uint8 image.
        """
        image = as_image(image)
        geometry = self._geometry
        if geometry is None or geometry.image != image.shape[:2]:
            geometry = self._place((image.shape[0], image.shape[1]))
        self._resize(image)
        self._convert()
        return self.buffer, geometry

    def _place(self, image: tuple[int, int]) -> Geometry:
        """Plan for images of this size. Padding is written here, once, and stays."""
        place = self._placement = placement(self.preprocess, image)
        (top, left), (height, width) = place.at, place.size
        for channel, table in enumerate(self._tables):
            self._input[:, :, channel] = table[self.preprocess.pad_value]
        self._region = self._input[top : top + height, left : left + width]
        pixels, planes = (memory[: height * width * 3] for memory in self._scratch)
        self._pixels = pixels.reshape(height, width, 3)
        self._planes = planes
        area = place.resized[0] * place.resized[1]
        detour = place.resized != place.size and area <= _LARGEST_DETOUR * self._scratch.shape[1] // 3
        self._full = np.empty((*place.resized, 3), np.uint8) if self._cv2 is not None and detour else None
        self._geometry = place.geometry(image, self.preprocess.size)
        return self._geometry

    def _resize(self, image: NDArray[np.uint8]) -> None:
        place, pixels = self._placement, self._pixels
        (top, left), (height, width) = place.start, place.size
        if image.shape[:2] == place.resized:
            np.copyto(pixels, image[top : top + height, left : left + width])
            return
        whole = pixels if place.resized == place.size else self._full
        if self._cv2 is None or whole is None:
            resize(image, place.resized, self.preprocess.interpolation, out=pixels, start=place.start)
            return
        # INTER_NEAREST does not sample at pixel centres
        how = self._cv2.INTER_LINEAR if self.preprocess.interpolation == "linear" else self._cv2.INTER_NEAREST_EXACT
        self._cv2.resize(image, place.resized[::-1], dst=whole, interpolation=how)
        if whole is not pixels:
            np.copyto(pixels, whole[top : top + height, left : left + width])

    def _convert(self) -> None:
        """Look every pixel up: exact in each dtype, and faster than arithmetic (1.8x in float32, 18x in float16)."""
        pixels, region, cv2 = self._pixels, self._region, self._cv2
        if cv2 is None:
            for channel, table in enumerate(self._tables):
                region[:, :, channel] = table[pixels[:, :, self._source[channel]]]
            return
        if self.preprocess.layout == "NCHW":
            planes = self._planes.reshape(3, *pixels.shape[:2])
            cv2.split(pixels, list(planes))
            for channel, table in enumerate(self._tables):
                cv2.LUT(planes[self._source[channel]], table, dst=region[:, :, channel])
            return
        if self.preprocess.color == "RGB":
            pixels = cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB, dst=self._planes.reshape(pixels.shape))
        cv2.LUT(pixels, np.ascontiguousarray(self._tables.T)[None], dst=region)


def placement(preprocess: Preprocess, image: tuple[int, int]) -> _Placement:
    """Which size an image (height, width) is resized to, and which part of it goes where."""
    (height, width), (h, w) = preprocess.size, image
    if preprocess.resize == "stretch":
        return _Placement((height, width), (0, 0), (height, width), (0, 0))
    if preprocess.resize == "letterbox":
        ratio = min(height / h, width / w)
        size = (max(1, round(h * ratio)), max(1, round(w * ratio)))
        free = (height - size[0], width - size[1])
        at = (0, 0) if preprocess.pad_position == "top-left" else (_half(free[0]), _half(free[1]))
        return _Placement(size, (0, 0), size, at)
    if preprocess.shorter_side is None:  # as large as covers the input
        ratio = max(height / h, width / w)
        resized = (max(height, int(h * ratio)), max(width, int(w * ratio)))
    else:
        side = preprocess.shorter_side
        resized = (side, int(side * w / h)) if h <= w else (int(side * h / w), side)
    over = (resized[0] - height, resized[1] - width)
    return _Placement(
        resized,
        start=(max(0, round(over[0] / 2)), max(0, round(over[1] / 2))),
        size=(min(height, resized[0]), min(width, resized[1])),
        at=(max(0, -over[0] // 2), max(0, -over[1] // 2)),
    )


def resize(
    image: NDArray[np.uint8],
    size: tuple[int, int],
    interpolation: Interpolation = "linear",
    *,
    out: NDArray[np.uint8] | None = None,
    start: tuple[int, int] = (0, 0),
) -> NDArray[np.uint8]:
    """Resize in numpy; linear is OpenCV's INTER_LINEAR to within one grey level.

    Args:
        image: (H, W, 3).
        size: height, width.
        out: where the result goes; a smaller one takes the part of the result that begins at `start`.
    """
    if out is None:
        out = np.empty((*size, 3), np.uint8)
    rows = _centres(image.shape[0], size[0], start[0], out.shape[0])
    columns = _centres(image.shape[1], size[1], start[1], out.shape[1])
    if interpolation == "nearest":
        nearest = [np.floor(c + 0.5).astype(np.intp) for c in (rows, columns)]
        np.copyto(out, image[nearest[0]].take(nearest[1], axis=1))
        return out
    y0, y1, dy = _neighbours(rows, image.shape[0])
    x0, x1, dx = _neighbours(columns, image.shape[1])
    upper, lower = (_between(image[y], x0, x1, dx) for y in (y0, y1))
    lower -= upper
    lower *= dy[:, None, None]
    upper += lower
    upper += 0.5
    np.copyto(out, upper, casting="unsafe")
    return out


def _half(free: int) -> int:
    """The padding before, of `free` pixels in all; half a pixel goes behind."""
    return round(free / 2 - 0.1)


def _centres(source: int, target: int, start: int, count: int) -> NDArray[np.float64]:
    """Where `count` pixels of the target, from `start` on, have their centres, in indices of the source."""
    return np.clip((np.arange(start, start + count) + 0.5) * (source / target) - 0.5, 0, source - 1)


def _neighbours(
    centres: NDArray[np.float64], count: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    """The two source pixels around each centre, and how far it is from the first."""
    first = np.floor(centres).astype(np.intp)
    return first, np.minimum(first + 1, count - 1), (centres - first).astype(np.float32)


def _between(
    rows: NDArray[np.uint8], x0: NDArray[np.intp], x1: NDArray[np.intp], dx: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Rows (H, W, 3) interpolated along x. The pixels are picked as bytes: wide rows never become floats."""
    left = rows.take(x0, axis=1).astype(np.float32)
    right = rows.take(x1, axis=1).astype(np.float32)
    right -= left
    right *= dx[:, None]
    left += right
    return left


def _tables(preprocess: Preprocess) -> NDArray[Any]:
    """(3, 256): what each pixel value becomes in each channel of the input."""
    values = np.tile(np.arange(256.0), (3, 1))
    if preprocess.dtype != "uint8":
        values = (values * preprocess.scale - np.array(preprocess.mean)[:, None]) / np.array(preprocess.std)[:, None]
    return values.astype(preprocess.dtype)
