"""One target's model: passed, measured and recorded, ready to be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit import metadata
from edgekit.manifest import Interface
from edgekit.packaging import golden as goldens
from edgekit.packaging import guard, pipeline, report
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.freeze import FreezeShapes
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.passes.versions import PinVersions, StripImports
from edgekit.packaging.probe import Feed, Probe
from edgekit.packaging.quantizers.float16 import Float16
from edgekit.packaging.source import Source
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.golden import Golden
from edgekit.runtime.interface import Identified
from edgekit.runtime.model import Model
from edgekit.target import Target


@dataclass(frozen=True)
class Material:
    """What every variant of a package is made from."""

    source: Source
    identified: Identified
    images: Sequence[NDArray[np.uint8]]  # (H, W, 3) BGR each
    images_from: str  # whose they are, for the report
    probe: Probe  # what the source gives for them


@dataclass(frozen=True)
class Built:
    """A finished model, and what is known of it."""

    target: Target
    precision: str
    interface: Interface
    model: bytes
    golden: Golden | None
    report: Mapping[str, Any]


def build(
    material: Material,
    target: Target,
    precision: str,
    *,
    dynamic: bool,
    record: bool,
    force: bool,
    progress: Callable[[str], None],
) -> Built:
    """Bring the source to what the target runs.

    Args:
        dynamic: keep free dimensions.
        record: make golden data.
        force: go on with a quantized model that has collapsed.
        progress: told of each step.

    Raises:
        ModelError: it cannot be brought there; the message says which step failed.
        GateMissed: the model is quantized, and its scores or boxes say nothing any more.
    """
    passes = _passes(target, precision, material.probe.feeds, dynamic=dynamic)
    changed, history = pipeline.apply(passes, material.source.model, material.probe, progress)
    model, interface = _finish(changed, material.identified.interface)
    collapses = _collapses(changed, model, interface, material.images)
    if not force:
        guard.refuse(collapses)
    progress("golden")
    images = material.images if interface.preprocess else []
    golden = goldens.record(model, interface, images, material.probe.feeds, precision) if record else None
    said = report.compose(
        material.source,
        target=target.name,
        precision=precision,
        guesses=material.identified.guesses,
        probed_on=material.images_from,
        history=history,
        collapses=[str(c) for c in collapses],
        golden=golden,
    )
    return Built(target, precision, interface, model, golden, said)


def _collapses(
    graph: onnx.ModelProto, model: bytes, interface: Interface, images: Sequence[NDArray[np.uint8]]
) -> list[guard.Collapse]:
    """What has collapsed, in a model that is quantized, whoever did it."""
    if not guard.is_quantized(graph) or interface.preprocess is None:
        return []
    opened = Model(session.create(model, name="the packaged model"), interface, path=Path("the packaged model"))
    return guard.find(graph, opened, images)


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
