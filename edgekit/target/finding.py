"""Where profiles are, and which one a name means.

They are looked for in this order; of two with the same name, the first one found is taken:

1. a path to a .yaml file;
2. the folders in EDGEKIT_TARGETS, separated as in PATH;
3. `targets` in the user's configuration folder;
4. entry points in the group `edgekit.targets`: the value is a folder of .yaml files, written as a package
   (`acme_boards` or `acme_boards.profiles`). Nothing in it is imported, so it needs no Python, not even `__init__.py`;
5. those that edgekit ships.
"""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgekit.errors import TargetError
from edgekit.runtime import providers
from edgekit.target import document, operators, schema
from edgekit.target.document import Document
from edgekit.target.inheritance import assemble
from edgekit.target.operators import OperatorList
from edgekit.target.problem import Problem, nearest
from edgekit.target.profile import Meaning, Target

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FOLDERS_VARIABLE = "EDGEKIT_TARGETS"
ENTRY_POINTS = "edgekit.targets"
LIST = "edgekit targets ls"


@dataclass(frozen=True)
class Survey:
    """All that can be found: the targets, and what is wrong with the profiles that are none."""

    targets: tuple[Target, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...] = ()  # entry points that lead nowhere


def load(name: str | Path) -> Target:
    """The target of this name, NAME@IMAGE, or path.

    Raises:
        TargetError: there is no such target or image, the name is ambiguous, or the profile is wrong.
    """
    text, image = _split(str(name))
    target = _load_file(Path(text)) if _is_path(text) else _load_name(text)
    return _pinned(target, image) if image is not None else target


def find_all() -> list[Target]:
    """Every target that can be used; profiles that are wrong are left out."""
    return list(survey().targets)


def survey() -> Survey:
    """Every target that can be used, and what is wrong with the other profiles."""
    targets, problems = [], []
    for file in _files().values():
        profile = assembled(file)
        target, found = _check(profile)
        problems += found
        if target is not None:
            targets.append(target)
    lost = [
        f"{entry.name} = {entry.value} in the entry points {ENTRY_POINTS} is no folder of profiles"
        for entry in _entry_points()
        if not any(folder.is_dir() for folder in _folders_of(entry.value))
    ]
    return Survey(tuple(targets), tuple(dict.fromkeys(problems)), tuple(lost))


def validate(path: str | Path) -> list[Problem]:
    """What is wrong in a profile and in what it extends; empty if nothing is.

    Raises:
        TargetError: there is no such file.
    """
    return _check(assembled(Path(path)))[1]


def operator_list(target: Target) -> OperatorList | None:
    """What the target's provider takes; None where no list is known.

    Raises:
        TargetError: its list is missing or wrong.
        DependencyError: onnxruntime ships it, and is not installed.
    """
    return operators.of(target, _folders())


def _split(text: str) -> tuple[str, str | None]:
    """A name and its image. A path may hold an @ of its own."""
    if Path(text).suffix in (".yaml", ".yml") or "@" not in text:
        return text, None
    name, _, image = text.rpartition("@")
    return name, image


def _is_path(text: str) -> bool:
    return Path(text).suffix in (".yaml", ".yml") or len(Path(text).parts) > 1


def _load_file(file: Path, *, of_an_image: bool = False) -> Target:
    profile = assembled(file)
    target, problems = _check(profile, of_an_image=of_an_image)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise TargetError(f"{problems[0]}{more}", hint=f"edgekit targets validate {file}")
    if target is None:
        raise _no_target(profile)
    return target


def _load_name(name: str) -> Target:
    if file := _files().get(name):
        return _load_file(file)
    targets = find_all()
    sharing = [target for target in targets if name in target.aliases]
    machine = platform.machine()
    for target in sharing:
        if not target.architecture or machine in target.architecture:
            return target
    if sharing:
        others = ", ".join(f"{t.name} is for {'/'.join(t.architecture)}" for t in sharing)
        raise TargetError(f"{name} means this machine's, and none is for {machine}: {others}", hint=LIST)
    known = [n for t in targets for n in (t.name, *t.aliases)]
    near = nearest(name.lower(), known)
    raise TargetError(f"there is no target {name!r}" + (f", did you mean {near}?" if near else ""), hint=LIST)


def _pinned(target: Target, image: str) -> Target:
    """The target on one image, which may be another profile's under the same name."""
    carried = target.images.get(image)
    if carried is None or carried.profile is None or target.file is None:
        return target.pinned(image)
    file = next(_find(carried.profile, target.file), None)
    if file is None:
        raise TargetError(f"{target.name}@{image}: there is no profile {carried.profile!r}", hint=LIST)
    other = _load_file(file, of_an_image=True)
    return replace(other, name=target.name, images=target.images).pinned(image)


def _no_target(profile: Document) -> TargetError:
    """Why an abstract profile cannot be used as a target."""
    name, here = profile.data["name"], ", ".join(target.name for target in find_all())
    meanings, _ = schema.build(tuple[Meaning, ...], profile.data.get("meanings") or [])
    if not meanings:
        return TargetError(f"{name} is what other profiles extend, no target; targets here: {here}", hint=LIST)
    could = ", or ".join(m.what + (f" ({', '.join(m.targets)})" if m.targets else "") for m in meanings)
    return TargetError(f"{name} could mean {could}", hint=LIST)


def assembled(file: Path) -> Document:
    """A profile with what it takes over, unchecked."""
    return assemble(file, find=_find, names=_files)


def _check(profile: Document, *, of_an_image: bool = False) -> tuple[Target | None, list[Problem]]:
    """The profile as a target, or none where it is abstract or something is wrong.

    Args:
        of_an_image: whether an abstract one will do, since it holds on an image of another target.
    """
    if profile.problems and not profile.data:
        return None, list(profile.problems)
    abstract = profile.data.get("abstract") is True and not of_an_image
    target, flaws = schema.build(Target, dict(profile.data), complete=not abstract)
    problems = [*profile.problems, *(profile.problem(f.key, f.message, f.suggestion) for f in flaws)]
    name: Any = profile.data.get("name")
    if isinstance(name, str) and name != profile.file.stem:
        problems.append(profile.problem(("name",), f"must be as the file is called, is {name}", profile.file.stem))
    if abstract and name is None:
        problems.append(profile.problem(("name",), "is missing"))
    if target is not None:
        problems += [
            *_check_operator_list(profile, target),
            *_check_provider(profile, target),
            *_check_images(profile, target),
        ]
    usable = not (problems or abstract)
    once = {(p.file, p.line, p.key): p for p in reversed(problems)}.values()  # the first that is said of a key
    return (replace(target, file=profile.file) if usable else None), sorted(once, key=_order)


def _check_operator_list(profile: Document, target: Target) -> list[Problem]:
    """What is wrong with the list of operators that the profile names."""
    name, folders = target.limits.operator_list, (profile.file.parent, *_folders())
    if name is None:
        return []
    file = operators.find(name, folders)
    if file is not None:
        return operators.check(document.read(file))[1]
    known = [path.stem for folder in folders for path in (folder / operators.FOLDER).glob("*.yaml")]
    message = f"there is no {operators.FOLDER}/{name}.yaml beside a profile"
    return [profile.problem(("limits", "operator_list"), message, nearest(name, known))]


def _check_provider(profile: Document, target: Target) -> list[Problem]:
    """What the profile asks of its provider, on any image and in any precision, that the provider does not know."""
    carried = [name for name, image in target.images.items() if target.provider.name in image.providers]
    try:
        pinned = [target.pinned(name) for name in carried if not target.images[name].unsupported]
        varied = [target.in_precision(precision) for precision in target.by_precision]
    except TargetError as e:
        return [profile.problem((), str(e))]
    flaws = [flaw for each in (target, *pinned, *varied) for flaw in _flaws(each)]
    return [profile.problem(flaw.key, flaw.message, flaw.suggestion) for flaw in dict.fromkeys(flaws)]


def _check_images(profile: Document, target: Target) -> Iterator[Problem]:
    """Profiles that images name and that are not there."""
    for name, image in target.images.items():
        if image.profile and not any(_find(image.profile, profile.file)):
            key = ("images", name, "profile")
            yield profile.problem(key, f"there is no profile {image.profile!r}", nearest(image.profile, _files()))


def _flaws(target: Target) -> list[providers.Flaw]:
    provider, plugin, inside = target.provider, target.provider.plugin, target.provider.built_in
    flaws = providers.flaws(
        provider.name,
        plugin.module if plugin else None,
        provider.options,
        target.environment,
        plugin.preload if plugin else (),
        provider.versions or "",
    )
    if inside is not None:
        below = ("provider", "built_in")
        found = providers.flaws(provider.name, None, inside.options, {}, versions=inside.versions or "")
        flaws += [replace(flaw, key=(*below, *flaw.key[1:])) for flaw in found]
    return flaws


def _order(problem: Problem) -> tuple[str, int, str]:
    return str(problem.file), problem.line, problem.key


def _find(name: str, seen_from: Path) -> Iterator[Path]:
    """The files of this name: the one beside the profile that asks, then all in the order of finding."""
    for folder in (seen_from.parent, *_folders()):
        file = folder / f"{name}.yaml"
        if file.is_file():
            yield file


def _files() -> dict[str, Path]:
    """The file of each name, the first one found."""
    files: dict[str, Path] = {}
    for folder in _folders():
        for file in sorted(folder.glob("*.yaml")):
            files.setdefault(file.stem, file)
    return files


def _folders() -> Iterator[Path]:
    for text in filter(None, os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep)):
        if not Path(text).is_dir():
            raise TargetError(f"{FOLDERS_VARIABLE} names {text}, which is not a folder")
        yield Path(text)
    import platformdirs

    yield Path(platformdirs.user_config_dir("edgekit")) / "targets"
    for entry in _entry_points():
        yield from _folders_of(entry.value)
    yield shipped()


def _entry_points() -> list[EntryPoint]:
    from importlib import metadata

    return sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda entry: (entry.name, entry.value))


def _folders_of(package: str) -> Iterator[Path]:
    """Where the files of a package are; only its name is looked up, so that none of its code runs."""
    top, *below = package.replace(":", ".").split(".")
    spec = importlib.util.find_spec(top)
    for location in (spec.submodule_search_locations if spec else None) or ():
        yield Path(location, *below)


def shipped() -> Path:
    """The folder of edgekit's own profiles: inside the package in a wheel, beside it in the repository."""
    package = Path(__file__).resolve().parents[1]
    inside = package / "targets"
    return inside if inside.is_dir() else package.parent / "targets"
