"""A provider as a session asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edgekit.runtime import placeholders
from edgekit.runtime.plugins import Plugin
from edgekit.runtime.providers import CPU, Known, known


@dataclass(frozen=True)
class Request:
    """One provider, with its options and its device."""

    provider: str = CPU
    options: Mapping[str, str] = field(default_factory=dict)  # `${cache}` unfilled, no other placeholder
    plugin: Plugin | None = None  # where it comes from; none: it is built into onnxruntime
    hardware: str = ""  # of a plugin's device: cpu, gpu or npu; empty: any
    index: int | None = None  # which of its devices; none: the provider's own choice

    @property
    def known(self) -> Known | None:
        """What is known of the provider; none for a third party's."""
        return known(self.provider, self.plugin.module if self.plugin else "")

    def in_folder(self, cache: Path | None) -> Request:
        """Filled in: with the folder for what it compiles, or without any."""
        return replace(self, options=placeholders.fill(self.options, {"cache": str(cache)} if cache else {}))

    @property
    def built_in(self) -> tuple[str, dict[str, Any]]:
        """As onnxruntime's `providers=[...]` takes it."""
        index = {} if self.index is None else {"device_id": str(self.index)}
        return self.provider, {**self.options, **index}
