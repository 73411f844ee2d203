"""`edgekit targets`: the profiles that are found here, what they say, and whether they are right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.target import Target

SCHEMA = "edgekit.targets/1"


@click.group()
def command() -> None:
    """List, show and validate target profiles."""


@command.command("ls")
@options.json_option
def list_targets(as_json: bool) -> None:
    """List the targets that are found here."""
    from edgekit import target

    found = target.survey()
    rows = [[t.name, t.title, t.provider.name, t.device, _precisions(t)] for t in found.targets]
    for sentence in (*found.problems, *found.warnings):
        output.warn(str(sentence))
    data = {
        "schema": SCHEMA,
        "targets": [_summary(t) for t in found.targets],
        "problems": [_problem(p) for p in found.problems],
        "warnings": list(found.warnings),
    }
    output.show(data, as_json=as_json, text=output.table(["name", "title", "provider", "device", "precisions"], rows))


@command.command("show")
@click.argument("name", shell_complete=options.complete_target)
@options.json_option
def show_target(name: str, as_json: bool) -> None:
    """Show all that the profile NAME, or NAME@IMAGE, says, and who says so."""
    from edgekit import target

    shown = target.load(name)
    data = {"schema": SCHEMA, "target": {**shown.to_dict(), "image": shown.image, "file": str(shown.file)}}
    output.show(data, as_json=as_json, text=target.describe(shown))


@command.command("validate")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.json_option
@click.pass_context
def validate_profiles(ctx: click.Context, files: tuple[Path, ...], as_json: bool) -> None:
    """Check profiles: each problem with its line, its key and the nearest that is valid."""
    from edgekit import target

    problems = {file: target.validate(file) for file in files}
    lines = [line for file, found in problems.items() for line in ([*map(str, found)] or [f"{file}: a valid profile"])]
    data = {
        "schema": SCHEMA,
        "valid": not any(problems.values()),
        "files": [{"file": str(f), "problems": [_problem(p) for p in found]} for f, found in problems.items()],
    }
    output.show(data, as_json=as_json, text="\n".join(lines))
    if any(problems.values()):
        ctx.exit(2)


def _precisions(target: Target) -> str:
    allowed, default = target.precision.allowed, target.precision.default
    return ", ".join(f"{p} (default)" if p == default and len(allowed) > 1 else p for p in allowed)


def _summary(target: Target) -> dict[str, Any]:
    return {
        "name": target.name,
        "title": target.title,
        "family": target.family,
        "architecture": list(target.architecture),
        "provider": target.provider.name,
        "device": target.device,
        "precision": {"default": target.precision.default, "allowed": list(target.precision.allowed)},
        "images": list(target.images),
        "note": target.note,
        "file": str(target.file),
    }


def _problem(problem: Any) -> dict[str, Any]:
    return {
        "file": str(problem.file),
        "line": problem.line,
        "key": problem.key,
        "message": problem.message,
        "suggestion": problem.suggestion,
    }
