"""`edgekit inspect`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.manifest import Interface, TensorSpec, Variant

REPORT = "report.json"


@click.command("inspect")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--layers", is_flag=True, help="Each quantized tensor, and each layer that stayed float, with the reason."
)
@options.json_option
def command(path: Path, layers: bool, as_json: bool) -> None:
    """Say what PATH is: a model file, or a package with its variants."""
    if path.is_dir():
        data, text = _package(path)
        if layers:
            rows = _layers(path)
            data, text = {**data, "layers": rows}, f"{text}\n\n{_layer_table(rows)}"
    else:
        data, text = _model(path)
    output.show({"schema": "edgekit.inspect/1", "path": str(path), **data}, as_json=as_json, text=text)


def _package(path: Path) -> tuple[dict[str, Any], str]:
    from edgekit import manifest

    contents = manifest.read(path)
    variants = [
        {
            "name": v.name,
            "directory": v.directory,
            "provider": v.provider,
            "precision": v.precision,
            "requirements": dict(v.requirements),
            "bytes": sum(r.size for r in v.files.values()),
            "files": {name: r.size for name, r in v.files.items()},
        }
        for v in contents.variants
    ]
    interface = contents.variants[0].interface
    rows = [
        [v.name, v.provider, v.precision, v.requirements.get("opset", "?"), v.requirements.get("ir", "?"), _size(v)]
        for v in contents.variants
    ]
    text = f"{path}: model directory\n" + output.table(
        ["variant", "provider", "precision", "opset", "IR", "size"], rows
    )
    return {"kind": "package", "variants": variants, **_described(interface)}, f"{text}\n\n{_interface(interface)}"


def _layers(path: Path) -> list[dict[str, Any]]:
    """What report.json says of each layer, for the variants that were quantized here."""
    from edgekit import manifest

    rows = []
    for directory in dict.fromkeys(v.directory for v in manifest.read(path).variants):
        report = json.loads((path / directory / REPORT).read_text(encoding="utf-8"))
        for step in report["steps"]:
            rows += step.get("details", {}).get("layers", [])
    return rows


def _layer_table(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "nothing was quantized when this package was made"
    headers = ["tensor", "precision", "scale", "range", "SQNR dB", "why"]
    return output.table(headers, [[*_layer(row), row["why"]] for row in rows])


def _layer(row: Mapping[str, Any]) -> list[str]:
    span = f"{row['range'][0]:.3g} .. {row['range'][1]:.3g}" if row.get("range") else "-"
    noise = f"{row['sqnr_db']:.1f}" if row.get("sqnr_db") is not None else "-"
    return [row["tensor"], row["precision"], f"{row['scale']:.4g}" if "scale" in row else "-", span, noise]


def _size(variant: Variant) -> str:
    return f"{sum(r.size for r in variant.files.values()) / 1e6:.1f} MB"


def _model(path: Path) -> tuple[dict[str, Any], str]:
    from edgekit.errors import EdgekitError
    from edgekit.packaging import source
    from edgekit.runtime import load

    read = source.load(path)
    about = read.description
    data: dict[str, Any] = {
        "kind": "model",
        "opset": about.opset,
        "ir": about.ir,
        "producer": about.producer,
        "nodes": about.nodes,
        "operators": dict(about.operators),
        "bytes": about.bytes,
        "external_data": list(read.external),
    }
    most = sorted(about.operators.items(), key=lambda item: -item[1])
    text = (
        f"{path}: ONNX, opset {about.opset}, IR {about.ir}, {about.nodes} nodes, {about.bytes / 1e6:.1f} MB"
        f"{f', by {about.producer}' if about.producer else ''}\n"
        f"operators: {', '.join(f'{op} {n}' for op, n in most)}"
    )
    if read.external:
        text += f"\nexternal data: {', '.join(read.external)}"
    try:
        model = load(path)
    except EdgekitError as e:  # what a model is can be said even if it cannot be run here
        return {**data, "obstacle": str(e)}, f"{text}\n\n{e}{f' (try: {e.hint})' if e.hint else ''}"
    data |= {**_described(model.interface), "guesses": list(model.notices)}
    return data, "\n".join([text, "", _interface(model.interface), *model.notices])


def _described(interface: Interface) -> dict[str, Any]:
    def specs(tensors: Sequence[TensorSpec]) -> list[dict[str, Any]]:
        return [{"name": t.name, "dtype": t.dtype, "shape": list(t.shape)} for t in tensors]

    return {
        "task": interface.task,
        "decoder": interface.decoder,
        "inputs": specs(interface.inputs),
        "outputs": specs(interface.outputs),
        "preprocess": interface.preprocess.to_dict() if interface.preprocess else None,
        "names": {str(k): v for k, v in (interface.metadata.get("names") or {}).items()},
    }


def _interface(interface: Interface) -> str:
    tensors = [("input", t) for t in interface.inputs] + [("output", t) for t in interface.outputs]
    rows = [[kind, t.name, t.dtype, " x ".join(str(d) if d != -1 else "?" for d in t.shape)] for kind, t in tensors]
    names = list((interface.metadata.get("names") or {}).values())
    shown = ", ".join(names[:5]) + (f", ... ({len(names)})" if len(names) > 5 else "")
    about = f"task {interface.task}{f', decoder {interface.decoder}' if interface.decoder else ''}"
    lines = [output.table(["", "name", "dtype", "shape"], rows), "", about]
    if interface.preprocess:
        p = interface.preprocess
        lines.append(f"image: {p.resize} to {p.size[0]}x{p.size[1]}, {p.color}, {p.layout}, {p.dtype}")
    if names:
        lines.append(f"classes: {shown}")
    return "\n".join(lines)
