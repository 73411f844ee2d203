"""From a model file to a model directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgekit import target as profiles
from edgekit.errors import UsageError
from edgekit.evaluation import open_dataset
from edgekit.evaluation.datasets import NoLabels
from edgekit.manifest import Manifest
from edgekit.packaging import directory, report, source, writer
from edgekit.packaging import golden as goldens
from edgekit.packaging import precision as precisions
from edgekit.packaging.accuracy import Budget, ByAgreement, ByLabels, Judge
from edgekit.packaging.calibration import CalibrationData
from edgekit.packaging.calibration.data import COUNT
from edgekit.packaging.material import Material
from edgekit.packaging.plan import Plan
from edgekit.packaging.quantizers.int8 import Tuning
from edgekit.packaging.recipe import Recipe
from edgekit.packaging.variant import Made, Wish, build, make
from edgekit.preprocessing import Preprocess
from edgekit.runtime.hints import Hints
from edgekit.runtime.sources import expand
from edgekit.target import Target

SYNTHETIC = "synthetic"
STEPS_OF_A_VARIANT = 7  # six passes at the most, and golden data: what a progress bar counts to
Progress = Callable[[str, int, int], None]
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Packaged:
    """What packaging made, or would have made."""

    path: Path
    manifest: Manifest
    reports: Mapping[str, Mapping[str, Any]]  # by target
    written: bool


def package(
    model: str | Path,
    targets: Sequence[str],
    *,
    output: str | Path | None = None,
    task: str | None = None,
    decoder: str | None = None,
    imgsz: int | tuple[int, int] | None = None,
    dynamic: bool = False,
    names: str | Path | Mapping[int, str] | list[str] | None = None,
    preprocess: str | Path | Preprocess | None = None,
    precision: str = "auto",
    quantizer: str = "auto",
    calibration: str | Path | None = None,
    calibration_count: int = COUNT,
    recipe: str | Path | Recipe | None = None,
    accuracy: str | Path | None = None,
    labels: str | Path | None = None,
    max_drop: float = 0.01,
    tune: bool = False,
    golden: str | Path | None = SYNTHETIC,
    dry_run: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> Packaged:
    """Package a model for one or more targets.

    Args:
        model: an .onnx file; its external data beside it.
        targets: names of profiles, or paths of profile files.
        output: the folder to make; `<model>-<target>`, or `<model>-edgekit` for several targets, if not given.
        task, decoder: how the outputs are read; found out if not given.
        imgsz: side, or (height, width), of an input whose size is free.
        dynamic: keep free dimensions.
        names: class names, or a text or YAML file of them.
        preprocess: a preset, a YAML file, or the data itself; the decoder's preset if not given.
        precision: fp32, fp16, int8, or auto: int8 where calibration images are given and it is faster here, else the
            target's default.
        quantizer: qdq (onnxruntime's) makes int8 where precision is auto, none makes none; auto leaves it to precision.
        calibration: int8: images to find ranges on, like those of the application.
        calibration_count: how many of them.
        recipe: int8: a recipe, or a file of one, instead of the target's default.
        accuracy: int8: labelled images (as for `edgekit evaluate`), or plain ones, to hold `max_drop` on.
        labels: of the images in `accuracy`, where they are elsewhere.
        max_drop: how much of the score int8 may cost, once `accuracy` is given.
        tune: int8: look for a better recipe by timing candidates on this machine.
        golden: "synthetic", a file or folder of images to record instead, or None to record nothing.
        dry_run: do and measure everything, write nothing.
        force: replace what is at `output`; go on with a quantized model that has collapsed, or with one that an
            accelerator takes nothing of.
        progress: called with (step, done, total).

    Raises:
        UsageError, TargetError: an argument is wrong; nothing was written.
        ModelError: the model cannot be read, decoded or converted.
        GateMissed: int8 costs more than it may, or has collapsed; or an accelerator would do none of the work.
    """
    path = Path(model)
    precision = precisions.with_quantizer(precision, quantizer)
    chosen = _distinct([profiles.load(name) for name in targets])
    destination = Path(output) if output else _destination(path, chosen)
    if not dry_run:
        writer.check_destination(destination, force=force)
    hints = Hints.of(task=task, decoder=decoder, imgsz=imgsz, names=names, preprocess=preprocess)
    images = _images(golden)
    step = _counted(progress, total=3 + STEPS_OF_A_VARIANT * len(chosen))

    step("read")
    original = source.load(path)
    wanted_recipe = _recipe(recipe)
    asked = precisions.Asked(precision, calibrated=calibration is not None)
    decided = [precisions.choose(target, asked, original) for target in chosen]
    chosen = [target.in_precision(each) for target, each in zip(chosen, decided, strict=True)]
    plans = [
        Plan.of(target, each, original, dynamic=dynamic, recipe=wanted_recipe, must_pay=precision == precisions.AUTO)
        for target, each in zip(chosen, decided, strict=True)
    ]
    step("probe")
    images_from = "synthetic images" if golden in (SYNTHETIC, None) else "the images given by --golden"
    material = Material.of(original, hints, images, images_from)
    wish = Wish(record=golden is not None, force=force)
    if any(plan.recipe for plan in plans):
        data = CalibrationData.open(calibration, material.model, count=calibration_count)
        judge = _judge(accuracy or calibration, material, labels) if accuracy or tune else None
        if judge and accuracy and (shared := data.overlap(judge.paths)):
            said = f"{shared} of the images that accuracy is measured on were calibrated on: the score flatters"
            data = replace(data, notices=(*data.notices, said))
        material = replace(material, calibration=data)
        wish = _judged(wish, judge, max_drop, report=accuracy is not None, tune=tune)
    made: dict[Plan, Made] = {}
    for plan in plans:
        if plan not in made:
            made[plan] = make(material, plan, wish, step)
    built = [build(made[plan], target, force=force) for plan, target in zip(plans, chosen, strict=True)]
    reports = [report.compose(material, one) for one in built]
    step("write")
    contents = Manifest(directory.variants(built)) if dry_run else directory.write(built, reports, destination)
    by_target = {one.target.name: said for one, said in zip(built, reports, strict=True)}
    return Packaged(destination, contents, by_target, written=not dry_run)


def _distinct(targets: Sequence[Target]) -> list[Target]:
    """Each target once.

    Raises:
        UsageError: one is asked for with two images: a package has one variant for a target.
    """
    chosen: dict[str, Target] = {}
    for target in targets:
        other = chosen.setdefault(target.name, target)
        if other.image != target.image:
            raise UsageError(
                f"{target.name} is asked for as {_pin(other)} and as {_pin(target)}: a package holds one of them",
                hint="make two packages",
            )
    return list(chosen.values())


def _pin(target: Target) -> str:
    return f"{target.name}@{target.image}" if target.image else target.name


def _counted(progress: Progress | None, total: int) -> Callable[[str], None]:
    """Number the steps for whoever shows progress."""
    done = 0

    def step(label: str) -> None:
        nonlocal done
        done += 1
        if progress:
            progress(label, min(done, total), total)

    return step


def _recipe(given: str | Path | Recipe | None) -> Recipe | None:
    return given if isinstance(given, Recipe) or given is None else Recipe.read(Path(given))


def _judged(wish: Wish, judge: Judge | None, max_drop: float, *, report: bool, tune: bool) -> Wish:
    """The wish with its judges. Tuning chooses on every other image; what is reported comes from the rest."""
    if judge is None:
        return wish
    choosing, reporting = judge.halves() if tune else (judge, judge)
    return replace(
        wish,
        budget=Budget(reporting, max_drop) if report else None,
        tuning=Tuning(choosing, max_drop) if tune else None,
    )


def _judge(path: str | Path | None, material: Material, labels: str | Path | None) -> Judge:
    """Labels where the data has them, else agreement with the float model on its images.

    Raises:
        UsageError: there is nothing to judge by, or the labels are faulty.
    """
    if path is None:
        raise UsageError("--tune needs images to judge candidates by", hint="--accuracy DATA, or --calibration PATH")
    task = material.identified.interface.task
    try:
        return ByLabels(open_dataset(Path(path), task=task, names=material.model.names, labels=labels))
    except NoLabels:
        return ByAgreement(material.model, [source.path for source in expand([path]) if source.path])


def _destination(model: Path, targets: Sequence[Target]) -> Path:
    return Path(f"{model.stem}-{targets[0].name if len(targets) == 1 else 'edgekit'}")


def _images(golden: str | Path | None) -> list[Image]:
    """What the model is run on while it is packaged, and what is recorded."""
    if golden is None or golden == SYNTHETIC:
        return goldens.synthetic_images()
    return goldens.images_from(Path(golden))
