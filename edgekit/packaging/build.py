"""From a model file to a model directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import yaml
from numpy.typing import NDArray

from edgekit import __version__, manifest, metadata
from edgekit import target as profiles
from edgekit.errors import UsageError
from edgekit.manifest import GENERIC, FileRecord, Interface, Manifest, Variant
from edgekit.packaging import golden as goldens
from edgekit.packaging import pipeline, report, source, writer
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.freeze import FreezeShapes
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.passes.versions import PinVersions, StripImports
from edgekit.packaging.probe import Feed, Probe, feeds_for
from edgekit.packaging.quantizers.float16 import Float16
from edgekit.packaging.source import Source
from edgekit.preprocessing import Preprocess
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.golden import FILE as GOLDEN
from edgekit.runtime.golden import Golden
from edgekit.runtime.hints import Hints
from edgekit.runtime.interface import Identified
from edgekit.runtime.model import Model
from edgekit.runtime.providers import CPU
from edgekit.target import Target

MODEL, METADATA, REPORT = "model.onnx", "metadata.yaml", "report.json"
SYNTHETIC = "synthetic"
PRECISIONS = ("fp32", "fp16")
Progress = Callable[[str, int, int], None]
Image = NDArray[np.uint8]


@dataclass(frozen=True)
class Packaged:
    """What packaging made, or would have made."""

    path: Path
    manifest: Manifest
    reports: Mapping[str, Mapping[str, Any]]  # by target
    written: bool


@dataclass(frozen=True)
class _Built:
    """One target's files, by name, and what the manifest says of them."""

    target: Target
    precision: str
    interface: Interface
    model: bytes
    golden: Golden | None
    report: Mapping[str, Any]


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
        precision: auto (the target's default), fp32 or fp16.
        golden: "synthetic", a file or folder of images to record instead, or None to record nothing.
        dry_run: do and measure everything, write nothing.
        force: replace what is at `output`.
        progress: called with (step, done, total).

    Raises:
        UsageError, TargetError: an argument is wrong; nothing was written.
        ModelError: the model cannot be read, decoded or converted.
    """
    path = Path(model)
    chosen = [profiles.load(name) for name in dict.fromkeys(targets)]
    precisions = [_precision(target, precision) for target in chosen]
    destination = Path(output) if output else _destination(path, chosen)
    if not dry_run:
        writer.check_destination(destination, force=force)
    hints = Hints.of(task=task, decoder=decoder, imgsz=imgsz, names=names, preprocess=preprocess)
    images = _images(golden)
    steps = _Steps(progress, total=3 + len(chosen) * (len(_passes(chosen[0], "fp16", (), dynamic=False)) + 1))

    steps("read")
    original = source.load(path)
    identified, feeds = _identify(original, hints, images)
    steps("probe")
    probe = Probe.of(original.model, feeds)
    built = []
    for target, wanted in zip(chosen, precisions, strict=True):
        passes = _passes(target, wanted, feeds, dynamic=dynamic)
        changed, history = pipeline.apply(passes, original.model, probe, steps)
        data, interface = _finish(changed, identified.interface)
        steps("golden")
        recorded = None
        if golden is not None:
            recorded = goldens.record(data, interface, images if interface.preprocess else [], feeds, wanted)
        said = report.compose(
            original,
            target=target.name,
            precision=wanted,
            guesses=identified.guesses,
            probed_on="synthetic images" if golden in (SYNTHETIC, None) else "the images given by --golden",
            history=history,
            golden=recorded,
        )
        built.append(_Built(target, wanted, interface, data, recorded, said))
    steps("write")
    contents = Manifest(_variants(built)) if dry_run else _write(built, destination)
    return Packaged(destination, contents, {b.target.name: b.report for b in built}, written=not dry_run)


class _Steps:
    """Counts the steps for whoever shows progress."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress, self._total, self._done = progress, total, 0

    def __call__(self, label: str) -> None:
        self._done += 1
        if self._progress:
            self._progress(label, min(self._done, self._total), self._total)


def _precision(target: Target, wanted: str) -> str:
    """The precision to build, held against what the target runs and what this version makes.

    Raises:
        UsageError: the target does not run it, or it cannot be made yet.
    """
    precision = target.precision.default if wanted == "auto" else wanted
    if precision not in target.precision.allowed:
        raise UsageError(f"{target.name} does not run {precision}, it runs {', '.join(target.precision.allowed)}")
    if precision not in PRECISIONS:
        raise UsageError(f"this edgekit makes {' and '.join(PRECISIONS)} packages, not {precision} ones")
    return precision


def _destination(model: Path, targets: Sequence[Target]) -> Path:
    return Path(f"{model.stem}-{targets[0].name if len(targets) == 1 else 'edgekit'}")


def _images(golden: str | Path | None) -> list[Image]:
    """What the model is run on while it is packaged, and what is recorded."""
    if golden is None or golden == SYNTHETIC:
        return goldens.synthetic_images()
    return goldens.images_from(Path(golden))


def _identify(original: Source, hints: Hints, images: Sequence[Image]) -> tuple[Identified, list[Feed]]:
    """The model's interface, and the inputs for these images. The session is gone once they are known."""
    opened = session.create(original.model.SerializeToString(), name=str(original.path))
    identified = interfaces.identify(opened, hints)
    feeds = feeds_for(Model(opened, identified.interface, path=original.path), images, goldens.SEED)
    return identified, feeds


def _passes(target: Target, precision: str, feeds: Sequence[Feed], *, dynamic: bool) -> list[Pass]:
    """What has to be done to a model for this target, in order."""
    passes: list[Pass] = [SealInitializers()]
    if not dynamic and feeds:
        passes.append(FreezeShapes({name: value.shape for name, value in feeds[0].items()}))
    passes.append(PinVersions(target.limits.opset_max, target.limits.ir_max))
    passes.append(Simplify())
    if precision == "fp16":
        passes.append(Float16(feeds))
    passes.append(StripImports())
    return passes


def _finish(model: onnx.ModelProto, interface: Interface) -> tuple[bytes, Interface]:
    """The file's bytes, its metadata inside, and the interface as the finished model declares it."""
    final = onnx.ModelProto()
    final.CopyFrom(model)
    del final.metadata_props[:]
    onnx.helper.set_model_props(final, metadata.to_props(interface.metadata))
    data = final.SerializeToString(deterministic=True)
    inputs, outputs, _ = interfaces.read(session.create(data, name="the packaged model"))
    return data, replace(interface, inputs=inputs, outputs=outputs)


def _write(built: Sequence[_Built], destination: Path) -> Manifest:
    """Write the model directory, whole or not at all."""
    with writer.staged(destination) as folder:
        records = {}
        for one in built:
            directory = folder / _directory(one, built)
            directory.mkdir(exist_ok=True)
            _write_files(one, directory)
            records[one.target.name] = {p.name: manifest.record(p) for p in sorted(directory.iterdir()) if p.is_file()}
        contents = Manifest(_variants(built, records))
        (folder / manifest.FILE).write_text(contents.to_json(), encoding="utf-8")
    return contents


def _write_files(one: _Built, directory: Path) -> None:
    (directory / MODEL).write_bytes(one.model)
    text = yaml.safe_dump(dict(one.interface.metadata), sort_keys=False, allow_unicode=True)
    (directory / METADATA).write_text(text, encoding="utf-8")
    (directory / REPORT).write_text(json.dumps(one.report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if one.golden:
        one.golden.write(directory / GOLDEN)


def _directory(one: _Built, built: Sequence[_Built]) -> str:
    return "." if len(built) == 1 else one.target.name


def _variants(
    built: Sequence[_Built], records: Mapping[str, Mapping[str, FileRecord]] | None = None
) -> tuple[Variant, ...]:
    """A variant for each target, and `cpu` over the first whose model runs on the CPU provider.

    `cpu` comes first: of two variants for one provider, onnxruntime alone takes the first.
    """
    variants = [_variant(one, _directory(one, built), (records or {}).get(one.target.name, {})) for one in built]
    generic = next((v for v in variants if v.provider == CPU), None)
    if generic is None:
        return tuple(variants)
    return (replace(generic, name=GENERIC, target=GENERIC, architectures=()), *variants)


def _variant(one: _Built, directory: str, files: Mapping[str, FileRecord]) -> Variant:
    target = one.target
    description = source.describe(onnx.load_from_string(one.model))
    return Variant(
        name=target.name,
        directory=directory,
        model_file=MODEL,
        target=target.name,
        provider=target.provider.name,
        precision=one.precision,
        interface=one.interface,
        device=target.device,
        architectures=target.architecture,
        provider_options=dict(target.provider.options),
        session_options=dict(target.session_options),
        environment=dict(target.environment),
        cache=target.cache,
        requirements={
            "onnxruntime": target.onnxruntime,
            "opset": str(description.opset),
            "ir": str(description.ir),
        },
        files=files,
        golden=GOLDEN if one.golden else None,
        created_by=f"edgekit {__version__}",
    )
