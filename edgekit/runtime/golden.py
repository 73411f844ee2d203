"""golden.npz: inputs and outputs recorded at packaging, replayed on the board. No pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import IntegrityError
from edgekit.runtime.model import Model
from edgekit.tasks.boxes import iou

FILE = "golden.npz"
SAMPLES = 4096  # of each output
HEADER = "header"


@dataclass(frozen=True)
class Recorded:
    """One output for one input: its shape, its range, and some of its values."""

    output: str
    shape: tuple[int, ...]
    low: float
    high: float
    seed: int  # which values: `sample_indices`
    tolerance: float  # what the same model differs by across onnxruntime's optimization levels, and a floor


@dataclass(frozen=True)
class Golden:
    """Inputs, and what the model gave for them where it was packaged.

    images: (H, W, 3) uint8 BGR each; for a model without an image input, none.
    feeds: for a model without an image input, its inputs by name.
    """

    images: tuple[NDArray[np.uint8], ...]
    feeds: tuple[Mapping[str, NDArray[Any]], ...]
    recorded: tuple[tuple[Recorded, ...], ...]  # for each input, each output
    samples: tuple[tuple[NDArray[Any], ...], ...]
    detections: tuple[list[dict[str, Any]] | None, ...]  # decoded, for each input

    def write(self, path: Path) -> None:
        """Write the same bytes for the same content."""
        header = {
            "images": len(self.images),
            "feeds": [sorted(feed) for feed in self.feeds],
            "recorded": [[asdict(r) for r in one] for one in self.recorded],
            "detections": self.detections,
        }
        arrays: dict[str, Any] = {HEADER: np.frombuffer(json.dumps(header).encode(), np.uint8)}
        arrays |= {f"image.{i}": image for i, image in enumerate(self.images)}
        arrays |= {
            f"feed.{i}.{n}": feed[name] for i, feed in enumerate(self.feeds) for n, name in enumerate(sorted(feed))
        }
        arrays |= {f"sample.{i}.{n}": s for i, one in enumerate(self.samples) for n, s in enumerate(one)}
        np.savez_compressed(path, **arrays)

    @classmethod
    def read(cls, path: Path) -> Golden:
        """Read what `write` wrote.

        Raises:
            IntegrityError: it is damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as data:
                header = json.loads(data[HEADER].tobytes())
                recorded = tuple(
                    tuple(Recorded(**{**r, "shape": tuple(r["shape"])}) for r in one) for one in header["recorded"]
                )
                return cls(
                    images=tuple(data[f"image.{i}"] for i in range(header["images"])),
                    feeds=tuple(
                        {name: data[f"feed.{i}.{n}"] for n, name in enumerate(names)}
                        for i, names in enumerate(header["feeds"])
                    ),
                    recorded=recorded,
                    samples=tuple(
                        tuple(data[f"sample.{i}.{n}"] for n in range(len(one))) for i, one in enumerate(recorded)
                    ),
                    detections=tuple(header["detections"]),
                )
        except (OSError, ValueError, KeyError, TypeError, BadZipFile, EOFError) as e:
            raise IntegrityError(f"{path} is damaged: {e}") from e


@dataclass(frozen=True)
class Replay:
    """How one output compares with what was recorded."""

    input: int
    output: str
    difference: float
    tolerance: float
    cosine: float  # of the angle between the two: 1 where they agree but for their scale
    reason: str | None  # why it is not the same; none if it is

    @property
    def agrees(self) -> bool:
        """Whether it is what was recorded."""
        return self.reason is None


def sample_indices(seed: int, count: int) -> NDArray[np.int64]:
    """Which values of an output of `count` values are recorded: all, or SAMPLES of them, the same on each machine."""
    if count <= SAMPLES:
        return np.arange(count)
    # numpy promises the raw stream of a bit generator, not what choice() makes of it
    raw = np.random.PCG64(seed).random_raw(SAMPLES)
    return np.sort((raw % np.uint64(count)).astype(np.int64))


def replay(golden: Golden, model: Model) -> list[Replay]:
    """Run the model on the recorded inputs and compare each output."""
    out = []
    for i, recorded in enumerate(golden.recorded):
        feeds = model.prepare(golden.images[i])[0] if golden.images else golden.feeds[i]
        outputs = model.raw(feeds)
        out += [
            _compare(i, r, sample, outputs.get(r.output)) for r, sample in zip(recorded, golden.samples[i], strict=True)
        ]
    return out


def found_again(golden: Golden, model: Model, *, overlap: float = 0.9) -> tuple[int, int] | None:
    """How many of the recorded detections are found here, of the same class and in the same place, and of how many.

    None where nothing of the kind was recorded.
    """
    if not golden.images or any(d is None for d in golden.detections):
        return None
    again = total = 0
    for image, recorded in zip(golden.images, golden.detections, strict=True):
        here = model(image).to_dict()["detections"]
        for expected in recorded or []:
            same = [d["box"] for d in here if d["class_id"] == expected["class_id"]]
            total += 1
            again += bool(same) and bool((iou(np.array([expected["box"]]), np.array(same)) >= overlap).any())
    return again, total


def _compare(i: int, recorded: Recorded, sample: NDArray[Any], found: NDArray[Any] | None) -> Replay:
    def verdict(difference: float, reason: str | None, cosine: float = 0.0) -> Replay:
        return Replay(i, recorded.output, difference, recorded.tolerance, cosine, reason)

    if found is None:
        return verdict(np.inf, "is gone")
    if found.shape != recorded.shape:
        return verdict(np.inf, f"has shape {found.shape}, was {recorded.shape}")
    values = found.ravel()[sample_indices(recorded.seed, found.size)].astype(np.float64)
    expected = sample.astype(np.float64)
    same = (values == expected) | (np.isnan(values) & np.isnan(expected))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(values - expected))
    difference = float(np.where(np.isnan(gap), np.inf, gap).max()) if gap.size else 0.0
    reason = None
    if difference > recorded.tolerance:
        reason = f"differs by {difference:.3g}, at most {recorded.tolerance:.3g} is expected"
    return verdict(difference, reason, _cosine(values, expected))


def _cosine(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else float(np.array_equal(a, b))
