"""What every variant of a package is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from edgekit.packaging import golden as goldens
from edgekit.packaging.calibration import CalibrationData
from edgekit.packaging.probe import Probe, feeds_for
from edgekit.packaging.source import Source
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.hints import Hints
from edgekit.runtime.interface import Identified
from edgekit.runtime.model import Model


@dataclass(frozen=True)
class Material:
    """A source, what is known of it, and what it gives."""

    source: Source
    identified: Identified
    model: Model  # the source, ready to run
    images: Sequence[NDArray[np.uint8]]  # (H, W, 3) BGR each
    images_from: str  # whose they are, for the report
    probe: Probe  # what the source gives for them
    calibration: CalibrationData | None = None  # for int8

    @classmethod
    def of(cls, source: Source, hints: Hints, images: Sequence[NDArray[np.uint8]], images_from: str) -> Material:
        """Find out what a model is, and what it gives for these images.

        Raises:
            ModelError: onnxruntime cannot run it, or it leaves open how to decode it.
        """
        opened = session.create(source.model.SerializeToString(), name=str(source.path))
        identified = interfaces.identify(opened, hints)
        model = Model(opened, identified.interface, path=source.path)
        feeds = feeds_for(model, images, goldens.SEED)
        return cls(source, identified, model, images, images_from, Probe.of(source.model, feeds))

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """What free inputs are fixed at."""
        return {name: value.shape for name, value in self.probe.feeds[0].items()}
