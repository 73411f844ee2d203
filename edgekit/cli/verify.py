"""`edgekit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from edgekit.cli import options, output


@click.command("verify")
@options.package_argument
@options.target_option
@options.json_option
def command(package: Path, target: str | None, as_json: bool) -> None:
    """Check that PACKAGE is intact and gives here what it gave when it was made."""
    from edgekit.runtime import verification

    verified = verification.verify(package, target=target)
    marks = {True: "ok", False: "BAD", None: "skipped"}
    rows = [[marks[c.ok], c.name, c.detail] for c in verified.checks]
    data: dict[str, Any] = {
        "schema": "edgekit.verify/1",
        "package": str(package),
        "target": verified.target,
        "provider": verified.provider,
        "ok": not verified.bad,
        "checks": [{"name": c.name, "ok": c.ok, "detail": c.detail} for c in verified.checks],
    }
    text = output.table(["", "check", "found"], rows)
    output.show(data, as_json=as_json, text=f"{package}, variant {verified.target} on {verified.provider}\n{text}")
    verified.raise_if_bad()
