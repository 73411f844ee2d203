"""`edgekit run`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from edgekit.cli import options, output
from edgekit.errors import UsageError

if TYPE_CHECKING:
    from edgekit.runtime import Model, Result

FORMATS = ("table", "json", "jsonl", "coco")


@click.command("run")
@options.package_argument
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@options.target_option
@options.device_option
@options.provider_options
@click.option(
    "--engine",
    type=click.Choice(["onnxruntime", "opencv"]),
    default="onnxruntime",
    show_default=True,
    help="What runs the model of a package; opencv needs no onnxruntime.",
)
@click.option(
    "--require-accelerator", is_flag=True, help="Fail where the CPU runs what an accelerator should (exit 5 or 3)."
)
@options.frozen_option
@options.conf_option
@options.iou_option
@options.max_det_option
@click.option("--class-agnostic", is_flag=True, help="NMS across classes.")
@click.option("--save", type=click.Path(path_type=Path), help="Folder for annotated pictures, class maps and depths.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
@options.model_options
@options.json_option
def command(
    package: Path,
    sources: tuple[str, ...],
    target: str | None,
    device: str,
    providers: list[tuple[str, dict[str, str]]] | None,
    engine: Literal["onnxruntime", "opencv"],
    require_accelerator: bool,
    frozen: bool,
    conf: float | None,
    iou: float | None,
    max_det: int | None,
    class_agnostic: bool,
    save: Path | None,
    form: str,
    as_json: bool,
    **said: Any,
) -> None:
    """Run PACKAGE, a model directory or a bare .onnx file, on images.

    SOURCE is an image, a folder, a pattern such as 'photos/*.jpg', an .npy array, or - for an image on standard input.
    """
    from edgekit.runtime import load
    from edgekit.runtime.image import writable
    from edgekit.runtime.sources import expand

    if save:
        writable(save)
    form = "json" if as_json else form
    fallback: Literal["warn", "error"] = "error" if require_accelerator else "warn"
    where: dict[str, Any] = {"target": target, "device": device, "providers": providers, "engine": engine}
    model = load(package, **where, fallback=fallback, frozen=frozen, **said)
    output.say(model)
    if require_accelerator:
        model.require_accelerator()
    images = expand(sources)
    unread: list[UsageError] = []
    results = model.stream(
        images,
        skip=unread.append if len(images) > 1 else None,  # one bad image must not cost the others
        conf=conf,
        iou=iou,
        max_detections=max_det,
        class_agnostic=class_agnostic or None,
    )
    _show(_saved(results, save), model, package, form)
    for error in unread:
        output.warn(str(error))
    if unread:
        raise UsageError(f"{len(unread)} of {len(images)} images could not be read")


def _saved(results: Iterator[Result], folder: Path | None) -> Iterator[Result]:
    """Write each annotated picture as it comes."""
    taken: set[str] = set()
    for result in results:
        if folder:
            path = folder / _file_name(result.source, taken)
            result.save(path)
            output.note(f"saved {path}")
            if (beside := result.save_map(path)) is not None:
                output.note(f"saved {beside}")
        yield result


def _file_name(source: str, taken: set[str]) -> str:
    """A name for the picture that no other one of this run has."""
    stem = Path(source).stem if source != "-" else "stdin"
    name, count = f"{stem}.jpg", 1
    while name in taken:
        count += 1
        name = f"{stem}-{count}.jpg"
    taken.add(name)
    return name


def _show(results: Iterator[Result], model: Model, package: Path, form: str) -> None:
    if form == "jsonl":
        for result in results:
            output.line(json.dumps(result.to_dict(), ensure_ascii=False))
    elif form == "table":
        for result in results:
            output.line(_table(result))
    elif form == "coco":
        from edgekit.runtime.result import to_coco

        output.line(json.dumps(to_coco(results), ensure_ascii=False))
    else:
        output.show(_data(results, model, package), as_json=True, text="")


def _data(results: Iterator[Result], model: Model, package: Path) -> dict[str, Any]:
    return {
        "schema": "edgekit.run/1",
        "package": str(package),
        "target": model.variant.name if model.variant else None,
        "provider": model.provider,
        "fallback": model.fallback,
        "placement": placement.to_dict(model.provider) if (placement := model.placement) else None,
        "cache": model.cache.to_dict() if model.cache else None,
        "notices": list(model.notices),
        "results": [result.to_dict() for result in results],
    }


def _table(result: Result) -> str:
    """One image: a line that sums it up, then a row for each object."""
    speed = ", ".join(f"{stage} {ms:.1f}" for stage, ms in result.speed.items())
    head = f"{result.source}: {result.summary()} (ms: {speed})"
    if result.boxes is not None and len(result.boxes):
        data = result.to_dict()["detections"]
        rows = [[d["class_name"], f"{d['score']:.3f}", *(f"{v:.0f}" for v in d["box"])] for d in data]
        more = _columns(result)
        rows = [[*row, *(column[i] for column in more.values())] for i, row in enumerate(rows)]
        return f"{head}\n{output.table(['class', 'score', 'x1', 'y1', 'x2', 'y2', *more], rows)}"
    if result.probs is not None:
        rows = [[c["class_name"], f"{c['score']:.3f}"] for c in result.to_dict()["classes"]]
        return f"{head}\n{output.table(['class', 'score'], rows)}"
    if result.classes is not None:
        rows = [[c["class_name"], f"{c['share']:.1%}"] for c in result.to_dict()["classes"]]
        return f"{head}\n{output.table(['class', 'share'], rows)}"
    if result.outputs is not None:
        rows = [[name, str(a.dtype), str(list(a.shape))] for name, a in result.outputs.items()]
        return f"{head}\n{output.table(['output', 'dtype', 'shape'], rows)}"
    return head


def _columns(result: Result) -> dict[str, list[str]]:
    """What the task adds to each object, by column."""
    if result.masks is not None:
        return {"mask px": [str(crop.area) for crop in result.masks.crops]}
    if result.obb is not None:
        sides = zip(("width", "height"), result.obb.xywhr[:, 2:4].T, strict=True)
        degrees = [f"{math.degrees(angle):.0f}" for angle in result.obb.xywhr[:, 4]]
        return {**{name: [f"{v:.0f}" for v in side] for name, side in sides}, "degrees": degrees}
    if result.keypoints is not None:
        from edgekit.runtime.drawing.keypoints import SEEN

        conf, count = result.keypoints.conf, result.keypoints.xy.shape[1]
        seen = [count] * len(result.keypoints) if conf is None else (conf >= SEEN).sum(axis=1)
        return {"points": [f"{n} of {count}" for n in seen]}
    return {}
