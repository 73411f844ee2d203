"""report.json: what packaging did, step by step, and what it measured."""

from __future__ import annotations

import datetime
import os
from importlib import metadata as distributions
from typing import Any

from edgekit import __version__
from edgekit.packaging.material import Material
from edgekit.packaging.source import Description
from edgekit.packaging.variant import Built
from edgekit.runtime.golden import Golden
from edgekit.runtime.providers import CPU

SCHEMA = "edgekit.report/1"
TOOLS = ("onnx", "onnxruntime", "onnxslim", "numpy")


def compose(material: Material, built: Built) -> dict[str, Any]:
    """The report of one variant, as plain data."""
    source, made = material.source, built.made
    return {
        "schema": SCHEMA,
        "edgekit": __version__,
        "created": created(),
        "tools": {name: distributions.version(name) for name in TOOLS if _installed(name)},
        "source": {
            "file": source.path.name,
            "sha256": source.sha256,
            "external_data": list(source.external),
            **_described(source.description),
        },
        "target": built.target.name,
        "precision": made.precision,
        "guesses": list(material.identified.guesses),
        "probed_on": material.images_from,
        "steps": [step.to_dict() for step in made.history],
        "collapsed": list(made.collapses),
        "expected": _expected(built),
        "golden": _golden(made.golden) if made.golden else "none: left out by --golden none",
    }


def _expected(built: Built) -> dict[str, Any] | str:
    """What the provider will take, before there is a board to ask."""
    if built.expected:
        return {"provider": built.target.provider.name, **built.expected.to_dict()}
    on_cpu = built.target.provider.name == CPU
    return "all: the model was run on the CPU provider" if on_cpu else "unknown: no list of operators is known"


def created() -> str:
    """Now, or the moment that SOURCE_DATE_EPOCH names, so that a build can be repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    moment = (
        datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        if epoch
        else datetime.datetime.now(datetime.timezone.utc)
    )
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _described(description: Description) -> dict[str, Any]:
    return {
        "opset": description.opset,
        "ir": description.ir,
        "producer": description.producer,
        "nodes": description.nodes,
        "operators": dict(description.operators),
        "bytes": description.bytes,
    }


def _golden(golden: Golden) -> dict[str, Any]:
    tolerances: dict[str, float] = {}
    for one in golden.recorded:
        for r in one:
            tolerances[r.output] = max(tolerances.get(r.output, 0.0), r.tolerance)
    return {"inputs": len(golden.recorded), "tolerances": tolerances}


def _installed(name: str) -> bool:
    try:
        distributions.version(name)
    except distributions.PackageNotFoundError:
        return False
    return True
