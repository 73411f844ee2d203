"""One target's model: passed, measured and recorded, ready to be written."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from string import Template
from typing import Any

import onnx

from edgekit import metadata
from edgekit.errors import GateMissed
from edgekit.manifest import Interface
from edgekit.packaging import golden as goldens
from edgekit.packaging import guard, pipeline
from edgekit.packaging.accuracy import Budget, opened
from edgekit.packaging.check import Coverage
from edgekit.packaging.ending import end_before_selection
from edgekit.packaging.material import Material
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.names import NameNodes
from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.passes.versions import StripImports
from edgekit.packaging.pipeline import Step
from edgekit.packaging.plan import Plan
from edgekit.packaging.quantizers.float16 import Float16
from edgekit.packaging.quantizers.int8 import Int8, Tuning
from edgekit.runtime import interface as interfaces
from edgekit.runtime import session
from edgekit.runtime.golden import Golden
from edgekit.runtime.providers import CPU
from edgekit.target import Target, operator_list

PER_CHANNEL_OPSET = 13  # below, onnxruntime writes scales per channel into a model that does not load
GUARDED = 8  # images that a quantized model is looked at on


@dataclass(frozen=True)
class Wish:
    """What is asked of every variant."""

    record: bool = True  # make golden data
    force: bool = False  # go on with a quantized model that has collapsed
    budget: Budget | None = None  # int8: how much of the score it may cost
    tuning: Tuning | None = None  # int8: look for a better recipe


@dataclass(frozen=True)
class Made:
    """A finished model, and what is known of it: the same for every target with this plan."""

    precision: str
    interface: Interface
    model: bytes
    golden: Golden | None
    history: Sequence[Step]
    collapses: Sequence[str]
    recipe: Mapping[str, Any] | None  # how it was quantized here


@dataclass(frozen=True)
class Built:
    """One target's variant."""

    target: Target
    made: Made
    model: bytes
    expected: Coverage | None  # what the provider will take; None for the CPU's, and where no list is known


def make(material: Material, plan: Plan, wish: Wish, progress: Callable[[str], None]) -> Made:
    """Carry out a plan.

    Args:
        progress: told of each step.

    Raises:
        ModelError: the source cannot be brought there; the message says which step failed.
        GateMissed: the model is quantized and its scores or boxes say nothing any more, or the budget does not hold.
    """
    history: list[Step] = []
    if plan.forbidden:
        material, history = end_before_selection(material, plan, progress)
    passes = _passes(material, plan, wish, progress)
    changed, further = pipeline.apply(passes, material.source.model, material.probe, progress)
    told = {step.name for step in history}
    history = [*history, *(step for step in further if step.changed or step.name not in told)]
    model, interface = _finish(changed, material.identified.interface)
    precision = plan.precision
    if precision == "int8" and not guard.is_quantized(changed):
        precision = "fp32"  # int8 did not pay
    collapses = _collapses(changed, interface, material)
    if not wish.force:
        guard.refuse(collapses)
    progress("golden")
    images = material.images if interface.preprocess else []
    golden = goldens.record(model, interface, images, material.probe.feeds, precision) if wish.record else None
    recipe = next((step.details["recipe"] for step in history if "recipe" in step.details), None)
    return Made(precision, interface, model, golden, history, [str(c) for c in collapses], recipe)


def build(made: Made, target: Target, *, force: bool = False) -> Built:
    """What a target's profile writes into the model, over what its plan made, and what to expect of it.

    Raises:
        GateMissed: the accelerator would do none of the work, and `force` was not given.
    """
    model = made.model
    if target.model_metadata:
        digest = hashlib.sha256(model).hexdigest()
        given = {key: Template(text).safe_substitute(sha256=digest) for key, text in target.model_metadata.items()}
        target = replace(target, model_metadata=given)
        model = _with_metadata(onnx.load_from_string(model), {**metadata.to_props(made.interface.metadata), **given})
    expected = _expected(model, target)
    if expected and expected.mac_share == 0 and not force:
        raise GateMissed(
            f"{target.provider.name} would take none of this model's multiply-accumulates, the CPU would do them all",
            hint=f"edgekit check MODEL -t {target.name} says why; --force packages it all the same",
        )
    return Built(target, made, model, expected)


def _expected(model: bytes, target: Target) -> Coverage | None:
    operators = operator_list(target) if target.provider.name != CPU else None
    if operators is None:
        return None
    return Coverage.of(NameNodes()(onnx.load_from_string(model)).model, operators, target.limits)


def _collapses(model: onnx.ModelProto, interface: Interface, material: Material) -> list[guard.Collapse]:
    """What has collapsed, in a model that is quantized, whoever did it."""
    if not guard.is_quantized(model) or interface.preprocess is None:
        return []
    feeds = islice(material.calibration, GUARDED) if material.calibration else material.probe.feeds
    return guard.find(model, opened(model, interface), feeds)


def _passes(material: Material, plan: Plan, wish: Wish, progress: Callable[[str], None]) -> list[Pass]:
    """What has to be done to the source, in order."""
    feeds = material.probe.feeds
    passes = plan.preparation(material.shapes)
    if plan.precision == "fp16":
        passes.append(Float16(feeds))
    if plan.recipe and material.calibration:
        judged = partial(opened, interface=material.identified.interface)
        passes += [NameNodes(), RaiseOpset(PER_CHANNEL_OPSET)]
        passes.append(
            Int8(
                plan.recipe,
                material.calibration,
                judged,
                progress,
                budget=wish.budget,
                tuning=wish.tuning,
                must_pay=plan.must_pay,
            )
        )
    return [*passes, StripImports()]


def _finish(model: onnx.ModelProto, interface: Interface) -> tuple[bytes, Interface]:
    """The file's bytes, its metadata inside, and the interface as the finished model declares it."""
    data = _with_metadata(model, metadata.to_props(interface.metadata))
    inputs, outputs, _ = interfaces.read(session.create(data, name="the packaged model"))
    return data, replace(interface, inputs=inputs, outputs=outputs)


def _with_metadata(model: onnx.ModelProto, props: Mapping[str, str]) -> bytes:
    """The file's bytes with these properties and no others: equal models give equal ones."""
    final = onnx.ModelProto()
    final.CopyFrom(model)
    del final.metadata_props[:]
    onnx.helper.set_model_props(final, dict(props))
    data: bytes = final.SerializeToString(deterministic=True)
    return data
