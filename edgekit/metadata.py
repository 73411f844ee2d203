"""The Ultralytics keys that describe a model: in ONNX metadata_props as text, in metadata.yaml as values.

Values in metadata_props are Python literals (facts: ultralytics exporter writes `str(value)`), read with
`ast.literal_eval` and nothing stronger: a model file comes from somebody else.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

# keys whose text is a literal; every other key is text as it stands
LITERALS = frozenset(
    {"stride", "batch", "imgsz", "names", "args", "channels", "end2end", "kpt_shape", "kpt_names", "nms", "anchors"}
)


def parse(props: Mapping[str, str]) -> dict[str, Any]:
    """Values of `metadata_props`; a literal that cannot be read stays text.

    >>> parse({"names": "{0: 'cat'}", "imgsz": "[320, 320]", "version": "8.0"})
    {'names': {0: 'cat'}, 'imgsz': [320, 320], 'version': '8.0'}
    """
    return {key: _literal(text) if key in LITERALS else text for key, text in props.items()}


def to_props(metadata: Mapping[str, Any]) -> dict[str, str]:
    """The text form of `metadata`; `parse(to_props(m)) == m` for the keys above."""
    return {key: value if isinstance(value, str) else str(value) for key, value in metadata.items()}


def plain(value: Any) -> Any:
    """The same value in lists and mappings only, as JSON and YAML know them."""
    if isinstance(value, Mapping):
        return {key: plain(v) for key, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def from_json(value: Any) -> Any:
    """Undo what JSON does to mappings by class id: its keys are text."""
    if isinstance(value, dict) and value and all(str(k).isdigit() for k in value):
        return {int(k): v for k, v in value.items()}
    return value


def class_names(value: Any) -> dict[int, str]:
    """Class names by id, from a list or a mapping; empty where there are none.

    >>> class_names(["cat", "dog"])
    {0: 'cat', 1: 'dog'}
    """
    if isinstance(value, Mapping):
        return {int(k): str(v) for k, v in value.items() if str(k).lstrip("-").isdigit()}
    if isinstance(value, (list, tuple)):
        return {i: str(v) for i, v in enumerate(value)}
    return {}


def image_size(metadata: Mapping[str, Any]) -> tuple[int, int] | None:
    """Height and width that `imgsz` gives, if it does."""
    value = metadata.get("imgsz")
    if isinstance(value, int) and not isinstance(value, bool):
        return (value, value)
    if isinstance(value, (list, tuple)) and len(value) == 2 and all(isinstance(v, int) for v in value):
        return (value[0], value[1])
    return None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
