"""How outputs of a graph that ends earlier are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edgekit.tasks import decoders
from edgekit.tasks.decoders.arranged import Arranged
from edgekit.tasks.decoders.decoder import Decoder, Size


@dataclass(frozen=True)
class Reading:
    """What decodes some tensors as the rest of the graph does."""

    decoder: str
    names: tuple[str, ...]  # for the tensors, as outputs
    options: Mapping[str, Any] = field(default_factory=dict)
    class_agnostic: bool = False

    def build(self, size: Size) -> Decoder | Arranged:
        """The decoder with its options."""
        return decoders.build(self.decoder, size, self.options)
