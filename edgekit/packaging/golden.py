"""Recording golden.npz: which inputs, and how far the same model strays by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from edgekit.manifest import Interface
from edgekit.packaging.probe import as_declared
from edgekit.preprocessing import Preprocess
from edgekit.runtime import session
from edgekit.runtime.golden import Golden, Recorded, sample_indices
from edgekit.runtime.model import Model
from edgekit.runtime.session import Optimization
from edgekit.runtime.sources import expand
from edgekit.runtime.transform import placement, resize

SEED = 20240
COUNT = 2  # synthetic images
MOST = 4  # images taken from a folder
# Another processor sums in another order: nothing smaller than this share of an output's range is a difference.
FLOOR = {"fp32": 1e-5, "fp16": 2e-3}


def synthetic_images(count: int = COUNT, seed: int = SEED) -> list[NDArray[np.uint8]]:
    """Seeded pictures with edges, gradients and texture: (H, W, 3) uint8, of different shapes."""
    return [
        _synthetic(np.random.Generator(np.random.PCG64(seed + i)), (360, 480) if i % 2 == 0 else (400, 300))
        for i in range(count)
    ]


def images_from(path: Path) -> list[NDArray[np.uint8]]:
    """The first few images of a folder, or the one that is named."""
    sources = expand([path])
    return [source.read() for source, _ in zip(sources, range(MOST), strict=False)]


def fitted(image: NDArray[np.uint8], preprocess: Preprocess) -> NDArray[np.uint8]:
    """The image at the size that pre-processing brings it to: replaying it resamples nothing.

    Resampling differs by a grey level between OpenCV, its versions and numpy, which is more than a model may differ by.
    """
    return resize(image, placement(preprocess, (image.shape[0], image.shape[1])).resized)


def record(
    model: bytes,
    interface: Interface,
    images: Sequence[NDArray[np.uint8]],
    feeds: Sequence[Mapping[str, NDArray[Any]]],
    precision: str,
) -> Golden:
    """Run the packaged model at each optimization level of onnxruntime and write down what it gives at the highest."""
    if interface.preprocess:
        images = [fitted(image, interface.preprocess) for image in images]
    feeds = [as_declared(feed, interface.inputs) for feed in feeds]
    count = len(images) or len(feeds)
    runs: list[list[dict[str, NDArray[Any]]]] = [[] for _ in range(count)]  # for each input, at each level
    for level in get_args(Optimization):  # one session at a time; the last level is the one that ships
        opened = Model(
            session.create(model, optimization=level, name="the packaged model"),
            interface,
            path=Path("the packaged model"),
        )
        for i in range(count):
            runs[i].append(opened.raw(opened.prepare(images[i])[0] if images else feeds[i]))
    both = [_recorded(run, seed=SEED + i, floor=FLOOR.get(precision, FLOOR["fp16"])) for i, run in enumerate(runs)]
    return Golden(
        images=tuple(images),
        feeds=() if images else tuple(feeds),
        recorded=tuple(recorded for recorded, _ in both),
        samples=tuple(samples for _, samples in both),
        detections=tuple(opened(image).to_dict().get("detections") for image in images) or (None,) * count,
    )


def _recorded(
    runs: Sequence[Mapping[str, NDArray[Any]]], *, seed: int, floor: float
) -> tuple[tuple[Recorded, ...], tuple[NDArray[Any], ...]]:
    recorded, samples = [], []
    for name, value in runs[-1].items():
        if not np.issubdtype(value.dtype, np.number):
            continue  # text is not compared
        indices = sample_indices(seed, value.size)
        numbers = value.astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        spread = max(_spread(numbers, run[name]) for run in runs)
        tolerance = max(2 * spread, floor * max(high - low, abs(high), abs(low)))
        recorded.append(Recorded(name, value.shape, low, high, seed, float(f"{tolerance:.3g}")))
        samples.append(value.ravel()[indices])
    return tuple(recorded), tuple(samples)


def _spread(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Largest finite difference between two runs; where their shapes differ there is none to speak of."""
    if a.shape != b.shape:
        return 0.0
    gap = np.abs(a - b.astype(np.float64))
    gap = gap[np.isfinite(gap)]
    return float(gap.max()) if gap.size else 0.0


def _synthetic(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.uint8]:
    height, width = shape
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    image = np.stack([_wave(rng, x / width, y / height) for _ in range(3)], axis=2)
    for _ in range(12):
        colour = rng.integers(0, 256, 3)
        cx, cy = rng.integers(0, width), rng.integers(0, height)
        rx, ry = rng.integers(width // 20, width // 4), rng.integers(height // 20, height // 4)
        inside = (
            ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1
            if rng.random() < 0.5
            else (np.abs(x - cx) < rx) & (np.abs(y - cy) < ry)
        )
        image[inside] = colour
    return np.clip(image, 0, 255).astype(np.uint8)


def _wave(rng: np.random.Generator, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
    fx, fy, phase = rng.uniform(1, 6), rng.uniform(1, 6), rng.uniform(0, 6)
    wave: NDArray[np.float32] = 127 + 80 * np.sin(fx * x * 6 + phase) * np.cos(fy * y * 6)
    return wave
