"""A provider as a session asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from edgekit.runtime.plugins import Plugin
from edgekit.runtime.providers import CPU


@dataclass(frozen=True)
class Request:
    """One provider, with its options and its device."""

    provider: str = CPU
    options: Mapping[str, str] = field(default_factory=dict)  # without placeholders
    plugin: Plugin | None = None  # where it comes from; none: it is built into onnxruntime
    hardware: str = ""  # of a plugin's device: cpu, gpu or npu; empty: any
    index: int | None = None  # which of its devices; none: the provider's own choice

    @property
    def built_in(self) -> tuple[str, dict[str, Any]]:
        """As onnxruntime's `providers=[...]` takes it."""
        index = {} if self.index is None else {"device_id": str(self.index)}
        return self.provider, {**self.options, **index}
