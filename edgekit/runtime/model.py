"""A model that is ready to run: images in, results in the pixels of those images out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit.errors import EdgekitError, ModelError, ProviderError, UsageError
from edgekit.manifest import Interface, Variant
from edgekit.runtime import binding
from edgekit.runtime import image as images
from edgekit.runtime import interface as interfaces
from edgekit.runtime.binding import Tensor
from edgekit.runtime.caching import Use
from edgekit.runtime.engines import opencv
from edgekit.runtime.engines.opencv import OpenCvSession
from edgekit.runtime.failures import DOCTOR, explain_run
from edgekit.runtime.opening import Opening, ProviderLike, of_user
from edgekit.runtime.placement import Placement, profiled, recorded
from edgekit.runtime.providers import CPU
from edgekit.runtime.result import Result
from edgekit.runtime.sources import Source
from edgekit.runtime.transform import Geometry, Transform
from edgekit.tasks import decoders
from edgekit.tasks.concatenation import concatenated
from edgekit.tasks.decoders.arranged import Arranged
from edgekit.tasks.decoders.decoder import Decoder
from edgekit.tasks.predictions import Prediction, Settings

Array = NDArray[Any]
ImageLike = Any  # a path, a (H, W, 3) BGR or (H, W) grey uint8 array, a PIL image, or a Source


class Model:
    """A session with its pre-processing and decoder. Input buffers are allocated once: one thread at a time.

    >>> model = edgekit.load("yolov8n-cpu-x86_64")  # doctest: +SKIP
    >>> model("bus.jpg", conf=0.25).boxes.xyxy      # doctest: +SKIP
    """

    def __init__(
        self,
        session: Any,
        interface: Interface,
        *,
        path: Path,
        opening: Opening | None = None,
        variant: Variant | None = None,
        notices: Iterable[str] = (),
        fallback: str | None = None,
        cache: Use | None = None,
    ) -> None:
        self.session = session
        self.interface = interface
        self.path = path
        self.variant = variant
        self.cache = cache  # what the compile cache did; none where the provider keeps nothing
        kept = cache.notice if cache else None
        self.notices = (*notices, *([kept] if kept else ()))  # what was guessed or passed over, a sentence each
        self.fallback = fallback  # why it runs on the CPU and not where it was to
        self.opening = opening or Opening(path)  # how to make the session again
        self._placement: Placement | None = None
        self._ran = False
        self._transform = Transform(interface.preprocess) if interface.preprocess else None
        self._decoder = self._make_decoder()
        self._feed = self._make_feed()
        self._image = next((i.name for i in interface.inputs if i.role == "image"), None)
        self._outputs = [o.name for o in interface.outputs]

    @property
    def names(self) -> Mapping[int, str]:
        """Class names by id; empty where the model carries none."""
        names: Mapping[int, str] = self.interface.metadata.get("names") or {}
        return names

    @property
    def providers(self) -> list[str]:
        """The session's providers, in the order in which they were asked."""
        return list(self.session.get_providers())

    @property
    def provider_options(self) -> dict[str, dict[str, str]]:
        """What each provider was given."""
        return dict(self.session.get_provider_options())

    @property
    def provider(self) -> str:
        """The one that is to do the work; `placement` says what it really does."""
        return opencv.NAME if isinstance(self.session, OpenCvSession) else self.opening.provider

    @property
    def placement(self) -> Placement | None:
        """Where each node runs: onnxruntime's own record, or one profiled run where it keeps none (before 1.24).

        None with another engine than onnxruntime.
        """
        if self._placement is None and self.provider != opencv.NAME:
            feed = interfaces.grey_feed(self.interface.inputs, self._size())
            self._placement = recorded(self.session) or profiled(self.opening.session, feed)
        return self._placement

    def use(self, providers: Sequence[ProviderLike]) -> Model:
        """Run on other providers from now on: the session is made anew.

        Args:
            providers: each a name, or (name, options), the first one first.

        Raises:
            UsageError, ProviderError: an option is unknown, a provider is not here or refuses the model. The session
                stays as it was.
        """
        opening = replace(self.opening, requests=of_user(providers))
        opened = opening.open()
        self.session, self.cache = opened.session, opened.use
        self.opening, self._placement, self.fallback, self._ran = opening, None, None, False
        return self

    def require_accelerator(self) -> None:
        """Hold the provider to what the package promises of it, or to all of the Conv, Gemm and MatMul nodes.

        Raises:
            ProviderError: it is the CPU's.
            GateMissed: it takes less than that; the message names the nodes on the CPU.
        """
        if self.provider in (CPU, opencv.NAME):
            raise ProviderError(f"{self.path} runs on the CPU: no accelerator takes it here", hint=DOCTOR)
        made_for = self.variant if self.variant and self.variant.provider == self.provider else None
        least, total = (made_for.least_placement, made_for.weighted_nodes) if made_for else (None, 0)
        assert self.placement is not None
        self.placement.require(self.provider, least, total)

    def settings(
        self,
        *,
        conf: float | None = None,
        iou: float | None = None,
        max_detections: int | None = None,
        class_agnostic: bool | None = None,
    ) -> Settings:
        """Post-processing settings: what is given, over the package's, over the defaults."""
        defaults = Settings(**self.interface.postprocess)
        return replace(
            defaults,
            conf=defaults.conf if conf is None else conf,
            iou=defaults.iou if iou is None else iou,
            max_detections=defaults.max_detections if max_detections is None else max_detections,
            class_agnostic=defaults.class_agnostic if class_agnostic is None else class_agnostic,
        )

    def __call__(self, source: ImageLike | list[ImageLike], **settings: Any) -> Any:
        """Run on one image, or on a list of them.

        Args:
            source: a path, a BGR or grey uint8 array, a PIL image, or a list of those.
            settings: conf, iou, max_detections, class_agnostic.

        Returns:
            A `Result` for one image, a list of them for a list.

        Raises:
            UsageError: an image cannot be read, or the model takes no image.
        """
        if isinstance(source, (list, tuple)):
            return list(self.stream(source, **settings))
        return next(self.stream([source], **settings))

    def stream(
        self, sources: Iterable[ImageLike], *, skip: Callable[[UsageError], None] | None = None, **settings: Any
    ) -> Iterator[Result]:
        """Results one by one: an image and its outputs are in memory, not all of them.

        Args:
            sources: as for a call.
            skip: told of an image that cannot be read, which is then left out; without it the error is raised.
            settings: as for a call.
        """
        chosen = self.settings(**settings)
        for source in sources:
            try:
                name, image = _opened(source)
            except UsageError as e:
                if skip is None:
                    raise
                skip(e)
                continue
            yield self._one(name, image, chosen)

    def run(
        self, feed: Mapping[str, Tensor], *, out: Mapping[str, Tensor] | None = None, on_device: bool = False
    ) -> dict[str, Any]:
        """Named outputs after concatenation: a task's separate outputs joined into one array.

        Models with boxes, scores and labels apart give `detections`, in the dtype of the boxes and in pixels of the
        model's input: detect (B, N, 6) x1 y1 x2 y2 score class, pose (B, N, 6 + 3K), segment (B, N, 6 + M) and
        `prototypes` (B, M, h, w). Everything else comes as the session gave it, and so does what `out` or
        `on_device` asks for.

        Args:
            feed, out, on_device: as for `raw`.
        """
        outputs = self.raw(feed, out=out, on_device=on_device)
        if out or on_device or self._decoder is None or self.interface.decoder not in decoders.SEPARATE:
            return outputs
        return concatenated(self._decoder.parts(outputs))

    def raw(
        self, feed: Mapping[str, Tensor], *, out: Mapping[str, Tensor] | None = None, on_device: bool = False
    ) -> dict[str, Any]:
        """What the session returns, by output name.

        Args:
            feed: each input, a numpy array, an `onnxruntime.OrtValue` or anything with `__dlpack__`.
            out: arrays or `OrtValue`s that outputs are written into; they are returned.
            on_device: leave outputs where the provider has them, as `OrtValue`s.

        Raises:
            UsageError: an input or a place for an output does not fit the model.
            ProviderError: the model failed while running.
        """
        try:
            if out or on_device or not binding.plain(feed):
                outputs = binding.run(self.session, feed, out=out, on_device=on_device)
            else:
                outputs = dict(zip(self._outputs, self.session.run(self._outputs, dict(feed)), strict=True))
            if not self._ran and self.cache is not None:
                self.cache.update()  # some compile at the first run; a board is switched off, not closed
            self._ran = True
            return outputs
        except EdgekitError:
            raise
        except Exception as e:  # onnxruntime raises plain ones
            raise explain_run(e, str(self.path)) from e

    def parts(self, outputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """The outputs by meaning: boxes, scores, labels. Under their own names where the task is raw."""
        return self._decoder.parts(outputs) if self._decoder else outputs

    def decode(self, outputs: Mapping[str, Array], settings: Settings) -> list[Prediction]:
        """The predictions for each image of a batch, in pixels of the model's input."""
        if self._decoder is None:
            raise ModelError(f"{self.path} has task raw: its outputs have no decoder")
        return self._decoder(outputs, settings)

    def prepare(self, image: NDArray[np.uint8]) -> tuple[dict[str, Array], Geometry]:
        """The feed for one (H, W, 3) BGR image. It is the model's own buffer: the next image overwrites it."""
        if self._transform is None or self._image is None:
            wanted = ", ".join(f"{i.name} {i.dtype}{list(i.shape)}" for i in self.interface.inputs)
            raise UsageError(f"{self.path} takes no image but {wanted}", hint="model.run({...}) in Python")
        tensor, geometry = self._transform(image)
        if not np.may_share_memory(self._feed[self._image], tensor):  # a batch of several: other places stay grey
            self._feed[self._image][:1] = tensor
        return self._feed, geometry

    def warmup(self, shape: Sequence[int] | None = None) -> None:
        """Run once on a grey image, so that the first real one is not the slow one.

        Args:
            shape: of the image input, where the model leaves it free: many providers compile for each anew.
        """
        feed = interfaces.grey_feed(self.interface.inputs, self._size())
        if shape is not None:
            if self._image is None:
                raise UsageError(f"{self.path} takes no image: warmup(shape=...) has none to give")
            grey = feed[self._image]
            feed[self._image] = np.full(tuple(shape), grey.flat[0], grey.dtype)
        self.raw(feed)

    def _one(self, name: str, image: NDArray[np.uint8], settings: Settings) -> Result:
        start = time.perf_counter()
        feed, geometry = self.prepare(image)
        prepared = time.perf_counter()
        outputs = self.raw(feed)
        inferred = time.perf_counter()
        about: dict[str, Any] = {"source": name, "image": image, "names": self.names}
        if self._decoder is None:
            result = Result.from_outputs(outputs, **about)
        else:
            prediction = self.decode(outputs, settings)[0]
            result = Result.from_prediction(prediction, geometry, task=self.interface.task, **about)
        decoded = time.perf_counter()
        speed = {
            "preprocess": (prepared - start) * 1e3,
            "inference": (inferred - prepared) * 1e3,
            "postprocess": (decoded - inferred) * 1e3,
        }
        return replace(result, speed=speed)

    def _size(self) -> tuple[int, int] | None:
        return self.interface.preprocess.size if self.interface.preprocess else None

    def _make_decoder(self) -> Decoder | Arranged | None:
        if self.interface.decoder is None:
            return None
        return decoders.build(self.interface.decoder, self._size() or (0, 0), self.interface.decoder_options)

    def _make_feed(self) -> dict[str, Array]:
        """The buffers that are fed at each run; the image's part is rewritten in place."""
        feed = interfaces.grey_feed(self.interface.inputs, self._size())
        for spec in self.interface.inputs:
            if spec.role != "image" or not self._transform:
                continue
            if len(spec.shape) == 3:  # no batch axis
                feed[spec.name] = self._transform.buffer[0]
            elif feed[spec.name].shape[0] == 1:  # the transform's own buffer, without a copy
                feed[spec.name] = self._transform.buffer
        return feed


def _opened(source: ImageLike) -> tuple[str, NDArray[np.uint8]]:
    """The name and the pixels of whatever was given."""
    if isinstance(source, Source):
        return source.name, source.read()
    if isinstance(source, (str, Path)):
        return str(source), images.read(Path(source))
    return "array" if isinstance(source, np.ndarray) else "image", images.as_image(source)
