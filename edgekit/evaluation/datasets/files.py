"""What the readers of data sets share: finding images, reading text, JSON and YAML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

from edgekit.errors import UsageError
from edgekit.runtime.sources import SUFFIXES


def is_image(path: Path) -> bool:
    """Whether the name is that of an image."""
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def images(folder: Path) -> list[Path]:
    """The images in a folder and its subfolders, sorted."""
    return sorted(p for p in folder.rglob("*") if is_image(p) and p.is_file())


def text(path: Path) -> str:
    """The content of a text file.

    Raises:
        UsageError: it is missing, or not text.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as e:
        raise UsageError(f"{path} is not text") from e
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror or e}") from e


def json_mapping(path: Path) -> dict[str, Any]:
    """The content of a JSON file.

    Raises:
        UsageError: it is missing, or no JSON object; the message says where.
    """
    try:
        data = json.loads(text(path))
    except json.JSONDecodeError as e:
        raise UsageError(f"{path}, line {e.lineno}: not JSON: {e.msg}") from e
    except RecursionError as e:
        raise UsageError(f"{path} is nested too deeply") from e
    if not isinstance(data, dict):
        raise UsageError(f"{path} is not a JSON object")
    return data


def yaml_mapping(path: Path) -> dict[str, Any]:
    """The content of a YAML file.

    Raises:
        UsageError: it is missing, or no YAML mapping.
    """
    try:
        data = yaml.safe_load(text(path))
    except yaml.YAMLError as e:
        raise UsageError(f"{path} is not YAML: {' '.join(str(e).split())}") from e
    if not isinstance(data, dict):
        raise UsageError(f"{path} is not a YAML mapping")
    return data
