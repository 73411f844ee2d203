"""A target in words: what it says, and under it who says so."""

from __future__ import annotations

from typing import Any

from edgekit.target.inheritance import leaves
from edgekit.target.problem import Key, dotted
from edgekit.target.profile import Target


def describe(target: Target) -> str:
    """All that a profile says, a line per key with its source under it; keys that say nothing are left out."""
    data = target.to_dict()
    sources = data.pop("sources")
    lines = []
    for key in leaves(data):
        value = _at(data, key)
        if value in ("", [], {}, False) or key[0] == "extends":
            continue
        lines.append(f"{dotted(key)}: {_written(value)}")
        if source := sources.get(dotted(key)):
            lines.append(f"    source: {source}")
    if target.image is not None:
        lines.append(f"pinned to the image: {target.image}")
    if target.file is not None:
        lines.append(f"file: {target.file}")
    return "\n".join(lines)


def _at(data: Any, key: Key) -> Any:
    for part in key:
        data = data[part]
    return data


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(_written(item["what"] if isinstance(item, dict) else item) for item in value)
    text = str(value)
    return text if "\n" not in text else "\n" + "\n".join(f"    {line}" for line in text.splitlines())
