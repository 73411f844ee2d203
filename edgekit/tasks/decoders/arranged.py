"""A decoder of outputs that lie in another way: channels last, or without a batch axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from edgekit.tasks.decoders.decoder import Decoder, Outputs
from edgekit.tasks.layout import batched, channels_first
from edgekit.tasks.predictions import Prediction, Settings


@dataclass(frozen=True)
class Arranged:
    """The outputs are brought, as views, to the order that `decoder` reads."""

    decoder: Decoder
    channels_last: frozenset[str]
    batch_axis: bool = True

    @property
    def name(self) -> str:
        """The decoder's."""
        return self.decoder.name

    @property
    def task(self) -> str:
        """The decoder's."""
        return self.decoder.task

    def parts(self, outputs: Outputs) -> Mapping[str, NDArray[Any]]:
        """See `Decoder.parts`."""
        return self.decoder.parts(self._arranged(outputs))

    def __call__(self, outputs: Outputs, settings: Settings) -> list[Prediction]:
        """See `Decoder.__call__`."""
        return self.decoder(self._arranged(outputs), settings)

    def _arranged(self, outputs: Outputs) -> Outputs:
        return channels_first(outputs if self.batch_axis else batched(outputs), self.channels_last)
