"""A YAML file as plain data, with the line that each key stands on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgekit.errors import TargetError
from edgekit.target.problem import Key, Problem, dotted

if TYPE_CHECKING:
    import yaml

CUT_OFF = re.compile(r"[ \t]+#\d[^\r\n]*")  # an issue's number behind a bare word: meant as text, and lost


@dataclass(frozen=True)
class Document:
    """What a profile says, where it says it, and what is wrong with it so far."""

    file: Path
    data: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[Key, tuple[Path, int]] = field(default_factory=dict)  # file and line; a parent's keys are elsewhere
    problems: tuple[Problem, ...] = ()

    def problem(self, key: Key, message: str, suggestion: str | None = None) -> Problem:
        """A problem on the line of this key, or of the key that should hold it."""
        nearest = next((key[:n] for n in range(len(key), 0, -1) if key[:n] in self.places), ())
        file, line = self.places.get(nearest, (self.file, 1))
        return Problem(file, line, dotted(key), message, suggestion)


def read(file: Path) -> Document:
    """Read one file; what is wrong with its YAML becomes problems.

    Raises:
        TargetError: there is no such file, or it cannot be opened.
    """
    import yaml

    try:
        text = file.read_bytes().decode()
    except FileNotFoundError as e:
        raise TargetError(f"{file} does not exist", hint="edgekit targets ls") from e
    except OSError as e:
        raise TargetError(f"{file} cannot be read: {e.strerror}") from e
    except UnicodeDecodeError as e:
        line = e.object[: e.start].count(b"\n") + 1
        return _broken(file, line, "is not UTF-8 text")
    try:
        loader = yaml.SafeLoader(text)
        return _Reader(file, text, loader).document(loader.get_single_node())
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        return _broken(file, mark.line + 1 if mark else 1, f"is not YAML: {e.problem or e.context}")
    except yaml.reader.ReaderError as e:
        return _broken(file, text[: e.position].count("\n") + 1, f"is not YAML: {e.reason}")
    except RecursionError:
        return _broken(file, 1, "is nested too deep")


def _broken(file: Path, line: int, message: str) -> Document:
    return Document(file, problems=(Problem(file, line, "", message),))


class _Reader:
    """Turns YAML nodes into plain data. Keys stay as they are written: 6.10 is no number here."""

    def __init__(self, file: Path, text: str, loader: yaml.SafeLoader) -> None:
        self.file = file
        self.text = text
        self.loader = loader
        self.places: dict[Key, tuple[Path, int]] = {}
        self.problems: list[Problem] = []
        self.seen: set[int] = set()

    def document(self, node: yaml.Node | None) -> Document:
        """The whole file."""
        import yaml

        if node is None:
            return _broken(self.file, 1, "is empty")
        if not isinstance(node, yaml.MappingNode):
            return _broken(self.file, node.start_mark.line + 1, "must hold keys such as name, title and provider")
        data = self._value(node, ())
        return Document(self.file, data, self.places, tuple(self.problems))

    def _value(self, node: yaml.Node, key: Key) -> Any:
        import yaml

        if isinstance(node, yaml.ScalarNode):
            if node.style is None and (lost := CUT_OFF.match(self.text, node.end_mark.index)):
                self.problems.append(self._cut_off(node, lost[0], key))
            try:
                return self.loader.construct_object(node)
            except ValueError as e:  # 2026-13-01
                raise yaml.MarkedYAMLError(problem=str(e), problem_mark=node.start_mark) from e
        if id(node) in self.seen:
            raise yaml.MarkedYAMLError(problem="an alias; write it out, or use extends", problem_mark=node.start_mark)
        self.seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for i, item in enumerate(node.value):
                self.places[(*key, i)] = (self.file, item.start_mark.line + 1)
            return [self._value(item, (*key, i)) for i, item in enumerate(node.value)]
        return self._mapping(node, key)

    def _cut_off(self, node: yaml.ScalarNode, lost: str, key: Key) -> Problem:
        whole = json.dumps(node.value + lost.rstrip(), ensure_ascii=False)
        message = "YAML takes what follows ' #' for a comment"
        return Problem(self.file, node.end_mark.line + 1, dotted(key), message, whole)

    def _mapping(self, node: yaml.Node, key: Key) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name_node, value_node in node.value:
            name, line = str(name_node.value), name_node.start_mark.line + 1
            inner = (*key, name)
            if name in out:
                first = self.places[inner][1]
                self.problems.append(Problem(self.file, line, dotted(inner), f"stands on line {first} already"))
                continue
            self.places[inner] = (self.file, line)
            out[name] = self._value(value_node, inner)
        return out
