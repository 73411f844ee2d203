"""What would run where, before anything is packaged: the same steps as packaging takes, and no session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import onnx

from edgekit import target as profiles
from edgekit.errors import EdgekitError, UsageError
from edgekit.packaging import cutting, source
from edgekit.packaging import precision as precisions
from edgekit.packaging.check import rules, shapes
from edgekit.packaging.check.coverage import Coverage
from edgekit.packaging.check.finding import Finding
from edgekit.packaging.check.verdict import Verdict
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.names import NameNodes
from edgekit.packaging.plan import Plan
from edgekit.packaging.precision import AUTO, Asked
from edgekit.packaging.source import Source
from edgekit.target import OperatorList, Target


def check(
    model: str | Path,
    targets: Sequence[str],
    *,
    precision: str = AUTO,
    imgsz: int | tuple[int, int] | None = None,
) -> list[Verdict]:
    """Say for each target what it would run of a model, what blocks it, and what packaging does about it.

    The shares are those of the model as packaging prepares it, before it is quantized or made half precision: Q/DQ
    pairs and Casts are not counted.

    Args:
        model: an .onnx file; its external data beside it.
        targets: names of profiles, NAME@IMAGE, or paths of profile files.
        precision: fp32, fp16, int8, or auto: the target's default.
        imgsz: side, or (height, width), of an input whose size is free.

    Raises:
        UsageError, TargetError: an argument is wrong.
        ModelError: the model cannot be read.
    """
    chosen = [profiles.load(name) for name in targets]
    original = source.load(Path(model))
    size = (imgsz, imgsz) if isinstance(imgsz, int) else imgsz
    free = shapes.of(original.model, size)
    return [_verdict(original, free, target, precision) for target in chosen]


def _verdict(original: Source, free: shapes.Shapes, target: Target, precision: str) -> Verdict:
    asked = Asked(precision, calibrated=target.precision.default == "int8")
    try:
        chosen = precisions.choose(target, asked, original)
    except UsageError as e:
        source_ = target.sources.get("precision", "")
        refused = Finding("precision", "blocks", str(e), e.hint or "", source=source_)
        return _said(target, None, None, [*rules.find(original, free, target), refused])
    target = target.in_precision(chosen)
    findings = list(rules.find(original, free, target))
    try:
        prepared, cut = _prepared(original, free, Plan.of(target, chosen, original))
    except EdgekitError as e:
        return _said(target, chosen, None, [*findings, Finding("steps", "blocks", str(e), e.hint or "")])
    findings = [*(f for f in findings if f.kind != "selection" or cut is None), *_cut(cut, target)]
    operators = profiles.operator_list(target)
    if operators is None:
        unknown = f"which operators {target.provider.name} takes is not known"
        remedy = "the placement on the board shows it: edgekit run --json"
        return _said(target, chosen, None, [*findings, Finding("operators", "unknown", unknown, remedy)])
    coverage = Coverage.of(NameNodes()(prepared).model, operators, target.limits)
    return _said(target, chosen, coverage, [*findings, *_left(coverage, operators, target)])


def _said(target: Target, precision: str | None, coverage: Coverage | None, findings: Sequence[Finding]) -> Verdict:
    name = f"{target.name}@{target.image}" if target.image else target.name
    return Verdict(name, target.provider.name, target.device, precision, coverage, tuple(findings))


def _prepared(original: Source, free: shapes.Shapes, plan: Plan) -> tuple[onnx.ModelProto, cutting.Cut | None]:
    """The model as packaging would have it before it changes precision."""
    if not plan.forbidden:
        return _applied(plan.preparation(free.fixed), original.model), None
    folded = _applied(plan.folding(free.fixed), original.model)
    cut = cutting.cut(folded, plan.forbidden)
    return _applied(plan.preparation({}), cut.model if cut else folded), cut


def _applied(passes: Sequence[Pass], model: onnx.ModelProto) -> onnx.ModelProto:
    for step in passes:
        try:
            model = step(model).model
        except EdgekitError:
            if not step.optional:
                raise
    return model


def _cut(cut: cutting.Cut | None, target: Target) -> Iterator[Finding]:
    """What became of a selection inside the graph."""
    if cut is None:
        return
    source_ = target.sources.get("limits.forbidden_operators", "")
    if cut.decoder:
        said = f"{len(cut.removed)} nodes of NMS and the like are in the graph"
        yield Finding("selection", "changed", said, "; ".join(cut.notes), cut.removed, source_)
    if cut.left:
        why = "the graph cannot end before them" if cut.decoder else "; ".join(cut.notes)
        said = f"{len(cut.left)} node{'s' * (len(cut.left) > 1)} of NMS and the like stay in the graph: {why}"
        yield Finding("selection", "left", said, "they run on the CPU", cut.left, source_)


def _left(coverage: Coverage, operators: OperatorList, target: Target) -> Iterator[Finding]:
    """What the provider does not take, by operator and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for node in coverage.left:
        groups.setdefault((node.operator, node.why), []).append(node.name)
    for (operator, why), nodes in groups.items():
        said = f"{operator}, {len(nodes)} node{'s' * (len(nodes) > 1)}: {why}"
        condition = operators.conditions.get(operator, "")
        yield Finding("operators", "left", said, condition or "they run on the CPU", tuple(nodes), operators.source)
    if target.device != "cpu" and coverage.mac_share == 0:
        said = f"{target.provider.name} takes none of the multiply-accumulates: the CPU would do all the work"
        yield Finding("operators", "blocks", said, "choose another target, or another model", source=operators.source)
