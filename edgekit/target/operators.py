"""Which operators a provider takes: lists in files of their own, since several targets share one.

A list is `operators/NAME.yaml` beside a profile. It says who says so and of which version, and either names the
operators or points to the list that the installed onnxruntime ships.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from edgekit.errors import DependencyError, TargetError
from edgekit.target import document, schema
from edgekit.target.document import Document
from edgekit.target.problem import Problem
from edgekit.target.profile import Target

FOLDER = "operators"
STANDARD = ("", "ai.onnx")
ROW = re.compile(r"^\|\s*(?:ai\.onnx:)?([\w.:]+)\s*\|(.*)\|\s*$")  # of the tables in onnxruntime's own lists


@dataclass(frozen=True)
class OperatorList:
    """The operators that a provider takes; one of another domain than ai.onnx is written `domain:Name`.

    Law: it names `operators` or a `shipped` file, not both.
    """

    title: str
    source: str  # who says so
    version: str  # of what the source describes
    operators: tuple[str, ...] = ()
    shipped: str | None = None  # a Markdown table below the onnxruntime package, with a row per operator
    conditions: Mapping[str, str] = field(default_factory=dict)  # operator: when it is taken, in words
    dtypes: tuple[str, ...] = ()  # of the tensors that a node reads and makes; empty: any
    gives_up_above: int | None = None  # so many nodes that it does not take, and it takes none

    def __post_init__(self) -> None:
        if bool(self.operators) == bool(self.shipped):
            raise ValueError("needs either operators or shipped")

    def takes(self, operator: str, domain: str = "") -> bool:
        """Whether an operator is listed. onnxruntime's own lists do not keep to the case: Argmax."""
        name = operator if domain in STANDARD else f"{domain}:{operator}"
        return name.lower() in self._lower

    @cached_property
    def _lower(self) -> frozenset[str]:
        return frozenset(name.lower() for name in self.operators)


def of(target: Target, folders: Iterable[Path]) -> OperatorList | None:
    """What the target's provider takes; None where no list is known.

    Args:
        folders: of profiles, in the order of finding; the one that the target's own profile is in comes first.

    Raises:
        TargetError: the list is missing or wrong.
        DependencyError: it is one that onnxruntime ships, and onnxruntime is not installed.
    """
    limits = target.limits
    if limits.supported_operators is not None:
        source = target.sources.get("limits.supported_operators", "the profile")
        return OperatorList(target.title, source, "", limits.supported_operators)
    if limits.operator_list is None:
        return None
    beside = [target.file.parent] if target.file else []
    file = find(limits.operator_list, (*beside, *folders))
    if file is None:
        raise TargetError(f"{target.name}: there is no {FOLDER}/{limits.operator_list}.yaml beside a profile")
    return read(file)


def find(name: str, folders: Iterable[Path]) -> Path | None:
    """The file of a list, the first one found."""
    files = (folder / FOLDER / f"{name}.yaml" for folder in folders)
    return next((file for file in files if file.is_file()), None)


def read(file: Path) -> OperatorList:
    """Read one list, and what it points to.

    Raises:
        TargetError: a key or a value is wrong; the message names its line.
        DependencyError: it is one that onnxruntime ships, and onnxruntime is not installed.
    """
    found, problems = check(document.read(file))
    if problems or found is None:
        raise TargetError(str(problems[0]))
    return _with_shipped(found) if found.shipped else found


def check(written: Document) -> tuple[OperatorList | None, list[Problem]]:
    """A list as it is written, or what is wrong in it."""
    if written.problems and not written.data:
        return None, list(written.problems)
    found, flaws = schema.build(OperatorList, dict(written.data))
    return found, [*written.problems, *(written.problem(f.key, f.message, f.suggestion) for f in flaws)]


def _with_shipped(listed: OperatorList) -> OperatorList:
    """The operators, and the conditions on them, from the table that onnxruntime ships."""
    spec = importlib.util.find_spec("onnxruntime")
    if spec is None or spec.origin is None:
        raise DependencyError(f"{listed.title}: onnxruntime ships this list", hint='pip install "edgekit[host]"')
    file = Path(spec.origin).parent / str(listed.shipped)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as e:
        raise TargetError(f"this onnxruntime ships no {listed.shipped}") from e
    rows = {row[1]: _plain(row[2]) for line in lines if (row := ROW.match(line)) and row[1] != "Operator"}
    conditions = {name: text for name, text in rows.items() if text}
    return replace(listed, operators=tuple(rows), shipped=None, conditions={**conditions, **listed.conditions})


def _plain(cell: str) -> str:
    """A table's cell without its markup."""
    return " ".join(re.sub(r"<[^>]+>", " ", cell).split())
