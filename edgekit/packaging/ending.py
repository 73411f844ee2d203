"""A selection inside the graph that the target cannot run: the model ends before it, and the runtime selects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice

from edgekit.packaging import cutting, pipeline
from edgekit.packaging.cutting import Cut
from edgekit.packaging.material import Material
from edgekit.packaging.pipeline import Step
from edgekit.packaging.plan import Plan
from edgekit.packaging.probe import Feed, Probe
from edgekit.packaging.source import describe
from edgekit.runtime import session
from edgekit.runtime.model import Model

NAME = "EndBeforeSelection"
COMPARED = 8  # calibration images on which both ways have to find the same


def end_before_selection(
    material: Material, plan: Plan, progress: Callable[[str], None]
) -> tuple[Material, list[Step]]:
    """The material of the model that ends before what `plan` forbids, and what was done.

    Where it cannot end there it is left as it is, and the step says why.

    Raises:
        ModelError: it would find other objects.
    """
    steps = plan.folding(material.shapes)
    folded, history = pipeline.apply(steps, material.source.model, material.probe, progress)
    progress(NAME)
    cut = cutting.cut(folded, plan.forbidden)
    if cut is None or cut.decoder is None:
        notes = cut.notes if cut else ()
        return material, [Step(NAME, False, describe(folded), describe(folded), {}, notes, {})]
    ended, agreed = _ended(material, cut)
    notes = (*cut.notes, f"{agreed} objects found as before" if agreed else "no object was found before or after")
    return ended, [*history, Step(NAME, True, describe(folded), describe(cut.model), {}, notes, {})]


def _ended(material: Material, cut: Cut) -> tuple[Material, int]:
    """The material of the cut model, and how many objects it finds as the whole one does."""
    opened = session.create(cut.model.SerializeToString(), name="the model without its selection")
    interface = cut.interface(material.identified.interface)
    model = Model(opened, interface, path=material.source.path)
    feeds = [{spec.name: feed[spec.name] for spec in interface.inputs} for feed in material.probe.feeds]
    calibration = replace(material.calibration, model=model) if material.calibration else None
    ended = replace(
        material,
        source=replace(material.source, model=cut.model),
        identified=replace(material.identified, interface=interface),
        model=model,
        probe=Probe.of(cut.model, feeds),
        calibration=calibration,
    )
    return ended, cutting.agreement(material.model, model, _compared(material))


def _compared(material: Material) -> Iterator[Feed]:
    """What both are run on: real images, where there are any, find more than synthetic ones."""
    return chain(material.probe.feeds, islice(material.calibration or (), COMPARED))
