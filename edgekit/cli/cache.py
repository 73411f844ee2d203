"""`edgekit cache`: what is compiled and kept, why something would be compiled anew, and how to be rid of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output
from edgekit.errors import EdgekitError, IntegrityError, UsageError

if TYPE_CHECKING:
    from edgekit.cache import Entry, Plan
    from edgekit.cache.plan import Held

SCHEMA = "edgekit.cache/1"
HEADERS = ["entry", "model", "provider", "size", "compiled in", "last used", ""]
ORDERS = ("used", "size", "name", "created")
FIELDS = ("provider", "model", "device", "label")
LONGEST = 100  # characters of a part of the key in a table: a processor's flags are many
SHORT = 12  # characters of an entry's name in a table: enough to choose it by

dry_run_option = click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")


@click.group()
def command() -> None:
    """List, check and remove what providers have compiled, or compile it ahead of time."""


@command.command("ls")
@click.option(
    "--sort", type=click.Choice(ORDERS), default="used", show_default=True, help="Last used or largest first."
)
@click.option("--filter", "filters", metavar="FIELD=TEXT", multiple=True, help=f"{', '.join(FIELDS)} contains TEXT.")
@click.option("-q", "--quiet", is_flag=True, help="Names alone, one a line.")
@options.json_option
def list_entries(sort: str, filters: tuple[str, ...], quiet: bool, as_json: bool) -> None:
    """List what is kept."""
    from edgekit.cache import CompileCache

    cache = CompileCache()
    chosen = [h for h in reversed(cache.held()) if _fits(h.entry, filters)]
    by = {"size": lambda h: -h.entry.size, "name": lambda h: h.entry.name, "created": lambda h: h.entry.created}
    if sort in by:
        chosen.sort(key=by[sort])
    if quiet:
        for held in chosen:
            output.line(held.entry.name)
        return
    total = sum(h.entry.size for h in chosen)
    if as_json:
        data = {"schema": SCHEMA, "root": str(cache.root), "bytes": total, "entries": [_data(h) for h in chosen]}
        output.show(data, as_json=True, text="")
        return
    if chosen:
        output.line(output.table(HEADERS, [_row(h) for h in chosen]))
    limits = f"at most {cache.limits.entries} for each provider and {output.size(cache.limits.size)} in all"
    output.line(f"{_count(len(chosen))}, {output.size(total)} in {cache.root}; {limits}")


@command.command("rm")
@click.argument("names", metavar="ENTRY...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Remove every entry.")
@dry_run_option
@options.json_option
def remove(names: tuple[str, ...], everything: bool, dry_run: bool, as_json: bool) -> None:
    """Remove each ENTRY: a name of `edgekit cache ls`, or how it begins. What a session uses stays."""
    from edgekit.cache import CompileCache

    if bool(names) == everything:
        raise UsageError("name the entries to remove, or give --all", hint="edgekit cache ls")
    cache = CompileCache()
    _carry_out(cache.plan_remove(cache.entries() if everything else cache.select(names)), dry_run, as_json)


@command.command("prune")
@click.option("--max-entries", type=click.IntRange(0), help="Entries to keep for each provider.")
@click.option("--max-size", metavar="SIZE", help="Bytes to keep in all, such as 2GiB.")
@dry_run_option
@options.json_option
def prune(max_entries: int | None, max_size: str | None, dry_run: bool, as_json: bool) -> None:
    """Remove the least recently used, down to the limits, and what crashed processes have left."""
    from edgekit.cache import CompileCache
    from edgekit.cache.limits import parse_size

    limit = None if max_size is None else parse_size(max_size, "--max-size")
    cache = CompileCache()
    left = 0 if dry_run else cache.sweep()
    if left:
        output.note(f"removed {output.size(left)} that crashed processes had left")
    _carry_out(cache.plan_prune(max_entries, limit), dry_run, as_json)


@command.command("verify")
@options.json_option
def verify(as_json: bool) -> None:
    """Compare every file with its checksum (exit 4 if one is damaged)."""
    from edgekit.cache import CompileCache

    found = list(CompileCache().damaged())
    bad = [(entry, wrong) for entry, wrong in found if wrong]
    rows = [["BAD" if wrong else "ok", e.name[:SHORT], e.label, wrong or output.size(e.size)] for e, wrong in found]
    data = {"schema": SCHEMA, "entries": [{"name": e.name, "damage": wrong} for e, wrong in found]}
    text = output.table(["", "entry", "model", "found"], rows) if rows else "nothing is kept"
    output.show(data, as_json=as_json, text=text)
    if bad:
        names = " ".join(entry.name[:SHORT] for entry, _ in bad)
        raise IntegrityError(f"{len(bad)} of {len(found)} entries are damaged", hint=f"edgekit cache rm {names}")


@command.command("why")
@options.package_argument
@options.target_option
@options.device_option
@options.provider_options
@options.json_option
def why(package: Path, as_json: bool, **where: Any) -> None:
    """Say whether PACKAGE would be compiled at its next start, and which part of the key differs."""
    from edgekit.runtime import caching, loading, session

    opening = loading.plan(package, **where)
    wanted = caching.wanted(opening)
    if wanted is None:
        raise UsageError(f"{opening.provider} keeps nothing: there is nothing to compile, or no way to keep it")
    request, how = wanted
    answer = caching.store(how).find(caching.key_of(session.onnxruntime(), opening, request))
    nearest, name = answer.nearest, answer.entry.name if answer.entry else None
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "hit": answer.hit,
        "entry": name,
        "reason": answer.reason or None,
        "nearest": nearest.name if nearest else None,
        "differences": {part: {"now": now, "kept": kept} for part, (now, kept) in answer.differences.items()},
        "key": answer.key.to_dict(),
    }
    lines = [f"{opening.label}: {'hit' if answer.hit else 'miss'}, {name or answer.reason}"]
    if nearest:
        lines.append(f"nearest entry: {nearest.name[:SHORT]} ({nearest.label})")
        lines.append(output.table(["part", "now", "kept"], [[p, *pair] for p, pair in answer.differences.items()]))
    else:
        lines.append(output.table(["part", "now"], [[part, _short(now)] for part, now in answer.key.flat().items()]))
    output.show(data, as_json=as_json, text="\n".join(lines))


@command.command("warm")
@click.argument("packages", metavar="PACKAGE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.target_option
@options.device_option
@options.provider_options
@click.option(
    "--into-package", is_flag=True, help="Put what is compiled into the package too, for boards like this one."
)
@options.json_option
def warm(packages: tuple[Path, ...], into_package: bool, as_json: bool, **where: Any) -> None:
    """Compile each PACKAGE, or all in a folder, ahead of time."""
    found = [each for package in packages for each in _packages(package)]
    done, failed = [], []
    for number, package in enumerate(found, 1):
        output.note(f"[{number}/{len(found)}] {package}")
        try:
            done.append(_warm(package, into_package, where))
        except EdgekitError as e:
            if len(found) == 1:
                raise
            failed.append(e)
            output.warn(str(e))
    text = output.table(["package", "provider", "entry", "seconds", "found"], [list(d.values()) for d in done])
    output.show({"schema": SCHEMA, "warmed": done}, as_json=as_json, text=text)
    if failed:
        raise UsageError(f"{len(failed)} of {len(found)} packages could not be compiled")


def _packages(path: Path) -> list[Path]:
    from edgekit import manifest

    if path.is_dir() and not (path / manifest.FILE).is_file():
        inside = sorted(p.parent for p in path.glob(f"*/{manifest.FILE}"))
        if not inside:
            raise UsageError(f"{path} holds no packages", hint="edgekit package MODEL -t TARGET")
        return inside
    return [path]


def _warm(package: Path, into_package: bool, where: dict[str, Any]) -> dict[str, Any]:
    from edgekit.runtime import caching, load

    start = time.perf_counter()
    model = load(package, **where, fallback="error" if where["target"] or where["providers"] else "warn")
    model.warmup()
    taken = time.perf_counter() - start
    output.say(model)
    use = model.cache
    if use is not None and use.loan is None:
        raise EdgekitError(f"{package}: {use.notice}")
    kept = use.kept if use else None
    if into_package:
        if use is None or kept is None:
            raise UsageError(f"{package}: {model.provider} has compiled nothing that a package could carry")
        caching.ship(model.opening, use)
    return {
        "package": str(package),
        "provider": model.provider,
        "entry": kept.name[:SHORT] if kept else None,
        "seconds": round(taken, 2),
        "found": "nothing to keep" if use is None or kept is None else "was there" if use.hit else "compiled",
    }


def _carry_out(plan: Plan, dry_run: bool, as_json: bool) -> None:
    for entry in plan.kept_in_use:
        output.note(f"{entry.name[:SHORT]} ({entry.label}) is in use and stays")
    freed = plan.freed if dry_run else plan.execute()
    names = [entry.name for entry in plan.entries]
    lines = [f"{entry.name[:SHORT]}  {entry.label}  {output.size(entry.size)}" for entry in plan.entries]
    lines.append(f"{'would free' if dry_run else 'freed'} {output.size(freed)} ({_count(len(names))})")
    data = {"schema": SCHEMA, "dry_run": dry_run, "freed": freed, "entries": names}
    output.show(data, as_json=as_json, text="\n".join(lines))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def _count(entries: int) -> str:
    return f"{entries} {'entry' if entries == 1 else 'entries'}"


def _fits(entry: Entry, filters: tuple[str, ...]) -> bool:
    fields = {"provider": entry.key.provider, "model": entry.key.model, "device": entry.key.device}
    fields["label"] = entry.label
    for text in filters:
        name, separator, wanted = text.partition("=")
        if name not in fields or not separator:
            raise UsageError(f"--filter takes {' or '.join(f'{f}=TEXT' for f in FIELDS)}, not {text!r}")
        if wanted.lower() not in fields[name].lower():
            return False
    return True


def _row(held: Held) -> list[object]:
    e = held.entry
    provider = e.key.provider.removesuffix("ExecutionProvider")
    seconds = "-" if e.seconds is None else f"{e.seconds:.1f} s"
    used = (held.use.date or e.created).replace("T", " ")[:16]
    return [e.name[:SHORT], e.label, provider, output.size(e.size), seconds, used, "in use" if held.in_use else ""]


def _data(held: Held) -> dict[str, Any]:
    e = held.entry
    return {
        "name": e.name,
        "label": e.label,
        "provider": e.key.provider,
        "bytes": e.size,
        "seconds": e.seconds,
        "created": e.created,
        "last_used": held.use.date or None,
        "in_use": held.in_use,
        "key": e.key.to_dict(),
    }
