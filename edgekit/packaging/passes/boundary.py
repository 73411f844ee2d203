"""The dtypes of inputs and outputs: what a provider does not take there, it leaves to the CPU with all behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import onnx
from onnx import TensorProto, helper

from edgekit.errors import ModelError
from edgekit.packaging import source
from edgekit.packaging.passes import PassResult, copy

NARROWER = {TensorProto.INT64: TensorProto.INT32, TensorProto.DOUBLE: TensorProto.FLOAT}


@dataclass(frozen=True)
class NarrowBoundary:
    """Bring inputs and outputs to dtypes that the target takes: int32 for int64, float32 for float64.

    Requires: what passes there fits the narrower type, as labels, indices and sizes do.
    Ensures: each input and output has one of `dtypes`, under its name; a Cast stands behind or in front of it.
    """

    dtypes: tuple[str, ...]  # as numpy names them
    tolerance: ClassVar[float | None] = 1e-3
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Put Casts inside.

        Raises:
            ModelError: an input or output has a dtype that no Cast brings to one of `dtypes`.
        """
        out = copy(model)
        notes = [self._narrow(out, value, inward=True) for value in foreign(out.graph.input, self.dtypes)]
        notes += [self._narrow(out, value, inward=False) for value in foreign(out.graph.output, self.dtypes)]
        return PassResult(out, changed=bool(notes), notes=tuple(notes))

    def _narrow(self, model: onnx.ModelProto, value: onnx.ValueInfoProto, *, inward: bool) -> str:
        tensor = value.type.tensor_type
        wide, narrow = tensor.elem_type, NARROWER.get(tensor.elem_type)
        kind = "input" if inward else "output"
        if narrow is None or numpy_name(narrow) not in self.dtypes:
            raise ModelError(
                f"{kind} {value.name} is {numpy_name(wide)}, the target takes {', '.join(self.dtypes)}",
                hint="export the model with another dtype there",
            )
        inner = f"{value.name}/{numpy_name(wide)}"
        _rename(model.graph, value.name, inner)
        ends = ([value.name], [inner]) if inward else ([inner], [value.name])
        cast = helper.make_node("Cast", *ends, name=f"{value.name}/to_{kind}", to=wide if inward else narrow)
        model.graph.node.insert(0 if inward else len(model.graph.node), cast)
        tensor.elem_type = narrow
        return f"{kind} {value.name}: {numpy_name(wide)} -> {numpy_name(narrow)}"


def foreign(values: Sequence[onnx.ValueInfoProto], dtypes: Sequence[str]) -> list[onnx.ValueInfoProto]:
    """The inputs or outputs whose dtype is not among these."""
    return [value for value in values if numpy_name(value.type.tensor_type.elem_type) not in dtypes]


def numpy_name(element: int) -> str:
    """A tensor's element type as numpy names it."""
    if element == TensorProto.STRING:
        return "str"
    return str(helper.tensor_dtype_to_np_dtype(element))


def _rename(graph: onnx.GraphProto, old: str, new: str) -> None:
    """Give a tensor another name wherever nodes make or read it; graph inputs and outputs keep theirs."""
    for node in source.nodes(graph):
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                if name == old:
                    names[i] = new
    for info in graph.value_info:
        if info.name == old:
            info.name = new
