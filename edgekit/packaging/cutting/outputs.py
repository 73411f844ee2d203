"""The outputs of a graph that ends earlier: their names, and a batch in front."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import count

import numpy as np
import onnx
from onnx import helper, numpy_helper

from edgekit.packaging.cutting.extract import rename
from edgekit.packaging.cutting.tensors import Tensor


def finish(model: onnx.ModelProto, ends: Sequence[Tensor], wanted: Sequence[str]) -> list[str]:
    """Name the outputs of a model, and give a batch of one to those without; the names that they have then.

    Args:
        model: it is changed.
        ends: its outputs, in order.
        wanted: a name for each; a number is added where another tensor has it.
    """
    graph = model.graph
    taken = {tensor for node in graph.node for tensor in (*node.input, *node.output)}
    taken |= {tensor.name for tensor in (*graph.input, *graph.initializer)}
    names = []
    for i, (end, name) in enumerate(zip(ends, wanted, strict=True)):
        free = next(one for one in _numbered(name) if one not in taken or one == end.name)
        taken.add(free)
        names.append(free)
        if end.shape == end.batched:
            rename(model, {end.name: free})
        else:
            shape = next(one for one in _numbered(f"{free}_shape") if one not in taken)
            graph.initializer.append(numpy_helper.from_array(np.array(end.batched, np.int64), shape))
            graph.node.append(helper.make_node("Reshape", [end.name, shape], [free], name=_free_name(graph, free)))
            graph.output[i].CopyFrom(helper.make_tensor_value_info(free, end.element, end.batched))
    return names


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{n}" for n in count(1))


def _free_name(graph: onnx.GraphProto, name: str) -> str:
    taken: Collection[str] = {node.name for node in graph.node}
    return next(one for one in _numbered(name) if one not in taken)
