"""Which part of a model a provider will take, told from lists and limits before there is a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import onnx

from edgekit.packaging import tensors
from edgekit.packaging.check import work
from edgekit.packaging.check.partitions import Before, partition
from edgekit.packaging.graph import Graph
from edgekit.packaging.tensors import Tensor
from edgekit.target import Limits, OperatorList

DIGITS = 4


@dataclass(frozen=True)
class Left:
    """A node that the provider does not take."""

    name: str
    operator: str
    why: str
    macs: int | None


@dataclass(frozen=True)
class Coverage:
    """What a provider takes. Nodes that depend on no input are folded before it is asked: they do not count."""

    nodes: int
    macs: int | None  # multiply-accumulates of the model; None where a shape is not known
    partitions: int
    left: tuple[Left, ...]
    weighted: int = 0  # Conv, Gemm and MatMul

    @property
    def weighted_share(self) -> float | None:
        """The part of the Conv, Gemm and MatMul nodes that is taken, 0..1; None where there are none."""
        left = sum(node.operator in work.RULES for node in self.left)
        return 1 - left / self.weighted if self.weighted else None

    @property
    def node_share(self) -> float:
        """The part of the nodes that is taken, 0..1."""
        return 1 - len(self.left) / self.nodes if self.nodes else 0.0

    @property
    def mac_share(self) -> float | None:
        """The part of the multiply-accumulates that is taken, 0..1; None where they are not known or there are none."""
        left = [node.macs for node in self.left]
        known = [n for n in left if n is not None]
        return 1 - sum(known) / self.macs if self.macs and len(known) == len(left) else None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        share = self.mac_share
        return {
            "nodes": {"total": self.nodes, "share": round(self.node_share, DIGITS)},
            "macs": {"total": self.macs, "share": None if share is None else round(share, DIGITS)},
            "partitions": self.partitions,
            "left": dict(Counter(node.operator for node in self.left)),
        }

    @classmethod
    def of(cls, model: onnx.ModelProto, operators: OperatorList, limits: Limits) -> Coverage:
        """Ask of each node whether the provider takes it.

        Requires: unique node names.
        """
        graph, known = Graph.of(model), tensors.read(model)
        asked = [node for node in graph.nodes.values() if any(o not in graph.constants for o in node.output)]
        costs = {node.name: work.macs(node, known) for node in asked}
        reasons = {node.name: obstacle(node, graph, known, operators, limits) for node in asked}
        missing = sum(reason is not None for reason in reasons.values())
        if operators.gives_up_above is not None and missing > operators.gives_up_above:
            given_up = f"the provider takes nothing where it leaves more than {operators.gives_up_above} nodes"
            reasons = {name: reason or given_up for name, reason in reasons.items()}
        left = tuple(
            Left(node.name, qualified(node), reason, costs[node.name])
            for node in asked
            if (reason := reasons[node.name]) is not None
        )
        total = [cost for cost in costs.values() if cost is not None]
        return cls(
            nodes=len(asked),
            macs=sum(total) if len(total) == len(asked) else None,
            partitions=len(partition(_before(graph), {node.name for node in asked if reasons[node.name] is None})),
            left=left,
            weighted=sum(node.op_type in work.RULES for node in asked),
        )


def qualified(node: onnx.NodeProto) -> str:
    """An operator's name, with its domain where that is not ai.onnx."""
    return f"{node.domain}:{node.op_type}" if node.domain not in ("", "ai.onnx") else str(node.op_type)


def obstacle(
    node: onnx.NodeProto, graph: Graph, known: Mapping[str, Tensor], operators: OperatorList, limits: Limits
) -> str | None:
    """Why a provider does not take a node; None if it does."""
    if not operators.takes(node.op_type, node.domain):
        return "not among the operators that it takes"
    for name in (*graph.variables(node), *filter(None, node.output)):
        tensor = known.get(name)
        if tensor is None:
            continue
        if operators.dtypes and tensor.dtype not in operators.dtypes:
            return f"{tensor.dtype} is no dtype that it takes"
        if limits.rank_max and tensor.shape is not None and len(tensor.shape) > limits.rank_max:
            return f"rank {len(tensor.shape)} is above {limits.rank_max}"
        if limits.static_shapes and tensor.fixed is None:
            return "no fixed shape"
    return None


def _before(graph: Graph) -> Before:
    """The nodes that each one reads from."""
    return {
        name: [p for tensor in graph.variables(node) if (p := graph.producers.get(tensor)) is not None]
        for name, node in graph.nodes.items()
    }
