"""A part of a graph as a model of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from edgekit.packaging import source
from edgekit.packaging.cutting.tensors import Tensor
from edgekit.packaging.graph import Graph, reads


def extract(
    model: onnx.ModelProto, graph: Graph, outputs: Sequence[onnx.ValueInfoProto], inputs: Sequence[Tensor] = ()
) -> onnx.ModelProto:
    """What makes `outputs`, and nothing else.

    Ensures: no node, weight or input that they do not need. Inputs of the model come before `inputs`, which take the
    place of the nodes that make them.

    Args:
        graph: the view of `model`.
    """
    cuts = {tensor.name for tensor in inputs}
    needed = _needed(graph, [value.name for value in outputs], cuts)
    nodes = [node for name, node in graph.nodes.items() if name in needed]
    read = {tensor for node in nodes for tensor in reads(node)} | {value.name for value in outputs}
    made = read | {tensor for node in nodes for tensor in node.output}
    whole = model.graph
    part = onnx.GraphProto(
        name=whole.name,
        node=nodes,
        initializer=[weight for weight in whole.initializer if weight.name in read],
        sparse_initializer=[weight for weight in whole.sparse_initializer if weight.values.name in read],
        input=[value for value in whole.input if value.name in read - cuts],
        output=outputs,
        value_info=[value for value in whole.value_info if value.name in made - cuts],
    )
    part.input.extend(tensor.declared() for tensor in inputs if tensor.name in read)
    out = onnx.ModelProto(
        ir_version=model.ir_version,
        opset_import=model.opset_import,
        producer_name=model.producer_name,
        producer_version=model.producer_version,
        domain=model.domain,
        model_version=model.model_version,
        doc_string=model.doc_string,
        metadata_props=model.metadata_props,
        functions=model.functions,
    )
    out.graph.CopyFrom(part)
    return out


def rename(model: onnx.ModelProto, names: Mapping[str, str]) -> None:
    """Give tensors of a graph other names, wherever they are made or read. The new ones must be free."""
    graph = model.graph
    for node in source.nodes(graph):
        for tensors in (node.input, node.output):
            for i, tensor in enumerate(tensors):
                tensors[i] = names.get(tensor, tensor)
    for value in (*graph.output, *graph.value_info):
        value.name = names.get(value.name, value.name)


def _needed(graph: Graph, tensors: Sequence[str], cuts: set[str]) -> set[str]:
    """The nodes that tensors come from, back to `cuts`."""
    needed: set[str] = set()
    queue = [tensor for tensor in tensors if tensor not in cuts]
    while queue:
        name = graph.producers.get(queue.pop())
        if name is not None and name not in needed:
            needed.add(name)
            queue += [tensor for tensor in reads(graph.nodes[name]) if tensor not in cuts]
    return needed
