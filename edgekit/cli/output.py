"""The one way out: data to stdout, everything else to stderr. Nobody else prints."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from edgekit.runtime import Model


def keep_stdout_for_data() -> None:
    """Send what native libraries print to stderr: QNN's and Vitis AI's write to file descriptor 1 themselves."""
    try:
        data = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # a stream is closed or no file: nothing to keep apart
        return
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    sys.stdout = os.fdopen(data, "w", encoding=encoding, errors=errors, buffering=1 if os.isatty(data) else -1)


def show(data: Mapping[str, Any], *, as_json: bool, text: str) -> None:
    """Print `data` as one JSON object, or `text` for a person."""
    click.echo(json.dumps(data, ensure_ascii=False, allow_nan=False) if as_json else text)


def line(text: str) -> None:
    """One line of data: a JSON lines record, a file name."""
    click.echo(text)


def note(message: str) -> None:
    """Something to know, on stderr."""
    click.secho(message, err=True, dim=_coloured())


def warn(message: str) -> None:
    """Something to be wary of, on stderr."""
    click.echo(click.style("warning: ", fg="yellow" if _coloured() else None) + message, err=True)


def say(model: Model) -> None:
    """What was guessed, passed over or not to be had when a model was opened."""
    for notice in model.notices:
        note(notice)
    if model.fallback:
        warn(f"{model.fallback}: it runs on the CPU instead")


def error(message: str, hint: str | None) -> None:
    """What went wrong, and what to type next."""
    click.echo(click.style("error: ", fg="red" if _coloured() else None) + message, err=True)
    if hint:
        click.echo(f"  try: {hint}", err=True)


def size(count: int) -> str:
    """Bytes for a person, in powers of 1024, as the limits of the cache are given.

    >>> size(0), size(1536), size(10 << 30)
    ('0 B', '1.5 KiB', '10.0 GiB')
    """
    value, units = float(count), iter(("B", "KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while value >= 1024 and unit != "TiB":
        value, unit = value / 1024, next(units)
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Columns of text, two spaces apart; columns of numbers are aligned to the right."""
    cells = [[str(c) for c in row] for row in rows]
    widths = [max(len(c) for c in column) for column in zip(headers, *cells, strict=True)]
    right = [bool(rows) and all(isinstance(row[i], (int, float)) for row in rows) for i in range(len(headers))]

    def joined(row: Sequence[str]) -> str:
        padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join(joined(row) for row in [list(headers), *cells])


@contextmanager
def progress(label: str) -> Iterator[Any]:
    """A progress callback `(step, done, total)`: a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    with click.progressbar(range(100), label=label, file=sys.stderr, show_eta=False) as bar:

        def update(step: str, done: int, total: int) -> None:
            bar.label = f"{label}: {step}"
            bar.update(int(100 * done / max(total, 1)) - bar.pos)

        yield update


def _coloured() -> bool:
    return sys.stderr.isatty() and "NO_COLOR" not in os.environ
