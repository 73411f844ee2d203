"""How a model is quantized: a choice as data, that can be written to a file and replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from edgekit.errors import UsageError
from edgekit.packaging.calibration.methods import METHODS
from edgekit.target import Scheme

INTEGERS = ("int8", "uint8")


@dataclass(frozen=True)
class Recipe:
    """Which operators are quantized, which blocks stay float, and how ranges are found.

    Law: `Recipe.from_dict(r.to_dict()) == r`.
    """

    operators: tuple[str, ...]
    activation: str = "uint8"
    weight: str = "int8"
    per_channel: bool = True
    reduce_range: bool = False
    calibration: str = "average"
    first_float: int = 2  # blocks at the input that stay float: they are cheap, and the rest depends on them
    ends_float: bool = True  # the last convolution of each branch stays float
    kept: tuple[str, ...] = ()  # further blocks that stay float, by the name of their convolution

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON and YAML."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Read what `to_dict` wrote.

        Raises:
            UsageError: a key is unknown or missing, or a value of the wrong kind.
        """
        known = {f.name: f for f in fields(cls)}
        if unknown := sorted(set(data) - set(known)):
            raise UsageError(f"a recipe has no key {unknown[0]!r}", hint=f"keys: {', '.join(known)}")
        if "operators" not in data:
            raise UsageError("a recipe needs the key 'operators'")
        default = cls(operators=())
        values: dict[str, Any] = {}
        for key, value in data.items():
            given = tuple(value) if isinstance(value, list) else value
            if type(given) is not type(getattr(default, key)):
                raise UsageError(f"recipe: {key} is {value!r}, must be of the kind of {getattr(default, key)!r}")
            values[key] = given
        recipe = cls(**values)
        if recipe.activation not in INTEGERS or recipe.weight not in INTEGERS or recipe.calibration not in METHODS:
            raise UsageError(
                f"recipe: activation and weight are one of {', '.join(INTEGERS)}, calibration of {', '.join(METHODS)}"
            )
        return recipe

    @classmethod
    def read(cls, path: Path) -> Recipe:
        """Read a recipe file: YAML or JSON.

        Raises:
            UsageError: it is missing, or no recipe.
        """
        try:
            data = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as e:
            raise UsageError(f"{path} cannot be read as a recipe: {' '.join(str(e).split())}") from e
        if not isinstance(data, dict):
            raise UsageError(f"{path} is no recipe: it must map keys to values")
        return cls.from_dict(data)

    @classmethod
    def for_scheme(cls, scheme: Scheme) -> Recipe:
        """The default of a target."""
        return cls(
            operators=scheme.operators,
            activation=scheme.activation,
            weight=scheme.weight,
            per_channel=scheme.per_channel,
            reduce_range=scheme.reduce_range,
        )
