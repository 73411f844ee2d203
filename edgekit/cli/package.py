"""`edgekit package`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.manifest import Interface
    from edgekit.packaging import Packaged


CPU = "CPUExecutionProvider"


@click.command("package")
@click.argument("model", type=click.Path(path_type=Path))
@options.targets_option
@click.option("-o", "--output", "destination", type=click.Path(path_type=Path), help="Folder to make.")
@options.model_options
@click.option("--dynamic", is_flag=True, help="Keep free dimensions.")
@options.precision_option
@click.option(
    "--quantizer",
    type=click.Choice(["auto", "qdq", "none"]),
    default="auto",
    show_default=True,
    help="What makes int8: qdq is onnxruntime's.",
)
@click.option("--calibration", type=click.Path(path_type=Path), help="int8: images like those of the application.")
@click.option("--calibration-count", type=click.IntRange(1), default=128, show_default=True, help="int8: how many.")
@click.option("--recipe", type=click.Path(path_type=Path), help="int8: how to quantize, a file as packages hold it.")
@click.option("--accuracy", type=click.Path(path_type=Path), help="int8: labelled images to hold --max-drop on.")
@click.option("--labels", type=click.Path(path_type=Path), help="int8: labels of --accuracy that are elsewhere.")
@click.option("--max-drop", type=click.FloatRange(0), default=0.01, show_default=True, help="int8: what it may cost.")
@click.option("--tune", is_flag=True, help="int8: look for a better recipe by timing candidates here.")
@click.option(
    "--golden",
    default="synthetic",
    show_default=True,
    metavar="PATH|none",
    help="Images to record for `verify` instead of synthetic ones.",
)
@click.option("--dry-run", is_flag=True, help="Do and measure everything, write nothing.")
@click.option("--force", is_flag=True, help="Replace the folder if it exists; package a collapsed model.")
@options.json_option
def command(
    model: Path,
    targets: tuple[str, ...],
    destination: Path | None,
    golden: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Package MODEL, an .onnx file, for a target: a folder that `edgekit run` opens on the board."""
    from edgekit.packaging import package

    with output.progress("packaging") as progress:
        packaged = package(
            model,
            targets,
            output=destination,
            golden=None if golden == "none" else golden,
            progress=progress,
            **given,
        )
    for report in packaged.reports.values():
        for guess in report["guesses"]:
            output.note(guess)
        for collapse in report["collapsed"]:
            output.warn(f"packaged because of --force, though it has collapsed: {collapse}")
    output.show(_data(packaged), as_json=as_json, text=_text(packaged))


def _data(packaged: Packaged) -> dict[str, Any]:
    return {
        "schema": "edgekit.package/1",
        "package": str(packaged.path),
        "written": packaged.written,
        "variants": [v.name for v in packaged.manifest.variants],
        "reports": dict(packaged.reports),
    }


def _text(packaged: Packaged) -> str:
    variants = packaged.manifest.variants
    if len(packaged.reports) == 1:
        parts = [_about(name, report) for name, report in packaged.reports.items()]
    else:
        parts = [_side_by_side(packaged)]
    parts += _expectations(packaged)
    parts[-1] += f"\n{_read_as(variants[-1].interface)}"
    if not packaged.written:
        return "\n\n".join([*parts, f"dry run: {packaged.path} was not written"])
    files = {(v.directory, name): record.size for v in variants for name, record in v.files.items()}
    return "\n\n".join(
        [
            *parts,
            f"{packaged.path}: {sum(files.values()) / 1e6:.1f} MB\n"
            f"next: edgekit verify {packaged.path}\n"
            f"      copy the folder to the board, then there: edgekit run {packaged.path} IMAGE",
        ]
    )


def _side_by_side(packaged: Packaged) -> str:
    """A row for each target; report.json has the steps."""
    rows = []
    for name, report in packaged.reports.items():
        variant = packaged.manifest.variant(name)
        assert variant is not None
        size = f"{sum(r.size for r in variant.files.values()) / 1e6:.1f}" if variant.files else "-"
        needed = variant.requirements
        rows.append(
            [name, variant.provider, report["precision"], needed["opset"], needed["ir"], variant.directory, size]
        )
    return output.table(["target", "provider", "precision", "opset", "IR", "folder", "MB"], rows)


def _expectations(packaged: Packaged) -> list[str]:
    """What each accelerator is expected to take."""
    lines = [
        f"{target}: {provider} {_expected(report['expected'])}"
        for target, report in packaged.reports.items()
        if (provider := _provider(packaged, target)) != CPU
    ]
    return ["\n".join([*lines, "  edgekit check says what stays on the CPU, and why"])] if lines else []


def _provider(packaged: Packaged, target: str) -> str:
    variant = packaged.manifest.variant(target)
    return variant.provider if variant else CPU


def _expected(expected: Mapping[str, Any] | str) -> str:
    if isinstance(expected, str):
        return f"takes what is not known here: {expected}"
    macs, nodes = expected["macs"]["share"], expected["nodes"]["share"]
    work = "an unknown part" if macs is None else f"{macs:.1%}"
    return (
        f"is expected to take {work} of the multiply-accumulates and {nodes:.1%} of the nodes, "
        f"in {expected['partitions']} part{'s' * (expected['partitions'] != 1)}"
    )


def _about(target: str, report: Mapping[str, Any]) -> str:
    """One variant: where it came from, and a row for each step."""
    source = report["source"]
    head = (
        f"{source['file']}: opset {source['opset']}, IR {source['ir']}, {source['nodes']} nodes, "
        f"{source['bytes'] / 1e6:.1f} MB -> {target}, {report['precision']}"
    )
    rows = [_step(step) for step in report["steps"]]
    notes = [f"  {step['name']}: {note}" for step in report["steps"] for note in step["notes"]]
    return "\n".join([head, output.table(["step", "nodes", "MB", "outputs differ by", "operators"], rows), *notes])


def _read_as(interface: Interface) -> str:
    """How the outputs and images will be read."""
    said = [f"task {interface.task}"]
    if interface.decoder:
        said.append(f"decoder {interface.decoder}")
    if p := interface.preprocess:
        said.append(f"image {p.resize} to {p.size[0]}x{p.size[1]} {p.color}")
    if names := interface.metadata.get("names"):
        said.append(f"{len(names)} classes")
    return ", ".join(said)


def _step(step: Mapping[str, Any]) -> list[str]:
    if not step["changed"]:
        return [step["name"], "-", "-", "-", "nothing to do" if not step["notes"] else "see below"]
    nodes, size = step["nodes"], step["bytes"]
    largest = max((d["max_abs"] for d in step["differences"].values()), default=0.0)
    relative = max((d["relative"] for d in step["differences"].values()), default=0.0)
    operators = ", ".join(f"{op} {a}->{b}" for op, (a, b) in step["operators"].items())
    return [
        step["name"],
        f"{nodes[0]} -> {nodes[1]}",
        f"{size[0] / 1e6:.2f} -> {size[1] / 1e6:.2f}",
        f"{largest:.2g} ({relative:.1e} of range)",
        operators if len(operators) < 60 else operators[:57] + "...",
    ]
