"""What a tensor is taken to reach."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Range:
    """Lowest and highest value that quantization is to keep, as measured: zero need not lie between them."""

    low: float
    high: float
