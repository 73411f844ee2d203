"""What is done to a model for a target, as data: targets with equal plans share one model."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass

from edgekit.errors import UsageError
from edgekit.packaging import guard
from edgekit.packaging.cutting import selects
from edgekit.packaging.passes import Pass
from edgekit.packaging.passes.boundary import NarrowBoundary
from edgekit.packaging.passes.freeze import FreezeShapes
from edgekit.packaging.passes.initializers import SealInitializers
from edgekit.packaging.passes.opset import RaiseOpset
from edgekit.packaging.passes.simplify import Simplify
from edgekit.packaging.passes.versions import PinVersions
from edgekit.packaging.recipe import Recipe
from edgekit.packaging.source import Source
from edgekit.target import Scheme, Target


@dataclass(frozen=True)
class Plan:
    """The steps from the source to a target's model.

    Law: equal plans make equal models from one source.
    """

    precision: str
    opset_min: int = 1
    opset_max: int | None = None
    ir_max: int | None = None
    batch: int | None = None  # the only batch size
    dtypes: tuple[str, ...] = ()  # of inputs and outputs; empty: any
    forbidden: tuple[str, ...] = ()  # operators that the graph has to end before
    dynamic: bool = False  # keep free dimensions
    recipe: Recipe | None = None  # int8
    must_pay: bool = False  # int8: only where it is faster on this machine

    @classmethod
    def of(
        cls,
        target: Target,
        precision: str,
        source: Source,
        *,
        dynamic: bool = False,
        recipe: Recipe | None = None,
        must_pay: bool = False,
    ) -> Plan:
        """The plan for a source. A limit that it keeps to already is none, and one that is quantized stays as it is.

        Args:
            recipe: int8: instead of the target's default.
            must_pay: int8: keep float where int8 is not faster, if the target is a processor like this machine's.

        Raises:
            UsageError: free dimensions are asked for, and the target has none.
        """
        limits, found = target.limits, source.description
        if dynamic and limits.static_shapes:
            raise UsageError(f"{target.name} runs fixed shapes only", hint="leave --dynamic out")
        quantizes = precision == "int8" and not guard.is_quantized(source.model)
        here = target.device == "cpu" and platform.machine() in target.architecture
        return cls(
            precision=precision,
            opset_min=limits.opset_min if limits.opset_min and found.opset < limits.opset_min else 1,
            opset_max=limits.opset_max if limits.opset_max and found.opset > limits.opset_max else None,
            ir_max=limits.ir_max,
            batch=limits.batch,
            dtypes=limits.dtypes,
            forbidden=limits.forbidden_operators if selects(source.model, limits.forbidden_operators) else (),
            dynamic=dynamic,
            recipe=(recipe or Recipe.for_scheme(target.scheme or Scheme())) if quantizes else None,
            must_pay=must_pay and here,
        )

    def folding(self, shapes: Mapping[str, tuple[int, ...]]) -> list[Pass]:
        """The passes in front of ending the graph earlier: shapes inside can be told only once constants are folded."""
        return [SealInitializers(), FreezeShapes(shapes, self.batch), Simplify()]

    def preparation(self, shapes: Mapping[str, tuple[int, ...]]) -> list[Pass]:
        """The passes that every precision begins with, in order.

        Args:
            shapes: what free inputs are fixed at.
        """
        passes: list[Pass] = [SealInitializers()]
        if not self.dynamic:
            passes.append(FreezeShapes(shapes, self.batch))
        if self.opset_min > 1:
            passes.append(RaiseOpset(self.opset_min, wanted_by="the target"))
        passes += [PinVersions(self.opset_max, self.ir_max), Simplify()]
        if self.dtypes:
            passes.append(NarrowBoundary(self.dtypes))
        return passes
