"""A model cut into pieces that run one after the other, so that all its activations can be seen but never at once.

onnxruntime runs a whole graph and holds all its declared outputs, also when a few of them are asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import helper

from edgekit.packaging.calibration.extremes import run
from edgekit.packaging.calibration.graph import needed, types_of, uses
from edgekit.packaging.probe import Feed
from edgekit.runtime import session

Nodes = Sequence[onnx.NodeProto]


@dataclass(frozen=True)
class Piece:
    """Consecutive nodes, ready to run."""

    session: Any
    outputs: tuple[str, ...]
    wanted: frozenset[str]  # those of the outputs that are looked at
    carried: frozenset[str]  # what pieces behind it still read, its own outputs and earlier ones'


@dataclass(frozen=True)
class Pieces:
    """A model in pieces.

    Law: each node runs once; the tensors in memory are the wanted ones of one piece, and what later pieces read.
    """

    inputs: frozenset[str]  # wanted ones among the model's inputs
    pieces: tuple[Piece, ...]

    @classmethod
    def of(cls, model: onnx.ModelProto, sizes: Mapping[str, int], limit: int) -> Pieces:
        """Cut a model.

        Args:
            sizes: the wanted tensors, and the bytes of each.
            limit: bytes of wanted tensors in one piece; a tensor that is larger has a piece of its own.
        """
        types = types_of(model)
        # constants go wherever they are read, as weights do: a kernel may insist on their being constant
        constants = {name: n for n in model.graph.node if n.op_type == "Constant" for name in n.output}
        rest = [n for n in needed(model.graph.node, sizes) if n.op_type != "Constant"]
        inputs = {i.name for i in model.graph.input}
        pieces, available = [], inputs - {i.name for i in model.graph.initializer}
        for nodes, behind in _cut(rest, sizes, limit, available, types):
            made = {name for node in nodes for name in node.output if name}
            later = {name for node in behind for name in uses(node)} & (available | made)
            read = {name for node in nodes for name in uses(node)}
            outputs = tuple(sorted(made & (later | sizes.keys())))
            part = _model(model, nodes, read, available - made, outputs, types, constants)
            opened = session.create(part.SerializeToString(), optimization="basic", name="the model")
            pieces.append(Piece(opened, outputs, frozenset(made & sizes.keys()), frozenset(later)))
            available |= made
        return cls(frozenset(inputs & sizes.keys()), tuple(pieces))

    def run(self, feed: Feed) -> Iterator[tuple[str, NDArray[Any]]]:
        """Each wanted tensor for one feed, piece by piece."""
        live: dict[str, NDArray[Any]] = dict(feed)
        yield from ((name, live[name]) for name in sorted(self.inputs))
        for piece in self.pieces:
            made = dict(zip(piece.outputs, run(piece.session, piece.outputs, live), strict=True))
            yield from ((name, made[name]) for name in piece.outputs if name in piece.wanted)
            live = {name: value for name, value in (live | made).items() if name in piece.carried}


def _cut(
    nodes: Nodes, sizes: Mapping[str, int], limit: int, inputs: Collection[str], types: Mapping[str, onnx.TypeProto]
) -> Iterator[tuple[Nodes, Nodes]]:
    """Runs of nodes and what is behind each; never cut where a tensor crosses whose type is not known."""
    start = total = 0
    for i, node in enumerate(nodes):
        size = sum(sizes.get(name, 0) for name in node.output)
        if total and total + size > limit and _may_cut(nodes, i, types):
            yield nodes[start:i], nodes[i:]
            start, total = i, 0
        total += size
    if nodes:
        yield nodes[start:], []


def _may_cut(nodes: Nodes, at: int, types: Mapping[str, onnx.TypeProto]) -> bool:
    made = {name for node in nodes[:at] for name in node.output}
    return all(name in types for node in nodes[at:] for name in uses(node) if name in made)


def _model(
    model: onnx.ModelProto,
    nodes: Nodes,
    read: Collection[str],
    available: Collection[str],
    outputs: Sequence[str],
    types: Mapping[str, onnx.TypeProto],
    constants: Mapping[str, onnx.NodeProto],
) -> onnx.ModelProto:
    """These nodes as a model. Shapes stay open: a declared one that is wrong is an error only where it is an input."""
    graph = helper.make_graph(
        [*(constants[name] for name in constants if name in read), *nodes],
        "piece",
        [_value(name, types[name]) for name in sorted(set(read) & set(available))],
        [_value(name, types.get(name)) for name in outputs],
        [i for i in model.graph.initializer if i.name in read],
        sparse_initializer=[i for i in model.graph.sparse_initializer if i.values.name in read],
    )
    return helper.make_model(
        graph,
        opset_imports=model.opset_import,
        functions=model.functions,
        ir_version=max(4, model.ir_version),  # before, weights had to be inputs as well
    )


def _value(name: str, kind: onnx.TypeProto | None) -> onnx.ValueInfoProto:
    value = onnx.ValueInfoProto(name=name)
    if kind is not None:
        value.type.CopyFrom(kind)
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return value
