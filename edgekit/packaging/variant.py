"""One target's model: passed, measured and recorded, ready to be written."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit import metadata
from edgekit.manifest import Interface
from edgekit.packaging import golden as goldens
from edgekit.packaging import guard, pipeline, report
from edgekit.packaging.accuracy import Budget, opened
from edgekit.packaging.calibration import CalibrationData
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.freeze import FreezeShapes
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.names import NameNodes
from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.passes.versions import PinVersions, StripImports
from edgekit.packaging.probe import Probe
from edgekit.packaging.quantizers.float16 import Float16
from edgekit.packaging.quantizers.int8 import Int8, Tuning
from edgekit.packaging.recipe import Recipe
from edgekit.packaging.source import Source
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.golden import Golden
from edgekit.runtime.interface import Identified
from edgekit.runtime.model import Model
from edgekit.target import Scheme, Target

PER_CHANNEL_OPSET = 13  # below, onnxruntime writes scales per channel into a model that does not load
GUARDED = 8  # images that a quantized model is looked at on


@dataclass(frozen=True)
class Material:
    """What every variant of a package is made from."""

    source: Source
    identified: Identified
    model: Model  # the source, ready to run
    images: Sequence[NDArray[np.uint8]]  # (H, W, 3) BGR each
    images_from: str  # whose they are, for the report
    probe: Probe  # what the source gives for them
    calibration: CalibrationData | None = None  # for int8


@dataclass(frozen=True)
class Wish:
    """What is asked of every variant."""

    dynamic: bool = False  # keep free dimensions
    record: bool = True  # make golden data
    force: bool = False  # go on with a quantized model that has collapsed
    recipe: Recipe | None = None  # int8: the target's default if not given
    budget: Budget | None = None  # int8: how much of the score it may cost
    tuning: Tuning | None = None  # int8: look for a better recipe
    must_pay: bool = False  # int8: only where it is faster on this machine


@dataclass(frozen=True)
class Built:
    """A finished model, and what is known of it."""

    target: Target
    precision: str
    interface: Interface
    model: bytes
    golden: Golden | None
    report: Mapping[str, Any]
    recipe: Mapping[str, Any] | None  # how it was quantized here


def build(material: Material, target: Target, precision: str, wish: Wish, progress: Callable[[str], None]) -> Built:
    """Bring the source to what the target runs.

    Args:
        progress: told of each step.

    Raises:
        ModelError: it cannot be brought there; the message says which step failed.
        GateMissed: the model is quantized and its scores or boxes say nothing any more, or the budget does not hold.
    """
    passes = _passes(material, target, precision, wish, progress)
    changed, history = pipeline.apply(passes, material.source.model, material.probe, progress)
    model, interface = _finish(changed, material.identified.interface)
    if precision == "int8" and not guard.is_quantized(changed):
        precision = "fp32"  # int8 did not pay
    collapses = _collapses(changed, interface, material)
    if not wish.force:
        guard.refuse(collapses)
    progress("golden")
    images = material.images if interface.preprocess else []
    golden = goldens.record(model, interface, images, material.probe.feeds, precision) if wish.record else None
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
    recipe = next((step.details["recipe"] for step in history if "recipe" in step.details), None)
    return Built(target, precision, interface, model, golden, said, recipe)


def _collapses(model: onnx.ModelProto, interface: Interface, material: Material) -> list[guard.Collapse]:
    """What has collapsed, in a model that is quantized, whoever did it."""
    if not guard.is_quantized(model) or interface.preprocess is None:
        return []
    feeds = islice(material.calibration, GUARDED) if material.calibration else material.probe.feeds
    return guard.find(model, opened(model, interface), feeds)


def _passes(
    material: Material, target: Target, precision: str, wish: Wish, progress: Callable[[str], None]
) -> list[Pass]:
    """What has to be done to a model for this target, in order."""
    feeds = material.probe.feeds
    passes: list[Pass] = [SealInitializers()]
    if not wish.dynamic and feeds:
        passes.append(FreezeShapes({name: value.shape for name, value in feeds[0].items()}))
    passes.append(PinVersions(target.limits.opset_max, target.limits.ir_max))
    passes.append(Simplify())
    if precision == "fp16":
        passes.append(Float16(feeds))
    if precision == "int8" and material.calibration:
        interface = material.identified.interface
        recipe = wish.recipe or Recipe.for_scheme(target.scheme or Scheme())
        passes += [NameNodes(), RaiseOpset(PER_CHANNEL_OPSET)]
        judged = partial(opened, interface=interface)
        passes.append(
            Int8(
                recipe,
                material.calibration,
                judged,
                progress,
                budget=wish.budget,
                tuning=wish.tuning,
                must_pay=wish.must_pay and platform.machine() in target.architecture,
            )
        )
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
