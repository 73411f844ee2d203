"""`edgekit doctor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from edgekit.cli import options, output
from edgekit.errors import ProviderError

if TYPE_CHECKING:
    from edgekit.runtime.doctor import Diagnosis


@click.command("doctor")
@click.argument("target", required=False, shell_complete=options.complete_target)
@options.json_option
def command(target: str | None, as_json: bool) -> None:
    """Say what this machine can run and what it lacks, for one TARGET or for all.

    Exit code 5 where the TARGET that is named cannot run here.
    """
    from edgekit.runtime.doctor import diagnose

    found = diagnose(target)
    output.show({"schema": "edgekit.doctor/1", **found.to_dict()}, as_json=as_json, text=_text(found))
    first = found.verdicts[0] if target else None
    if first is not None and first.reason:
        raise ProviderError(f"{first.target} cannot run here: {first.reason}", hint=first.install or None)


def _text(found: Diagnosis) -> str:
    names = [f"{d.name} {d.version}" for d in found.distributions]
    rows = [
        ["installed", ", ".join(names) or "no onnxruntime"],
        ["processor", f"{found.architecture}, {' '.join(found.features)}: {found.int8}"],
        *(["driver", f"{driver.name}: {driver.state}"] for driver in found.drivers),
        *([name, wrong or "loads"] for name, wrong in found.providers.items()),
        *([module, _plugin(data)] for module, data in found.plugins.items()),
        ["cache", found.cache],
    ]
    parts = [output.table(["what", "found"], rows)]
    verdicts = [[v.target, "ready" if v.reason is None else "no", v.reason or ""] for v in found.verdicts]
    parts.append(output.table(["target", "runs here", "why not"], verdicts))
    parts += [f"wrong: {problem}" for problem in found.problems]
    lacking = {
        v.install: v.target for v in reversed(found.verdicts) if v.reason and v.install and not _elsewhere(v.reason)
    }
    if len(found.verdicts) > 1 and lacking:
        parts.append("\n".join(["to install:", *(f"  {name}: {how}" for how, name in reversed(lacking.items()))]))
    return "\n\n".join(parts)


def _plugin(data: object) -> str:
    assert isinstance(data, dict)
    devices = ", ".join(f"{d['type']} {d['name']}".strip() for d in data["devices"])
    return f"{data['provider']}: {data['wrong'] or 'loads'}" + (f" ({devices})" if devices else "")


def _elsewhere(reason: str) -> bool:
    """Whether nothing that can be installed would help."""
    return reason.startswith("it is for ")
