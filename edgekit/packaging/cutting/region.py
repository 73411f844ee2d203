"""What of a graph may go, and where it could end instead."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import onnx

from edgekit.packaging import source
from edgekit.packaging.cutting import edgemdt
from edgekit.packaging.cutting.tensors import Tensor
from edgekit.packaging.graph import Graph, reads
from edgekit.tasks.decoders.scored_boxes import ScoredBoxes

NMS = "NonMaxSuppression"
DECODING = 33  # numbers in a weight that decodes at most: the bins of a DFL; a change of coordinates has 16
SIZES = ("Shape", "Size")  # constants, once the inputs are frozen


@dataclass(frozen=True)
class Region:
    """What goes when the graph ends before some nodes.

    Law: no learned node is in it, and none of its outputs is an output that stays.
    """

    graph: Graph
    body: frozenset[str]  # learned nodes and all in front of them
    images: frozenset[str]  # the inputs that the body reads
    behind: frozenset[str]  # the nodes to end before, and all that depend on them
    lost: tuple[str, ...]  # the outputs that depend on them

    @classmethod
    def before(cls, graph: Graph, inputs: Collection[str], body: frozenset[str], nodes: Collection[str]) -> Region:
        """The region that begins at these nodes.

        Args:
            inputs: of the graph.
            body: see `body_of`.
        """
        made = [tensor for name in nodes for tensor in graph.nodes[name].output]
        behind = frozenset({*nodes, *graph.behind(made)})
        lost = tuple(tensor for tensor in graph.outputs if graph.producers.get(tensor) in behind)
        images = frozenset(t for t in inputs if not body or not body.isdisjoint(graph.consumers.get(t, ())))
        return cls(graph, body, images, behind, lost)

    def ends(self, tensors: Mapping[str, Tensor]) -> Iterator[tuple[Tensor, ...]]:
        """Where the graph could end: at one tensor, else at boxes and their scores.

        The last ones come first, those with a batch before those without. Each end separates the images from the
        outputs that are lost. None needs an input that only what is behind reads, such as the size of the image.
        """
        found = sorted(self._candidates(tensors), key=lambda tensor: -len(tensor.shape))
        pairs: Iterator[tuple[Tensor, ...]] = (
            (boxes, scores) for boxes in found for scores in found if _is_pair(boxes, scores)
        )
        for end in chain(((tensor,) for tensor in found), pairs):
            if self._separates({tensor.name for tensor in end}):
                yield end

    def _candidates(self, tensors: Mapping[str, Tensor]) -> Iterator[Tensor]:
        """Tensors that a decoder might read, the last one first."""
        others = {t for t in self.graph.consumers if t not in self.graph.producers and t not in self.images}
        excluded = self.behind | self.graph.behind(others - self.graph.constants)
        for name, node in reversed(list(self.graph.nodes.items())):
            for output in node.output if name not in excluded else ():
                tensor = tensors.get(output)
                if tensor and self._may_end_at(tensor):
                    yield tensor

    def _may_end_at(self, tensor: Tensor) -> bool:
        readers = self.graph.consumers.get(tensor.name, ())
        constant = tensor.name in self.graph.constants
        return len(tensor.batched) == 3 and tensor.is_float and not constant and self.body.isdisjoint(readers)

    def _separates(self, ends: Collection[str]) -> bool:
        """Whether each of the ends is needed by the lost outputs, and nothing else of the body or the images."""
        reached: set[str] = set()
        seen: set[str] = set()
        queue = list(self.lost)
        while queue:
            tensor = queue.pop()
            if tensor in seen or tensor in self.graph.constants:
                continue
            seen.add(tensor)
            if tensor in ends:
                reached.add(tensor)
                continue
            name = self.graph.producers.get(tensor)
            if name in self.body or tensor in self.images:
                return False
            if name is not None and self.graph.nodes[name].op_type not in SIZES:
                queue.extend(reads(self.graph.nodes[name]))
        return len(reached) == len(ends)


def body_of(graph: Graph) -> frozenset[str]:
    """The learned nodes, and all in front of them: what cannot be done without."""
    learned = [node for node in graph.nodes.values() if _is_learned(graph, node)]
    return frozenset({n.name for n in learned} | graph.before(tensor for n in learned for tensor in n.input))


def selects(model: onnx.ModelProto, forbidden: Collection[str]) -> bool:
    """Whether a model has any of these operators, or EdgeMDT's for one."""
    return any(_is(node, forbidden) for node in source.nodes(model.graph))


def named_by(graph: Graph, forbidden: Collection[str]) -> list[str]:
    """The nodes of these operators, those that hold one in a subgraph included.

    Who forbids NonMaxSuppression forbids EdgeMDT's operators for it too.
    """
    return [name for name, node in graph.nodes.items() if any(_is(one, forbidden) for one in _within(node))]


def _is(node: onnx.NodeProto, operators: Collection[str]) -> bool:
    return node.op_type in operators or (NMS in operators and edgemdt.is_nms(node))


def _within(node: onnx.NodeProto) -> Iterator[onnx.NodeProto]:
    return source.nodes(onnx.GraphProto(node=[node])) if _has_subgraph(node) else iter([node])


def _has_subgraph(node: onnx.NodeProto) -> bool:
    return any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute)


def _is_learned(graph: Graph, node: onnx.NodeProto) -> bool:
    """Whether a node has a constant weight of more numbers than decoding takes."""
    weight = graph.weight(node)
    value = graph.value(weight) if weight else None
    return weight is not None and (value is None or value.size > DECODING)


def _is_pair(boxes: Tensor, scores: Tensor) -> bool:
    return boxes != scores and ScoredBoxes.class_count({"boxes": boxes.batched, "scores": scores.batched}) is not None
