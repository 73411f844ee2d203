"""Two models side by side: metric, agreement, outputs, size and latency."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit.errors import UsageError
from edgekit.evaluation.agreement import Agreement, NoAgreement, agreement
from edgekit.evaluation.datasets import Dataset, classify, files, open_dataset, yolo
from edgekit.evaluation.evaluation import Progress, evaluate
from edgekit.evaluation.latency import ROUNDS, Feed, Latency, latency
from edgekit.packaging.golden import SEED, synthetic_images
from edgekit.packaging.probe import Difference, feeds_for
from edgekit.packaging.probe import compare as difference
from edgekit.runtime import image as pictures

if TYPE_CHECKING:
    from edgekit.runtime.model import Model

SYNTHETIC = 4  # images, where none are given
LABEL_SUFFIXES = frozenset({".csv", ".json", ".txt", ".yaml", ".yml"})

Images = Sequence[Path | NDArray[np.uint8]]


@dataclass(frozen=True)
class Ground:
    """What two models are compared on."""

    images: Images
    data: tuple[Dataset, Dataset] | None  # the labels of the images for each, since class ids are each model's own
    notices: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, a: Model, b: Model, path: Path | None, *, labels: Path | None = None, limit: int | None = None
    ) -> Ground:
        """Labelled images, a folder of images without labels, or synthetic images if nothing is given.

        Args:
            limit: take this many images, evenly spread.

        Raises:
            UsageError: the images or their labels cannot be used, or the models have different tasks.
        """
        _check_comparable(a, b)
        if path is None:
            if labels:
                raise UsageError(f"{labels} has labels for images that are not given")
            images = synthetic_images(min(limit or SYNTHETIC, SYNTHETIC))
            return cls(images, None, (f"no DATA given: compared on {len(images)} synthetic images",))
        if labels is None and _is_unlabelled(path):
            found = files.images(path)
            count = min(limit or len(found), len(found))
            chosen = [found[i * len(found) // count] for i in range(count)]
            return cls(chosen, None, (f"{path} has no labels: there is no metric",))
        data = [open_dataset(path, task=m.interface.task, names=m.names, labels=labels) for m in (a, b)]
        if limit is not None:
            data = [d.spread(limit) for d in data]
        notices = tuple(dict.fromkeys([*data[0].notices, *data[1].notices]))
        return cls([sample.path for sample in data[0].samples], (data[0], data[1]), notices)


@dataclass(frozen=True)
class Side:
    """What was found out about one of the two."""

    bytes: int  # the model's file and its external data
    metrics: Mapping[str, float] | None  # none without labels


@dataclass(frozen=True)
class Comparison:
    """Two models on the same images."""

    a: Side
    b: Side
    images: int
    agreement: Agreement | None
    outputs: Mapping[str, Difference]  # by name, the largest over the images
    latency: Latency
    notices: tuple[str, ...]  # what could not be compared, and why

    @property
    def metrics_difference(self) -> Mapping[str, float] | None:
        """What B has more than A."""
        if self.a.metrics is None or self.b.metrics is None:
            return None
        return {name: self.b.metrics[name] - value for name, value in self.a.metrics.items()}


def compare(
    a: Model,
    b: Model,
    *,
    data: tuple[Dataset, Dataset] | None,
    images: Images,
    threads: int = 1,
    rounds: int = ROUNDS,
    progress: Progress | None = None,
) -> Comparison:
    """Measure B against A. Each pre-processes for itself.

    Args:
        data: the same labelled images for each, since class ids are each model's own.
        images: what outputs and agreement are looked at on, as `Ground` finds them. A model without an image input gets
            seeded numbers.
        threads, rounds: of the latency, which is timed on the first image.
        progress: called with what is being done, how much is done, and how much there is.

    Raises:
        UsageError: the models have different tasks or kinds of inputs, or an image cannot be read.
        DependencyError: the metric's library is not installed.
    """
    _check_comparable(a, b)
    if a.interface.preprocess and not images:
        raise UsageError("there are no images to compare on")
    steps = _Steps(progress, 2 * len(data[0] if data else ()) + 2 * len(images) + rounds)
    metrics = [evaluate(m, d, progress=steps.next(len(d))).metrics for m, d in zip((a, b), data or (), strict=False)]
    agreed, notices = _agreement(a, b, images, steps.next(len(images)))
    outputs, left_out = _outputs(a, b, images, steps.next(len(images)))
    notices += left_out
    feeds = next(_feeds(a, images[:1])), next(_feeds(b, images[:1]))
    timed = latency(a, b, feeds, threads=threads, rounds=rounds, progress=steps.next(rounds))
    sides = [Side(_size(m), metrics[i] if metrics else None) for i, m in enumerate((a, b))]
    return Comparison(sides[0], sides[1], len(images), agreed, outputs, timed, tuple(notices))


def _check_comparable(a: Model, b: Model) -> None:
    """Refuse two models of which nothing can be said together.

    Raises:
        UsageError: they have different tasks, or one takes an image and the other does not.
    """
    if a.interface.task != b.interface.task:
        raise UsageError(
            f"{a.path} has task {a.interface.task}, {b.path} has task {b.interface.task}: they cannot be compared"
        )
    if bool(a.interface.preprocess) != bool(b.interface.preprocess):
        one, other = (a, b) if a.interface.preprocess else (b, a)
        raise UsageError(f"{one.path} takes an image, {other.path} does not: they cannot be compared")


def _is_unlabelled(path: Path) -> bool:
    """Whether it is a folder of images, and nothing in it or beside it could be their labels."""
    if not path.is_dir() or any((path.parent / name).is_file() for name in classify.LABEL_FILES):
        return False
    inside = [p for p in path.iterdir() if not p.name.startswith(".")]
    if any(p.is_dir() or p.suffix.lower() in LABEL_SUFFIXES for p in inside):
        return False
    images = [p for p in inside if files.is_image(p)]
    return bool(images) and all(yolo.label_file(image) is None for image in images)


@dataclass
class _Steps:
    """One count over several parts, for whoever shows progress."""

    progress: Progress | None
    total: int
    before: int = 0

    def next(self, length: int) -> Progress:
        """The callback of the next part, which has this many steps."""
        begins, self.before = self.before, self.before + length

        def step(what: str, done: int, total: int) -> None:
            if self.progress:
                self.progress(what, begins + done, self.total)

        return step


def _agreement(a: Model, b: Model, images: Images, progress: Progress) -> tuple[Agreement | None, list[str]]:
    """How far the two agree, and what there is to say about it."""
    try:
        agreed = agreement(a, b, images, progress=progress)
    except NoAgreement as e:
        return None, [f"no agreement: {e}"]
    if a.names == b.names:
        return agreed, []
    return agreed, [f"{a.path} and {b.path} name their classes differently: agreement goes by the classes' numbers"]


def _outputs(a: Model, b: Model, images: Images, progress: Progress) -> tuple[dict[str, Difference], list[str]]:
    """The largest difference of each output that both have in one shape, and a sentence on each of the others."""
    worst: dict[str, Difference] = {}
    left_out: dict[str, str] = {}
    for done, (feed_a, feed_b) in enumerate(zip(_feeds(a, images), _feeds(b, images), strict=True), 1):
        ours, theirs = a.raw(feed_a), b.raw(feed_b)
        for name in dict.fromkeys([*ours, *theirs]):
            if name not in ours or name not in theirs:
                left_out[name] = f"output {name} is only in {(a if name in ours else b).path}"
            elif ours[name].shape != theirs[name].shape:
                shapes = f"{list(ours[name].shape)} in {a.path}, {list(theirs[name].shape)} in {b.path}"
                left_out[name] = f"output {name} is not compared: its shape is {shapes}"
            else:
                found = difference(ours[name], theirs[name])
                if name not in worst or found.max_abs > worst[name].max_abs:
                    worst[name] = found
        progress("outputs", done, len(images))
    return worst, list(left_out.values())


def _feeds(model: Model, images: Images) -> Iterator[Feed]:
    """What the model is given, one at a time: the buffer is its own."""
    if not model.interface.preprocess:
        yield from feeds_for(model, (), SEED)
        return
    for image in images:
        yield model.prepare(pictures.read(image) if isinstance(image, Path) else image)[0]


def _size(model: Model) -> int:
    """Bytes of the model's file and of its external data."""
    path = model.variant.path(model.path) if model.variant else model.path
    return path.stat().st_size + sum((path.parent / name).stat().st_size for name in _external(path))


def _external(path: Path) -> set[str]:
    if path.suffix.lower() == ".ort":  # holds its weights, and is no protobuf
        return set()
    tensors: Any = onnx.load(path, load_external_data=False).graph.initializer
    return {entry.value for tensor in tensors for entry in tensor.external_data if entry.key == "location"}
