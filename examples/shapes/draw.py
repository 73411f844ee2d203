"""Draws scenes of circles, squares, triangles and stars over clutter, with the box of each.

A scene depends on its seed and its number alone, so that a set can be drawn again anywhere, in any order.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

NAMES = ("circle", "square", "triangle", "star")

LETTERS = "ABCEFGHKLMNPRSTUVWXYZ234579"  # none that is itself a ring, as O and 0 are
SUBPIXEL_BITS = 4  # cv2 takes polygons in fixed point


@dataclass(frozen=True)
class Scene:
    """A picture and what is in it."""

    image: NDArray  # (H, W, 3) uint8, blue first
    boxes: NDArray  # (N, 4) float32, x1 y1 x2 y2 in pixels, tight around what is visible
    labels: NDArray  # (N,) int64, into NAMES

    def yolo_lines(self) -> str:
        """One line per shape: class, then centre, width and height as parts of the picture."""
        height, width = self.image.shape[:2]
        x1, y1, x2, y2 = (self.boxes / (width, height, width, height)).T
        rows = zip(self.labels, (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, strict=True)
        return "".join(f"{label} {cx:.6f} {cy:.6f} {w:.6f} {h:.6f}\n" for label, cx, cy, w, h in rows)


def draw(seed: int, number: int, size: tuple[int, int] | None = None) -> Scene:
    """Draw scene `number` of the set `seed`.

    Law: the same arguments give the same scene.

    >>> a, b = draw(7, 3), draw(7, 3)
    >>> np.array_equal(a.image, b.image) and np.array_equal(a.boxes, b.boxes)
    True

    Args:
        seed: The set.
        number: The scene in the set.
        size: (width, height); drawn too if not given.
    """
    rng = np.random.default_rng((seed, number))
    width, height = size or (int(side) for side in rng.integers(320, 641, 2))
    image = _background(rng, width, height)
    for _ in range(rng.integers(0, 4)):
        _draw_letter(rng, image)
    for _ in range(rng.integers(0, 5)):
        _draw_stroke(rng, image, thickest=0.03)
    boxes, labels = _draw_shapes(rng, image, count=int(rng.integers(2, 10)))
    for _ in range(rng.integers(0, 3)):
        _draw_stroke(rng, image, thickest=0.012)  # across shapes too: too thin to change a box
    return Scene(_camera(rng, image), boxes, labels)


def _background(rng: np.random.Generator, width: int, height: int) -> NDArray:
    """A flat colour, a gradient or clouds; soft blobs over it."""
    kind = rng.choice(("flat", "gradient", "clouds"))
    cells = {"flat": (1, 1), "gradient": (2, 2), "clouds": tuple(rng.integers(3, 9, 2))}[kind]
    image = rng.uniform(0, 255, (*cells, 3)).astype(np.float32)
    if kind == "clouds":  # full contrast here would hide any shape
        image = image.mean((0, 1)) + (image - image.mean((0, 1))) * np.float32(rng.uniform(0.2, 0.8))
    image = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)

    blobs = np.zeros((height // 16, width // 16), np.float32)
    for _ in range(rng.integers(0, 6)):
        x, y = rng.uniform(0, (width // 16, height // 16))
        axes = rng.uniform(1, 6, 2)
        cv2.ellipse(blobs, ((x, y), tuple(axes * 2), rng.uniform(0, 180)), rng.uniform(0.2, 0.8), -1)
    alpha = cv2.resize(cv2.GaussianBlur(blobs, (0, 0), 0.7), (width, height), interpolation=cv2.INTER_LINEAR)[..., None]
    colour = rng.uniform(0, 255, 3).astype(np.float32)
    return np.clip(image + (colour - image) * alpha, 0, 255).astype(np.uint8)


def _draw_letter(rng: np.random.Generator, image: NDArray) -> None:
    height, width = image.shape[:2]
    cv2.putText(
        image,
        str(rng.choice(list(LETTERS))),
        (int(rng.uniform(0, 0.9) * width), int(rng.uniform(0.1, 1) * height)),
        int(rng.choice((cv2.FONT_HERSHEY_SIMPLEX, cv2.FONT_HERSHEY_DUPLEX, cv2.FONT_HERSHEY_TRIPLEX))),
        float(rng.uniform(0.004, 0.016) * min(height, width)),
        rng.uniform(0, 255, 3).tolist(),
        int(rng.integers(2, 9)),
        cv2.LINE_AA,
    )


def _draw_stroke(rng: np.random.Generator, image: NDArray, thickest: float) -> None:
    """An open zigzag of one to three lines; the thickness is a part of the shorter side."""
    height, width = image.shape[:2]
    points = rng.uniform(-0.1, 1.1, (rng.integers(2, 5), 2)) * (width, height)
    thickness = max(1, round(rng.uniform(0, thickest) * min(height, width)))
    cv2.polylines(image, [points.astype(np.int32)], False, rng.uniform(0, 255, 3).tolist(), thickness, cv2.LINE_AA)


def _draw_shapes(rng: np.random.Generator, image: NDArray, count: int) -> tuple[NDArray, NDArray]:
    """Draw up to `count` shapes, fewer where there is no room.

    Ensures: the edge cuts at most 30 % off a shape and others hide at most 30 % of the rest; no two boxes overlap by
    more than a quarter of the smaller.

    Returns:
        Boxes (N, 4) float32 of what is visible, and labels (N,).
    """
    height, width = image.shape[:2]
    owner = np.full((height, width), -1, np.int16)  # which shape each pixel shows
    areas: list[int] = []  # pixels of each shape, hidden ones included
    boxes: list[NDArray] = []
    labels: list[int] = []
    for _ in range(count * 4):
        if len(labels) == count:
            break
        label = int(rng.integers(len(NAMES)))
        radius = min(height, width) * np.exp(rng.uniform(np.log(0.07), np.log(0.24)))
        centre = rng.uniform(0, (width, height))
        outline = _outline(rng, label) * radius + centre
        cover = _cover(outline, (height, width))
        box = _box(cover > 127)
        whole = (cover > 127).sum() > 0.7 * _area(outline)
        if rng.random() < 0.2:  # hollow
            inner = (outline - centre) * rng.uniform(0.5, 0.7) + centre
            cover -= np.minimum(cover, _cover(inner, (height, width)))
        solid = cover > 127
        hidden = np.bincount(owner[solid & (owner >= 0)], minlength=len(areas))
        shown = np.bincount(owner[owner >= 0], minlength=len(areas))
        if (
            box is None
            or not whole
            or any(_overlap(box, other) > 0.25 for other in boxes)
            or any(shown - hidden < 0.7 * np.asarray(areas))
        ):
            continue
        _paint(rng, image, cover)
        owner[solid] = len(areas)
        areas.append(solid.sum())
        boxes.append(box)
        labels.append(label)
    visible = [_box(owner == index) for index in range(len(areas))]
    return np.array(visible, np.float32).reshape(-1, 4), np.array(labels, np.int64)


def _outline(rng: np.random.Generator, label: int) -> NDArray:
    """(N, 2) corners of the shape, turned at random, within a circle of radius one."""
    corners = {"circle": 90, "square": 4, "triangle": 3, "star": 10}[NAMES[label]]
    angles = np.arange(corners) * 2 * np.pi / corners
    radii = np.ones(corners)
    if NAMES[label] == "star":
        radii[1::2] = rng.uniform(0.38, 0.5)
    points = np.stack((np.cos(angles), np.sin(angles)), 1) * radii[:, None]
    if NAMES[label] == "triangle":
        points[:, 1] *= rng.uniform(0.8, 1.0)
    turn = rng.uniform(0, 2 * np.pi)
    return points @ np.array(((np.cos(turn), np.sin(turn)), (-np.sin(turn), np.cos(turn))))


def _cover(outline: NDArray, size: tuple[int, int]) -> NDArray:
    """(H, W) uint8: how much of each pixel the shape covers."""
    cover = np.zeros(size, np.uint8)
    points = np.round(outline * (1 << SUBPIXEL_BITS)).astype(np.int32)
    cv2.fillPoly(cover, [points], 255, cv2.LINE_AA, SUBPIXEL_BITS)
    return cover


def _paint(rng: np.random.Generator, image: NDArray, cover: NDArray) -> None:
    """Fill what is covered with one colour, a gradient or stripes that stand out from what lies under it."""
    x1, y1, x2, y2 = (int(edge) for edge in _box(cover > 0))
    under = image[y1:y2, x1:x2]
    alpha = cover[y1:y2, x1:x2, None].astype(np.float32) / 255
    ground = (under * alpha).sum((0, 1)) / alpha.sum()
    first, second = _colour_away_from(rng, ground), _colour_away_from(rng, ground)
    turn = rng.uniform(0, 2 * np.pi)
    along = np.add.outer(np.arange(y2 - y1) * np.sin(turn), np.arange(x2 - x1) * np.cos(turn))
    style = rng.choice(("plain", "gradient", "stripes"), p=(0.6, 0.25, 0.15))
    if style == "plain":
        mix = np.zeros_like(along)
    elif style == "gradient":
        mix = (along - along.min()) / max(1.0, np.ptp(along))
    else:
        mix = (np.sin(along * 2 * np.pi / (rng.uniform(0.2, 0.5) * max(x2 - x1, y2 - y1))) > 0) * rng.uniform(0.3, 1)
    colour = first + (second - first) * mix[..., None]
    under[:] = np.round(under * (1 - alpha) + colour * alpha)


def _colour_away_from(rng: np.random.Generator, ground: NDArray) -> NDArray:
    candidates = rng.uniform(0, 255, (16, 3))
    distances = np.linalg.norm(candidates - ground, axis=1)
    enough = np.flatnonzero(distances > 90)
    return candidates[enough[0] if len(enough) else distances.argmax()]


def _camera(rng: np.random.Generator, image: NDArray) -> NDArray:
    """Blur a little, add noise."""
    if rng.random() < 0.5:
        image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.3, 1.5))
    noise = rng.standard_normal(image.shape, np.float32) * np.float32(rng.uniform(0, 14))
    return np.clip(image + noise, 0, 255).astype(np.uint8)


def _box(mask: NDArray) -> NDArray | None:
    """x1 y1 x2 y2 around the pixels that are set; None if none is."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return None
    return np.array((columns[0], rows[0], columns[-1] + 1, rows[-1] + 1), np.float32)


def _area(outline: NDArray) -> float:
    x, y = outline.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def _overlap(a: NDArray, b: NDArray) -> float:
    """The part of the smaller box that lies in the other."""
    sides = np.maximum(0, np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]))
    return float(sides.prod() / min((a[2:] - a[:2]).prod(), (b[2:] - b[:2]).prod()))


def write(out: Path, count: int, seed: int, size: tuple[int, int] | None = None) -> None:
    """Write images/, labels/ and data.yaml, as YOLO training tools read them."""
    for folder in ("images", "labels"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        scene = draw(seed, number, size)
        cv2.imwrite(str(out / "images" / f"{number:05}.jpg"), scene.image, (cv2.IMWRITE_JPEG_QUALITY, 95))
        (out / "labels" / f"{number:05}.txt").write_text(scene.yolo_lines())
    names = "".join(f"  {index}: {name}\n" for index, name in enumerate(NAMES))
    (out / "data.yaml").write_text(f"train: images\nval: images\nnames:\n{names}")


def main() -> None:
    """Write a drawn set to a folder."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--size", type=int, nargs=2, metavar=("WIDTH", "HEIGHT"), help="of each scene; varied if not given"
    )
    arguments = parser.parse_args()
    write(arguments.out, arguments.count, arguments.seed, arguments.size)
    print(f"{arguments.count} scenes in {arguments.out}")


if __name__ == "__main__":
    main()
