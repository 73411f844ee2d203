"""`edgekit check`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.packaging.check import Finding, Verdict

BLOCKED = 3
NAMED = 3  # nodes of one kind that are named; --json names all


@click.command("check")
@click.argument("model", type=click.Path(path_type=Path))
@options.targets_option
@options.precision_option
@click.option("--imgsz", metavar="N|H,W", callback=options.size, help="Input size, where the model leaves it free.")
@options.json_option
@click.pass_context
def command(
    ctx: click.Context,
    model: Path,
    targets: tuple[str, ...],
    precision: str,
    imgsz: tuple[int, int] | None,
    as_json: bool,
) -> None:
    """Say what a target would run of MODEL, what blocks it, and what `package` does about it."""
    from edgekit.packaging.check import check

    verdicts = check(model, targets, precision=precision, imgsz=imgsz)
    data = {"schema": "edgekit.check/1", "model": str(model), "targets": [v.to_dict() for v in verdicts]}
    output.show(data, as_json=as_json, text=_text(verdicts))
    if any(verdict.blocked for verdict in verdicts):
        ctx.exit(BLOCKED)


def _text(verdicts: Sequence[Verdict]) -> str:
    headers = ["target", "provider", "precision", "MACs", "nodes", "parts", "verdict"]
    table = output.table(headers, [_row(v) for v in verdicts])
    if len(verdicts) == 1:
        return "\n".join([table, *_details(verdicts[0].findings)])
    reasons = [f"{v.target}: {f.message}" for v in verdicts for f in v.findings if f.effect == "blocks"]
    return "\n".join([table, *([""] if reasons else []), *reasons])


def _row(verdict: Verdict) -> list[str]:
    coverage = verdict.coverage
    precision = verdict.precision or "-"
    provider = verdict.provider.removesuffix("ExecutionProvider")
    if coverage is None:
        return [verdict.target, provider, precision, "?", "?", "?", verdict.outcome]
    macs = "?" if coverage.mac_share is None else f"{coverage.mac_share:.1%}"
    parts = str(coverage.partitions)
    return [verdict.target, provider, precision, macs, f"{coverage.node_share:.1%}", parts, verdict.outcome]


def _details(findings: Sequence[Finding]) -> list[str]:
    """Each finding with what becomes of it and the nodes that it is about; who says so at the end, once."""
    lines = []
    for finding in findings:
        lines += ["", f"{finding.effect}: {finding.message}"]
        if finding.remedy:
            lines.append(f"  -> {finding.remedy}")
        if finding.nodes:
            more = f", and {len(finding.nodes) - NAMED} more" if len(finding.nodes) > NAMED else ""
            lines.append(f"  at {', '.join(finding.nodes[:NAMED])}{more}")
    sources = dict.fromkeys((finding.kind, finding.source) for finding in findings if finding.source)
    return [*lines, *([""] if sources else []), *(f"source of {kind}: {source}" for kind, source in sources)]
