"""Checks plain data against a dataclass and builds it: the types of the fields are the schema."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from edgekit.target.problem import Key, nearest

SCALARS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


@dataclass(frozen=True)
class Form:
    """What a text or a number has to look like: `Annotated[str, Form(...)]`."""

    pattern: str
    says: str  # completes "must be ..."

    def fits(self, value: object) -> bool:
        """Whether the whole value matches."""
        return re.fullmatch(self.pattern, str(value)) is not None


@dataclass(frozen=True)
class Flaw:
    """One thing that is wrong in the data."""

    key: Key
    message: str
    suggestion: str | None = None


def build(kind: Any, data: object, *, complete: bool = True) -> tuple[Any, list[Flaw]]:
    """The data as an instance of `kind`, and what is wrong with it.

    A field with `metadata={"derived": True}` cannot be given. One with `metadata={"partial": True}` holds some of
    the keys of `kind` itself. A null counts as a key that was not given.

    Args:
        kind: a dataclass, or a type as one of its fields may have.
        complete: whether required keys must be there; where not, the instance is None.
    """
    builder = _Builder(kind, complete)
    value = builder.read(kind, data, ())
    return (None if builder.flaws else value), builder.flaws


def given_fields(kind: Any) -> dict[str, Field[Any]]:
    """The fields that a file can give, by name."""
    return {f.name: f for f in fields(kind) if not f.metadata.get("derived")}


class _Builder:
    def __init__(self, root: Any, complete: bool) -> None:
        self.root = root
        self.complete = complete
        self.flaws: list[Flaw] = []

    def read(self, kind: Any, data: object, key: Key) -> Any:
        """The data as `kind`; None, and a flaw, where it is not."""
        origin, args = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._formed(args[0], args[1], data, key)
        if origin is Literal:
            return self._chosen([str(a) for a in args], data, key)
        if origin in (Union, types.UnionType):
            return self.read(next(a for a in args if a is not type(None)), data, key)
        if origin is tuple:
            return self._listed(args[0], data, key)
        if origin is not None and issubclass(origin, Mapping):
            return self._mapped(args[0], args[1], data, key)
        if is_dataclass(kind):
            return self._record(kind, data, key)
        return data if kind is Any else self._scalar(kind, data, key)

    def _flaw(self, key: Key, message: str, suggestion: str | None = None) -> None:
        self.flaws.append(Flaw(key, message, suggestion))

    def _scalar(self, kind: type, data: object, key: Key) -> Any:
        if type(data) is kind or (kind is float and type(data) is int):
            return data
        self._flaw(key, f"must be {SCALARS[kind]}, is {_said(data)}", _retyped(kind, data))
        return None

    def _formed(self, kind: Any, form: Form, data: object, key: Key) -> Any:
        value = self.read(kind, data, key)
        if value is not None and not form.fits(value):
            self._flaw(key, f"must be {form.says}, is {_said(data)}")
        return value

    def _chosen(self, choices: list[str], data: object, key: Key) -> Any:
        if data not in choices:
            self._flaw(key, f"must be one of {', '.join(choices)}, is {_said(data)}", nearest(str(data), choices))
            return None
        return data

    def _listed(self, kind: Any, data: object, key: Key) -> Any:
        if not isinstance(data, list):
            # a lone word is what people write who mean a list of one
            lone = not isinstance(data, Mapping)
            self._flaw(key, f"must be a list, is {_said(data)}", f"[{_said(data)}]" if lone else None)
            return None
        return tuple(self.read(kind, item, (*key, i)) for i, item in enumerate(data))

    def _mapped(self, names: Any, kind: Any, data: object, key: Key) -> Any:
        if not isinstance(data, Mapping):
            self._flaw(key, f"must map names to values, is {_said(data)}")
            return None
        allowed = get_args(names) if get_origin(names) is Literal else tuple(data)
        for name in data:
            if name not in allowed:
                self._flaw((*key, name), f"must be one of {', '.join(allowed)}", nearest(str(name), allowed))
        return {name: self.read(kind, value, (*key, name)) for name, value in data.items() if value is not None}

    def _record(self, kind: Any, data: object, key: Key) -> Any:
        known = given_fields(kind)
        if not isinstance(data, Mapping):
            self._flaw(key, f"must hold keys such as {', '.join(list(known)[:3])}, is {_said(data)}")
            return None
        before, hints = len(self.flaws), get_type_hints(kind, include_extras=True)
        values = {}
        for name, value in data.items():
            if name not in known:
                self._flaw((*key, name), "no such key", nearest(str(name), known))
            elif value is not None:
                if known[name].metadata.get("partial"):
                    self._partial(value, (*key, name))
                values[name] = self.read(hints[name], value, (*key, name))
        missing = [f.name for f in known.values() if _required(f) and f.name not in values]
        for name in missing if self.complete else ():
            self._flaw((*key, name), "is missing")
        if missing or len(self.flaws) > before:
            return None
        try:
            return kind(**values)
        except ValueError as e:  # what the dataclass itself holds to
            self._flaw(key, str(e))
            return None

    def _partial(self, data: object, key: Key) -> None:
        inner = _Builder(self.root, complete=False)
        inner.read(self.root, data, key)
        self.flaws += inner.flaws


def _required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _said(data: object) -> str:
    """A value as YAML has it, short enough for a sentence."""
    text = json.dumps(data, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _retyped(kind: type, data: object) -> str | None:
    """How the value would be written as the right type, where that is plain to see."""
    if kind is str and not isinstance(data, (list, Mapping)):
        return json.dumps(data if isinstance(data, str) else _said(data).strip('"'))
    if kind is int and isinstance(data, str) and data.strip().isdecimal():
        return data.strip()
    if kind is bool and str(data).lower() in ("0", "1", "true", "false"):
        return "true" if str(data).lower() in ("1", "true") else "false"
    return None
