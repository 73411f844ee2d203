"""The model directory of finished variants: its files, and its manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import onnx
import yaml

from edgekit import __version__, manifest
from edgekit.manifest import GENERIC, FileRecord, Manifest, Variant
from edgekit.packaging import source, writer
from edgekit.packaging.quantizers.qdq import SESSION_OPTIONS
from edgekit.packaging.variant import Built
from edgekit.runtime.golden import FILE as GOLDEN
from edgekit.runtime.providers import CPU

MODEL, METADATA, REPORT, RECIPE = "model.onnx", "metadata.yaml", "report.json", "recipe.yaml"


def write(built: Sequence[Built], destination: Path) -> Manifest:
    """Write the model directory, whole or not at all."""
    with writer.staged(destination) as folder:
        records = {}
        for one in built:
            directory = folder / _directory(one, built)
            directory.mkdir(exist_ok=True)
            _write_files(one, directory)
            records[one.target.name] = {p.name: manifest.record(p) for p in sorted(directory.iterdir()) if p.is_file()}
        contents = Manifest(variants(built, records))
        (folder / manifest.FILE).write_text(contents.to_json(), encoding="utf-8")
    return contents


def _write_files(one: Built, directory: Path) -> None:
    (directory / MODEL).write_bytes(one.model)
    text = yaml.safe_dump(dict(one.interface.metadata), sort_keys=False, allow_unicode=True)
    (directory / METADATA).write_text(text, encoding="utf-8")
    (directory / REPORT).write_text(json.dumps(one.report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if one.golden:
        one.golden.write(directory / GOLDEN)
    if one.recipe:
        (directory / RECIPE).write_text(yaml.safe_dump(dict(one.recipe), sort_keys=False), encoding="utf-8")


def _directory(one: Built, built: Sequence[Built]) -> str:
    return "." if len(built) == 1 else one.target.name


def variants(
    built: Sequence[Built], records: Mapping[str, Mapping[str, FileRecord]] | None = None
) -> tuple[Variant, ...]:
    """A variant for each target, and `cpu` over the first whose model runs on the CPU provider.

    `cpu` comes first: of two variants for one provider, onnxruntime alone takes the first.
    """
    each = [_variant(one, _directory(one, built), (records or {}).get(one.target.name, {})) for one in built]
    generic = next((v for v in each if v.provider == CPU), None)
    if generic is None:
        return tuple(each)
    return (replace(generic, name=GENERIC, target=GENERIC, architectures=()), *each)


def _variant(one: Built, directory: str, files: Mapping[str, FileRecord]) -> Variant:
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
        session_options={**target.session_options, **(SESSION_OPTIONS if one.recipe else {})},
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
