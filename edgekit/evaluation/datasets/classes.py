"""Which of the model's classes a data set's classes are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from edgekit.errors import UsageError

SHOWN = 5  # names in a sentence


@dataclass(frozen=True)
class Matching:
    """The model's class id for each of the data set's, and the sentence that says how it was found.

    A class that is not in `ids` is none of the model's.
    """

    ids: Mapping[int, int]
    notice: str | None


def match(theirs: Mapping[int, str], ours: Mapping[int, str], *, where: str) -> Matching:
    """Match by name; where the model's names say nothing, or the names are others for the same list, by order.

    Case, `_` and `-` do not count in a name. If some names match and others do not, the others are left out.

    Args:
        theirs: names by the data set's ids.
        ours: names by the model's ids; empty where it has none.
        where: what sentences call the data set.

    Raises:
        UsageError: no class is one of the model's.

    >>> match({1: "Person", 3: "traffic_light"}, {0: "person", 9: "traffic light"}, where="a.json").ids
    {1: 0, 3: 9}
    """
    known = _by_name(ours)
    by_name = {i: known[_plain(name)] for i, name in sorted(theirs.items()) if _plain(name) in known}
    if len(by_name) == len(theirs):
        same = all(i == j for i, j in by_name.items())
        return Matching(by_name, None if same else f"classes of {where} matched with the model's by name")
    order = dict(zip(sorted(theirs), sorted(ours) or range(len(theirs)), strict=False))
    agrees = len(theirs) == len(ours) and all(order[i] == j for i, j in by_name.items())
    if agrees or (not by_name and _say_nothing(ours) and len(order) == len(theirs)):
        return Matching(order, f"classes of {where} taken in their order: the model does not have their names")
    left_out = [name for i, name in sorted(theirs.items()) if i not in by_name]
    if not by_name:
        raise UsageError(
            f"{where} has no class of the model: {shortened(left_out)}; the model has {len(ours)}: "
            f"{shortened([ours[i] for i in sorted(ours)])}",
            hint="--names FILE if the model's classes have other names",
        )
    return Matching(by_name, f"classes of {where} that the model does not have are left out: {shortened(left_out)}")


def named(name: str, ours: Mapping[int, str]) -> int | None:
    """The model's class of this name, if there is exactly one."""
    return _by_name(ours).get(_plain(name))


def shortened(names: list[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _by_name(ours: Mapping[int, str]) -> dict[str, int]:
    """Ids by name; a name that two classes share (ImageNet has two cranes) decides nothing."""
    counts = Counter(_plain(name) for name in ours.values())
    return {_plain(name): i for i, name in ours.items() if counts[_plain(name)] == 1}


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").replace("-", " ").split())


def _say_nothing(ours: Mapping[int, str]) -> bool:
    """Whether these are the names that a model without names gets."""
    return all(name == f"class_{i}" for i, name in ours.items())
