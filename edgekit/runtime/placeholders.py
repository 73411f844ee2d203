"""Provider options as a package writes them, filled in on the machine: `${package}`, `${cache}`, `${model_stem}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\$\{(\w+)\}")


def fill(options: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """The options with each placeholder replaced.

    What holds one without a value is left out: an option, or a key of one that is JSON. So a provider that is given no
    cache folder keeps its own defaults.

    >>> fill({"cache_dir": "${cache}", "target": "X2"}, {})
    {'target': 'X2'}
    >>> fill({"load_config": '{"CPU": {"CACHE_DIR": "${cache}", "HINT": "f32"}}'}, {})
    {'load_config': '{"CPU": {"HINT": "f32"}}'}
    """
    filled = {name: _filled_text(text, values) for name, text in options.items()}
    return {name: text for name, text in filled.items() if text is not None}


def _filled_text(text: str, values: Mapping[str, str]) -> str | None:
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except ValueError:
            return _replaced(text, values)
        return json.dumps(_filled(data, values))
    return _replaced(text, values)


def _filled(data: Any, values: Mapping[str, str]) -> Any:
    if isinstance(data, dict):
        inner = {key: _filled(value, values) for key, value in data.items()}
        return {key: value for key, value in inner.items() if value is not None}
    if isinstance(data, list):
        return [value for value in (_filled(item, values) for item in data) if value is not None]
    return _replaced(data, values) if isinstance(data, str) else data


def _replaced(text: str, values: Mapping[str, str]) -> str | None:
    if any(match[1] not in values for match in PLACEHOLDER.finditer(text)):
        return None
    return PLACEHOLDER.sub(lambda match: values[match[1]], text)
