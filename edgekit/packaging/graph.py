"""A model's graph as something to walk: who makes a tensor, who reads it, what is constant."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")


@dataclass(frozen=True)
class Graph:
    """The nodes of the outermost graph, by name, and the tensors between them. A view: the model is not changed.

    Requires: unique node names. An object is no identity: protobuf makes a new one each time a node is asked for,
    so they are asked for once and held here.
    """

    nodes: Mapping[str, onnx.NodeProto]  # in graph order, which is topological
    producers: Mapping[str, str]  # of each tensor that a node makes
    consumers: Mapping[str, tuple[str, ...]]  # of each tensor that a node reads
    outputs: tuple[str, ...]
    weights: Mapping[str, onnx.TensorProto]  # initializers and the values of Constant nodes
    constants: frozenset[str]  # tensors that depend on no input: weights, and what nodes make of them alone

    @classmethod
    def of(cls, model: onnx.ModelProto) -> Graph:
        """Read the outermost graph."""
        nodes = {node.name: node for node in model.graph.node}
        weights = {tensor.name: tensor for tensor in model.graph.initializer}
        constants = set(weights)
        producers: dict[str, str] = {}
        consumers: dict[str, list[str]] = {}
        for name, node in nodes.items():
            read = list(reads(node))
            if constants.issuperset(read):
                constants.update(node.output)
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                weights[node.output[0]] = node.attribute[0].t
            producers.update((tensor, name) for tensor in node.output if tensor)
            for tensor in dict.fromkeys(read):
                consumers.setdefault(tensor, []).append(name)
        return cls(
            nodes,
            producers,
            {tensor: tuple(names) for tensor, names in consumers.items()},
            tuple(output.name for output in model.graph.output),
            weights,
            frozenset(constants),
        )

    def value(self, tensor: str) -> NDArray[Any] | None:
        """The value of a constant as it is stored, before nodes dequantize or rearrange it; None if it is none."""
        while tensor in self.constants and tensor not in self.weights:
            tensor = next(iter(self.nodes[self.producers[tensor]].input), "")
        found = self.weights.get(tensor)
        return None if found is None else numpy_helper.to_array(found)

    def weight(self, node: onnx.NodeProto) -> str | None:
        """The tensor that a weighted node multiplies its input by; None if it is no constant, or the node another."""
        if node.op_type not in WEIGHTED or node.domain not in ("", "ai.onnx"):
            return None
        places = (1, 0) if node.op_type == "MatMul" else (1,)
        return next((node.input[i] for i in places if node.input[i] in self.constants), None)

    def variables(self, node: onnx.NodeProto) -> list[str]:
        """What a node reads that is no constant, once each."""
        return [tensor for tensor in dict.fromkeys(reads(node)) if tensor not in self.constants]

    def before(self, tensors: Iterable[str]) -> set[str]:
        """The nodes that these tensors come from, all the way back."""
        seen: set[str] = set()
        queue = list(tensors)
        while queue:
            name = self.producers.get(queue.pop())
            if name is not None and name not in seen:
                seen.add(name)
                queue.extend(reads(self.nodes[name]))
        return seen

    def behind(self, tensors: Iterable[str]) -> set[str]:
        """The nodes that depend on these tensors, all the way on."""
        seen: set[str] = set()
        queue = list(tensors)
        while queue:
            for name in self.consumers.get(queue.pop(), ()):
                if name not in seen:
                    seen.add(name)
                    queue.extend(self.nodes[name].output)
        return seen

    def origin(self, tensor: str, passing: Collection[str]) -> onnx.NodeProto | None:
        """The node that a tensor comes from, behind nodes of the operators `passing`, which have one input of note."""
        name = self.producers.get(tensor)
        while name is not None and self.nodes[name].op_type in passing:
            name = self.producers.get(self.nodes[name].input[0])
        return None if name is None else self.nodes[name]


def reads(node: onnx.NodeProto) -> Iterator[str]:
    """The tensors that a node reads, those that its subgraphs take from outside included."""
    yield from filter(None, node.input)
    for attribute in node.attribute:
        for subgraph in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else ())):
            yield from _captured(subgraph)


def _captured(graph: onnx.GraphProto) -> Iterator[str]:
    own = {tensor for node in graph.node for tensor in node.output}
    own |= {i.name for i in graph.initializer} | {i.name for i in graph.input}
    read = [tensor for node in graph.node for tensor in reads(node)]
    yield from (tensor for tensor in (*read, *(o.name for o in graph.output)) if tensor not in own)
