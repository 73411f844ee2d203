"""The model directory of finished variants: its files, and its manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx
import yaml

from edgekit import __version__, manifest
from edgekit.manifest import GENERIC, FileRecord, Manifest, Variant
from edgekit.packaging import source, writer
from edgekit.packaging.check import Coverage
from edgekit.packaging.quantizers.qdq import SESSION_OPTIONS
from edgekit.packaging.source import Description
from edgekit.packaging.variant import Built
from edgekit.runtime.golden import FILE as GOLDEN
from edgekit.runtime.providers import CPU
from edgekit.target import Target

MODEL, METADATA, REPORT, RECIPE = "model.onnx", "metadata.yaml", "report.json", "recipe.yaml"
LIST_ERROR = 0.02  # what a prediction may be off by: tests/distribution/test_openvino.py
Report = Mapping[str, Any]
Records = Mapping[str, Mapping[str, FileRecord]]  # of each directory


@dataclass(frozen=True)
class Place:
    """A directory, and the variants whose files are the same. No copy of a model is stored twice.

    Neither a link nor weights in a file beside the model would do: onnxruntime refuses a path that leads out of the
    variant's directory, and VSINPU takes nothing of a model with external data.
    """

    directory: str
    built: tuple[Built, ...]


def write(built: Sequence[Built], reports: Sequence[Report], destination: Path) -> Manifest:
    """Write the model directory, whole or not at all."""
    by_target = {one.target.name: report for one, report in zip(built, reports, strict=True)}
    with writer.staged(destination) as folder:
        records = {}
        for place in places(built):
            directory = folder / place.directory
            directory.mkdir(exist_ok=True)
            _write_files(place, [by_target[one.target.name] for one in place.built], directory)
            records[place.directory] = {
                path.name: manifest.record(path) for path in sorted(directory.iterdir()) if path.is_file()
            }
        contents = Manifest(variants(built, records))
        (folder / manifest.FILE).write_text(contents.to_json(), encoding="utf-8")
    return contents


def places(built: Sequence[Built]) -> list[Place]:
    """Where each variant's files go: the first of those with the same files gives the directory its name."""
    groups: list[list[Built]] = []
    for one in built:
        same = next((g for g in groups if _fits(one, g)), None)
        if same is None:
            groups.append([one])
        else:
            same.append(one)
    return [Place("." if len(built) == 1 else group[0].target.name, tuple(group)) for group in groups]


def _fits(one: Built, group: Sequence[Built]) -> bool:
    """Whether all its files can stand beside those of the group."""
    files = {name: content for other in group for name, content in other.target.files.items()}
    return group[0].model == one.model and all(files.get(n, c) == c for n, c in one.target.files.items())


def _write_files(place: Place, reports: Sequence[Report], directory: Path) -> None:
    first = place.built[0]
    made = first.made
    (directory / MODEL).write_bytes(first.model)
    text = yaml.safe_dump(dict(made.interface.metadata), sort_keys=False, allow_unicode=True)
    (directory / METADATA).write_text(text, encoding="utf-8")
    report = {**reports[0], "targets": {r["target"]: {"expected": r["expected"]} for r in reports}}
    (directory / REPORT).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if made.golden:
        made.golden.write(directory / GOLDEN)
    if made.recipe:
        (directory / RECIPE).write_text(yaml.safe_dump(dict(made.recipe), sort_keys=False), encoding="utf-8")
    for one in place.built:
        for name, content in one.target.files.items():
            (directory / name).write_text(content, encoding="utf-8")


def variants(built: Sequence[Built], records: Records | None = None) -> tuple[Variant, ...]:
    """A variant for each target, and `cpu` for any machine.

    `cpu` is over the first one that is made for a CPU, else over the first: every model was run on the CPU provider
    when it was made. It comes first: of two variants for one provider, onnxruntime alone takes the first.
    """
    each = [
        _variant(one, place.directory, (records or {}).get(place.directory, {}))
        for place in places(built)
        for one in place.built
    ]
    order = [one.target.name for one in built]
    each.sort(key=lambda variant: order.index(variant.name))
    return (_generic(next((v for v in each if v.provider == CPU), each[0])), *each)


def _generic(variant: Variant) -> Variant:
    """The same model on the CPU provider of any machine."""
    options = {key: value for key, value in variant.session_options.items() if key in SESSION_OPTIONS}
    return replace(
        variant,
        name=GENERIC,
        target=GENERIC,
        provider=CPU,
        device="cpu",
        architectures=(),
        provider_options={},
        plugin_module="",
        preload=(),
        built_in=None,
        weighted_nodes=0,
        least_placement=None,
        environment={},
        cache="none",
        session_options=variant.session_options if variant.provider == CPU else options,
    )


def _variant(one: Built, directory: str, files: Mapping[str, FileRecord]) -> Variant:
    target, made = one.target, one.made
    plugin = target.provider.plugin
    description = source.describe(onnx.load_from_string(one.model))
    return Variant(
        name=target.name,
        directory=directory,
        model_file=MODEL,
        target=target.name,
        provider=target.provider.name,
        precision=made.precision,
        interface=made.interface,
        device=target.device,
        architectures=target.architecture,
        provider_options=dict(target.provider.options),
        plugin_module=plugin.module if plugin else "",
        preload=plugin.preload if plugin else (),
        built_in=dict(target.provider.built_in.options) if target.provider.built_in else None,
        session_options={**target.session_options, **(SESSION_OPTIONS if made.recipe else {})},
        environment=dict(target.environment),
        cache=target.cache,
        model_metadata=dict(target.model_metadata),
        requirements=_requirements(target, description),
        files=files,
        golden=GOLDEN if made.golden else None,
        weighted_nodes=one.expected.weighted if one.expected else 0,
        least_placement=_least(one.expected),
        created_by=f"edgekit {__version__}",
    )


def _least(expected: Coverage | None) -> float | None:
    """What the board is held to: what is expected, without what a list of operators was seen to be wrong by."""
    share = expected.weighted_share if expected else None
    return None if share is None else round(max(share - LIST_ERROR, 0.0), 4)


def _requirements(target: Target, description: Description) -> dict[str, str]:
    needed = {"onnxruntime": target.onnxruntime, "opset": str(description.opset), "ir": str(description.ir)}
    return {**needed, "image": target.image} if target.image else needed
