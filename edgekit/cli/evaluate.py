"""`edgekit evaluate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from edgekit.cli import options, output

if TYPE_CHECKING:
    from edgekit.evaluation import Evaluation
    from edgekit.evaluation.metric import ClassScore
    from edgekit.runtime import Model

DECIMALS = 5


@click.command("evaluate")
@options.package_argument
@click.argument("data", type=click.Path(exists=True, path_type=Path))
@options.target_option
@options.conf_option
@options.iou_option
@options.max_det_option
@click.option("--limit", type=click.IntRange(1), help="Measure N images, evenly spread over DATA.", metavar="N")
@click.option(
    "--labels",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labels that are not in DATA: a COCO .json, or a file name and a class a line.",
)
@click.option("--per-class", is_flag=True, help="Show each class's metrics too.")
@options.model_options
@options.json_option
def command(
    package: Path,
    data: Path,
    target: str | None,
    conf: float | None,
    iou: float | None,
    max_det: int | None,
    limit: int | None,
    labels: Path | None,
    per_class: bool,
    as_json: bool,
    **said: Any,
) -> None:
    """Measure PACKAGE, a model directory or a bare .onnx file, on labelled images.

    DATA for detect: a folder with YOLO labels, a data.yaml, a list of images (.txt), or a COCO .json. Confidence is
    0.001, IoU 0.7 and detections 300 unless said. DATA for classify: a folder with a subfolder per class, or with a
    labels.txt or labels.csv that gives each file its class.
    """
    from edgekit.evaluation import evaluate, open_dataset
    from edgekit.runtime import load

    # what is measured must be what was asked for
    model = load(package, target=target, fallback="error" if target else "warn", **said)
    output.say(model)
    dataset = open_dataset(data, task=model.interface.task, names=model.names, labels=labels)
    for notice in dataset.notices:
        output.note(notice)
    notices = (*model.notices, *filter(None, [model.fallback]), *dataset.notices)
    settings: dict[str, Any] = {"conf": conf, "iou": iou, "max_det": max_det}
    settings = {name: value for name, value in settings.items() if value is not None}
    with output.progress("evaluate") as progress:
        evaluation = evaluate(model, dataset, limit=limit, progress=progress, **settings)
    shown = _data(evaluation, model, package, data, per_class, notices)
    output.show(shown, as_json=as_json, text=_text(evaluation, model, package, data, per_class))


def _data(
    evaluation: Evaluation, model: Model, package: Path, data: Path, per_class: bool, notices: Sequence[str]
) -> dict[str, Any]:
    out: dict[str, Any] = {
        "schema": "edgekit.evaluate/1",
        "package": str(package),
        "target": model.variant.name if model.variant else None,
        "data": str(data),
        "images": evaluation.images,
        "metrics": {name: round(value, DECIMALS) for name, value in evaluation.metrics.items()},
        "notices": list(notices),
    }
    if per_class:
        out["per_class"] = [
            {
                "class_id": score.class_id,
                "class_name": _name(score, model),
                "count": score.count,
                "metrics": {name: round(value, DECIMALS) for name, value in score.metrics.items()},
            }
            for score in evaluation.per_class
        ]
    return out


def _text(evaluation: Evaluation, model: Model, package: Path, data: Path, per_class: bool) -> str:
    variant = f", variant {model.variant.name}" if model.variant else ""
    head = (
        f"{package}{variant} on {data}: {evaluation.images} images, inference {evaluation.inference_ms:.1f} ms (median)"
    )
    counted = "objects" if evaluation.task == "detect" else "images"
    rows = [["all", sum(score.count for score in evaluation.per_class), *_figures(evaluation.metrics.values())]]
    if per_class:
        rows += [[_name(s, model), s.count, *_figures(s.metrics.values())] for s in evaluation.per_class]
    return f"{head}\n{output.table(['class', counted, *evaluation.metrics], rows)}"


def _figures(values: Any) -> list[str]:
    return [f"{value:.3f}" for value in values]


def _name(score: ClassScore, model: Model) -> str:
    return model.names.get(score.class_id, f"class_{score.class_id}")
