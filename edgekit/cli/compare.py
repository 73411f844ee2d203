"""`edgekit compare`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.evaluation.comparison import Comparison, Side
    from edgekit.runtime import Model

DECIMALS = 5
ROUNDS = 40  # as in evaluation.latency, which needs numpy


@click.command("compare")
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labels that are not in DATA: a COCO .json, or a file name and a class a line.",
)
@click.option("--limit", type=click.IntRange(1), help="Compare on N images, evenly spread over DATA.", metavar="N")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Threads while latency is timed.")
@click.option("--rounds", type=click.IntRange(1), default=ROUNDS, show_default=True, help="Turns that each one has.")
@options.model_options
@options.json_option
def command(
    a: Path,
    b: Path,
    data: Path | None,
    labels: Path | None,
    limit: int | None,
    threads: int,
    rounds: int,
    as_json: bool,
    **said: Any,
) -> None:
    """Compare B with A; each is a model directory or a bare .onnx file.

    DATA is labelled images as for `edgekit evaluate`, or a folder of images without labels. Without it they are
    compared on a few synthetic images. Latency is that of inference alone, in turns: A, B, A, B. What is said of a
    model (--task, --names, ...) goes to the bare files; a package carries its own.
    """
    from edgekit.evaluation.comparison import Ground, compare
    from edgekit.runtime import load

    packages = [path.is_dir() for path in (a, b)]
    models = [
        load(path, **({} if is_package and not all(packages) else said))
        for path, is_package in zip((a, b), packages, strict=True)
    ]
    for model in models:
        output.say(model)
    ground = Ground.of(models[0], models[1], data, labels=labels, limit=limit)
    for notice in ground.notices:
        output.note(notice)
    said_of_models = [notice for m in models for notice in (*m.notices, *filter(None, [m.fallback]))]
    notices = dict.fromkeys([*said_of_models, *ground.notices])
    with output.progress("compare") as progress:
        compared = compare(
            models[0],
            models[1],
            data=ground.data,
            images=ground.images,
            threads=threads,
            rounds=rounds,
            progress=progress,
        )
    for notice in compared.notices:
        output.note(notice)
    shown = _data(compared, models, data, [*notices, *compared.notices])
    output.show(shown, as_json=as_json, text=_text(compared, models))


def _data(compared: Comparison, models: Sequence[Model], data: Path | None, notices: Sequence[str]) -> dict[str, Any]:
    latency, agreed = compared.latency, compared.agreement
    sides = [
        _side(side, model, wall, cpu)
        for side, model, wall, cpu in zip(
            (compared.a, compared.b), models, latency.wall.medians, latency.cpu.medians, strict=True
        )
    ]
    return {
        "schema": "edgekit.compare/1",
        "a": sides[0],
        "b": sides[1],
        "data": str(data) if data else None,
        "images": compared.images,
        "metrics_difference": _rounded(compared.metrics_difference),
        "agreement": {"score": round(agreed.score, DECIMALS), **(_rounded(agreed.terms) or {})} if agreed else None,
        # NaN against a number is infinite, which JSON does not have
        "outputs": {
            name: {key: value if math.isfinite(value) else None for key, value in found.to_dict().items()}
            for name, found in compared.outputs.items()
        },
        "latency": {
            "ratio": round(latency.wall.ratio, DECIMALS),
            "spread": round(latency.wall.spread, DECIMALS),
            "cpu_ratio": round(latency.cpu.ratio, DECIMALS),
            "cpu_spread": round(latency.cpu.spread, DECIMALS),
            "rounds": latency.rounds,
            "threads": latency.threads,
        },
        "notices": list(notices),
    }


def _side(side: Side, model: Model, wall_ms: float, cpu_ms: float) -> dict[str, Any]:
    return {
        "path": str(model.path),
        "target": model.variant.name if model.variant else None,
        "precision": model.variant.precision if model.variant else None,
        "bytes": side.bytes,
        "metrics": _rounded(side.metrics),
        "latency_ms": round(wall_ms, 3),
        "cpu_ms": round(cpu_ms, 3),
    }


def _rounded(values: Mapping[str, float | None] | None) -> dict[str, float | None] | None:
    if values is None:
        return None
    return {name: None if value is None else round(value, DECIMALS) for name, value in values.items()}


def _text(compared: Comparison, models: Sequence[Model]) -> str:
    a, b, latency = compared.a, compared.b, compared.latency
    heads = [f"{letter}: {_named(model)}" for letter, model in zip("AB", models, strict=True)]
    more = compared.metrics_difference or {}
    rows = [
        [name, f"{value:.4f}", f"{value + more[name]:.4f}", f"{more[name]:+.4f}"]
        for name, value in (a.metrics or {}).items()
    ]
    rows.append(["size", f"{a.bytes / 1e6:.2f} MB", f"{b.bytes / 1e6:.2f} MB", f"x {b.bytes / a.bytes:.2f}"])
    for name, turns in (("latency", latency.wall), ("processor time", latency.cpu)):
        row = [f"{ms:.2f} ms" for ms in turns.medians]
        rows.append([name, *row, f"x {turns.ratio:.2f} (spread {turns.spread:.2f})"])
    parts = ["\n".join(heads), output.table(["", "A", "B", "B against A"], rows)]
    if compared.agreement:
        said = ", ".join(f"{k} {v:.3f}" for k, v in compared.agreement.terms.items() if v is not None)
        parts.append(f"agreement on {compared.agreement.images} images: {said}")
    if compared.outputs:
        found = [[name, f"{d.max_abs:.3g}", f"{d.relative:.2%}"] for name, d in compared.outputs.items()]
        parts.append(output.table(["output", "largest difference", "of A's range"], found))
    parts.append(f"latency: median of {latency.rounds} turns each, threads {latency.threads}")
    return "\n\n".join(parts)


def _named(model: Model) -> str:
    return (
        f"{model.path}, variant {model.variant.name}, {model.variant.precision}" if model.variant else str(model.path)
    )
