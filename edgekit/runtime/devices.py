"""What `device` may be: auto, cpu, cuda[:n], mps, dml, npu, rocm[:n]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgekit.errors import UsageError
from edgekit.manifest import Variant
from edgekit.runtime.providers import CPU

PROVIDERS = {
    "cpu": CPU,
    "cuda": "CUDAExecutionProvider",
    "mps": "CoreMLExecutionProvider",
    "dml": "DmlExecutionProvider",
    "rocm": "MIGraphXExecutionProvider",
}
NUMBERED = ("cuda", "rocm")
NAMES = ("auto", "cpu", "cuda[:n]", "mps", "dml", "npu", "rocm[:n]")


@dataclass(frozen=True)
class Device:
    """Where a model is to run.

    >>> Device.parse("cuda:1")
    Device(kind='cuda', index=1)
    """

    kind: str = "auto"
    index: int | None = None

    @classmethod
    def parse(cls, text: str) -> Device:
        """Read what a user typed.

        Raises:
            UsageError: there is no such device.
        """
        match = re.fullmatch(r"(\w+)(?::(\d+))?", text)
        if match and match[1] in ("auto", "npu", *PROVIDERS) and (match[2] is None or match[1] in NUMBERED):
            return cls(match[1], None if match[2] is None else int(match[2]))
        raise UsageError(f"{text!r} is no device: it is one of {', '.join(NAMES)}")

    def __str__(self) -> str:
        return self.kind if self.index is None else f"{self.kind}:{self.index}"

    def takes(self, variant: Variant) -> bool:
        """Whether a variant runs there."""
        if self.kind == "npu":
            return variant.device == "npu"
        return self.kind == "auto" or variant.provider == PROVIDERS[self.kind]
