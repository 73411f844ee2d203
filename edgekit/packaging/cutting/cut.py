"""The cut: a graph that ends before a selection its target cannot run, and how its new outputs are read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import onnx
from onnx import helper

from edgekit.manifest import Interface, TensorSpec
from edgekit.packaging.cutting import edgemdt, outputs, trial
from edgekit.packaging.cutting.extract import extract
from edgekit.packaging.cutting.reading import Reading
from edgekit.packaging.cutting.region import Region, body_of, named_by
from edgekit.packaging.cutting.tensors import Tensor, fixed
from edgekit.packaging.cutting.thresholds import Thresholds
from edgekit.packaging.graph import Graph
from edgekit.packaging.passes.names import NameNodes
from edgekit.tasks import decoders
from edgekit.tasks.decoders.decoder import Size
from edgekit.tasks.predictions import Settings


@dataclass(frozen=True)
class Cut:
    """A graph that ends earlier. What it does no more, the decoder does with `postprocess`.

    Law: no node of a forbidden operator is in `model` but those named in `left`.
    """

    model: onnx.ModelProto
    decoder: str | None  # None: nothing could be cut, and `model` is as it was
    decoder_options: Mapping[str, Any] = field(default_factory=dict)
    postprocess: Mapping[str, Any] = field(default_factory=dict)  # defaults of tasks.predictions.Settings
    removed: tuple[str, ...] = ()  # names of the nodes that went
    left: tuple[str, ...] = ()  # names of the forbidden nodes that stay
    notes: tuple[str, ...] = ()

    def interface(self, original: Interface) -> Interface:
        """What the model takes and gives now, and how it is read, from what the original took and gave."""
        if self.decoder is None:
            return original
        inputs = {value.name for value in self.model.graph.input}
        return replace(
            original,
            inputs=tuple(spec for spec in original.inputs if spec.name in inputs),
            outputs=tuple(_spec(value) for value in self.model.graph.output),
            task=decoders.get(self.decoder).task,
            decoder=self.decoder,
            decoder_options=self.decoder_options,
            postprocess={**original.postprocess, **self.postprocess},
            metadata=_unfinished(original.metadata),
        )


@dataclass(frozen=True)
class End:
    """Where a graph can end."""

    region: Region
    tensors: tuple[Tensor, ...]
    reading: Reading
    thresholds: Thresholds


def cut(model: onnx.ModelProto, forbidden: Collection[str]) -> Cut | None:
    """End the graph before the last selection; None where it has no forbidden operator.

    Requires: fixed inputs, no weight among them, and folded constants: a tensor whose shape ONNX cannot infer is no
    end.

    Args:
        forbidden: operators that the target does not run.
    """
    named = NameNodes()(model).model
    graph = Graph.of(named)
    needed = graph.before(graph.outputs)
    found = [name for name in named_by(graph, forbidden) if name in needed]
    if not found:
        return None
    body = body_of(graph)
    end = _end(named, graph, body, [name for name in found if name not in body])
    if end is None:
        return Cut(model, None, left=tuple(found), notes=tuple(_stays(graph, found, body)))
    out = extract(named, graph, [tensor.declared() for tensor in end.tensors])
    kept = {node.name for node in out.graph.node}
    left = tuple(name for name in found if name in kept)
    inputs = {value.name for value in named.graph.input} - {value.name for value in out.graph.input}
    names = outputs.finish(out, end.tensors, end.reading.names)
    agnostic = {"class_agnostic": True} if end.reading.class_agnostic else {}
    return Cut(
        out,
        end.reading.decoder,
        end.reading.options,
        {**end.thresholds.postprocess(), **_candidates(end), **agnostic},
        removed=tuple(name for name in graph.nodes if name not in kept),
        left=left,
        notes=(*_ends(end, names, sorted(inputs)), *_stays(graph, left, body)),
    )


def _end(model: onnx.ModelProto, graph: Graph, body: frozenset[str], nodes: Sequence[str]) -> End | None:
    """The end before as many of these nodes as possible; before the last one at least."""
    size = _size(model)
    if size is None:
        return None
    tensors = fixed(model)
    tensors = {**edgemdt.boxes(model.graph.node, tensors), **tensors}
    inputs = [value.name for value in model.graph.input]
    regions = (Region.before(graph, inputs, body, nodes[first:]) for first in range(len(nodes)))
    ends = (end for region in regions for end in _ends_of(model, region, tensors, size))
    return next(ends, None)


def _ends_of(model: onnx.ModelProto, region: Region, tensors: Mapping[str, Tensor], size: Size) -> Iterator[End]:
    """The ends in front of a region that a decoder reads as the region does."""
    lost = [output for output in model.graph.output if output.name in region.lost]
    stay = set(region.graph.outputs) - set(region.lost)
    shapes = [tensors[output.name].shape for output in lost if output.name in tensors]
    defined = {tuple(node.input[:2]): edgemdt.READING for node in model.graph.node if edgemdt.is_nms(node)}
    for found in region.ends(tensors):
        names = tuple(tensor.name for tensor in found)
        if not stay <= set(names):
            continue  # outputs beside them, such as a mask's prototypes, are of a task that has no decoder
        rest = extract(model, region.graph, lost, found)
        for thresholds in Thresholds.of(region.graph, {node.name for node in rest.graph.node}, shapes):
            reading = trial.find(rest, found, size, thresholds) or defined.get(names)
            if reading:
                yield End(region, found, reading, thresholds)


def _candidates(end: End) -> dict[str, int]:
    """With a threshold so low that more than usual go into NMS: all, as in the graph."""
    shape = end.tensors[-1].batched
    several = end.reading.options.get("multi_label", False)
    most = max(shape[1:]) * (min(shape[1:]) if several else 1)
    thresholds = end.thresholds
    low = thresholds.iou is not None and thresholds.conf is not None and thresholds.conf < trial.LOWEST
    return {"max_candidates": most} if low and most > Settings().max_candidates else {}


def _ends(end: End, names: Sequence[str], inputs: Sequence[str]) -> Iterator[str]:
    """What the cut came to."""
    where = " and ".join(f"{name} {list(tensor.batched)}" for tensor, name in zip(end.tensors, names, strict=True))
    options = ", ".join(f"{key} {value}" for key, value in end.reading.options.items())
    yield f"the graph ends at {where}, which decoder {end.reading.decoder} reads{f' ({options})' if options else ''}"
    if inputs:
        yield f"no input any more, since only what was cut read it: {', '.join(inputs)}"
    if end.thresholds.max_per_class:
        yield f"the graph kept at most {end.thresholds.max_per_class} boxes of a class, the runtime has no such limit"


def _stays(graph: Graph, names: Sequence[str], body: frozenset[str]) -> Iterator[str]:
    """Why forbidden nodes are left."""
    for name in names:
        learned = "learned layers are behind it"
        unread = "no decoder reads what is in front of it as the graph does"
        yield f"{graph.nodes[name].op_type} {name} stays: {learned if name in body else unread}"


def _spec(value: onnx.ValueInfoProto) -> TensorSpec:
    tensor = value.type.tensor_type
    dtype = str(helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    return TensorSpec(value.name, dtype, tuple(dim.dim_value for dim in tensor.shape.dim))


def _unfinished(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The Ultralytics keys without the promise of finished detections."""
    out = dict(metadata)
    promises = ("nms", "end2end")
    out.update({key: False for key in promises if key in out})
    arguments = out.get("args")
    if isinstance(arguments, Mapping):
        out["args"] = {**arguments, **{key: False for key in promises if key in arguments}}
    return out


def _size(model: onnx.ModelProto) -> Size | None:
    """Height and width of the image that the model takes."""
    for value in model.graph.input:
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if len(dims) == 4 and all(dims):
            return (dims[1], dims[2]) if dims[3] == 3 and dims[1] != 3 else (dims[2], dims[3])
    return None
