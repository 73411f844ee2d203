"""What a user says of a model, on the command line or in Python; everything else is found out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgekit import metadata
from edgekit.errors import DependencyError, UsageError
from edgekit.preprocessing import PRESETS, Preprocess


@dataclass(frozen=True)
class Hints:
    """Task, decoder, input size, class names and pre-processing, as far as they were said."""

    task: str | None = None
    decoder: str | None = None
    size: tuple[int, int] | None = None  # height, width
    names: Mapping[int, str] | None = None
    preprocess: Preprocess | str | None = None  # or the name of a preset

    @classmethod
    def of(
        cls,
        *,
        task: str | None = None,
        decoder: str | None = None,
        imgsz: int | tuple[int, int] | None = None,
        names: str | Path | Mapping[int, str] | list[str] | None = None,
        preprocess: str | Path | Preprocess | None = None,
    ) -> Hints:
        """Read the files that are named.

        Raises:
            UsageError: a file is missing or not what it should be.
        """
        size = (imgsz, imgsz) if isinstance(imgsz, int) else imgsz
        if isinstance(names, (str, Path)):
            names = read_names(Path(names))
        elif names is not None:
            names = metadata.class_names(names)
        if isinstance(preprocess, (str, Path)) and str(preprocess) not in PRESETS and Path(preprocess).suffix:
            preprocess = read_preprocess(Path(preprocess))
        elif isinstance(preprocess, Path):
            preprocess = str(preprocess)
        return cls(task, decoder, size, names, preprocess)


def read_names(path: Path) -> dict[int, str]:
    """Class names from a text file, one a line, or from YAML: a list, a mapping, or either under `names`.

    Raises:
        UsageError: the file is missing, empty, or of another form.
    """
    if path.suffix.lower() not in (".yaml", ".yml"):
        lines = _text(path).splitlines()
        while lines and not lines[-1].strip():
            lines.pop()
        names = {i: line.strip() for i, line in enumerate(lines)}
    else:
        data = _yaml(path)
        names = metadata.class_names(data.get("names", data) if isinstance(data, dict) else data)
    if not names:
        raise UsageError(f"{path} holds no class names: one a line, or a YAML list under `names`")
    return names


def read_preprocess(path: Path) -> Preprocess:
    """Pre-processing from a YAML file with the fields of `Preprocess`.

    Raises:
        UsageError: the file is missing, is no mapping, or has a wrong key or value.
    """
    data = _yaml(path)
    if not isinstance(data, dict):
        raise UsageError(f"{path} must map keys of pre-processing to values, such as `resize: crop`")
    try:
        return Preprocess.from_dict(data)
    except UsageError as e:
        raise UsageError(f"{path}: {e}", hint=e.hint) from e


def _yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError as e:
        raise DependencyError(f"{path} is YAML, and PyYAML is not installed", hint="pip install pyyaml") from e
    try:
        return yaml.safe_load(_text(path))
    except yaml.YAMLError as e:
        raise UsageError(f"{path} is not YAML: {' '.join(str(e).split())}") from e


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as e:
        raise UsageError(f"{path} is not text") from e
    except OSError as e:
        raise UsageError(f"{path} cannot be read: {e.strerror}") from e
