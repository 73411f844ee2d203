"""float16, by onnxruntime's converter; what would overflow stays float32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from edgekit.packaging.passes import PassResult, copy
from edgekit.packaging.probe import Feed, run

LARGEST = 65504.0  # of float16
MARGIN = 2.0  # the probe sees a few images: others may go further
SUFFIX = "/edgekit_largest"


@dataclass(frozen=True)
class Float16:
    """Weights and activations in float16, inputs and outputs as they were.

    Requires: feeds like those of the application: the largest value of each tensor is measured on them.
    Ensures: a node whose inputs or outputs went beyond half of float16's range, or whose weights do, stays float32.
    """

    feeds: Sequence[Feed]
    tolerance: ClassVar[float | None] = None
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Measure, then convert."""
        from onnxruntime.transformers.float16 import convert_float_to_float16

        named = copy(model)
        for i, node in enumerate(named.graph.node):  # the converter knows nodes by name
            node.name = node.name or f"{node.op_type}_{i}"
        kept = _overflowing(named, _largest(named, self.feeds))
        out = convert_float_to_float16(
            named, keep_io_types=True, node_block_list=sorted(kept), max_finite_val=LARGEST, min_positive_val=5.96e-08
        )
        out = _in_order(_without_round_trips(out))
        notes = tuple(f"{name} stays float32: reaches {value:.3g}" for name, value in sorted(kept.items()))
        return PassResult(out, changed=True, notes=notes)


def _in_order(model: onnx.ModelProto) -> onnx.ModelProto:
    """Nodes behind those that they read from: the converter appends its casts."""
    from onnxruntime.quantization.onnx_model import ONNXModel

    wrapped = ONNXModel(model)
    wrapped.topological_sort()
    sorted_model: onnx.ModelProto = wrapped.model
    return sorted_model


def _largest(model: onnx.ModelProto, feeds: Sequence[Feed]) -> dict[str, float]:
    """The largest magnitude of each float tensor. Each is reduced inside the graph, so that none has to be kept."""
    probed = onnx.shape_inference.infer_shapes(copy(model))
    types = _types(probed)
    tensors = [o for node in probed.graph.node for o in node.output if types.get(o) == TensorProto.FLOAT]
    del probed.graph.output[:]
    for tensor in tensors:
        magnitude, largest = f"{tensor}{SUFFIX}/abs", tensor + SUFFIX
        probed.graph.node.append(helper.make_node("Abs", [tensor], [magnitude]))
        probed.graph.node.append(helper.make_node("ReduceMax", [magnitude], [largest], keepdims=0))
        probed.graph.output.append(helper.make_tensor_value_info(largest, TensorProto.FLOAT, []))
    seen: dict[str, float] = {
        i.name: _peak(numpy_helper.to_array(i)) for i in model.graph.initializer if i.data_type == TensorProto.FLOAT
    }
    for outputs in run(probed, feeds):
        for name, value in outputs.items():
            tensor = name.removesuffix(SUFFIX)
            seen[tensor] = max(seen.get(tensor, 0.0), float(np.nan_to_num(value, nan=np.inf)))
    return seen


def _overflowing(model: onnx.ModelProto, largest: dict[str, float]) -> dict[str, float]:
    """Nodes that touch a tensor beyond the limit, with its largest magnitude."""
    weights = {i.name for i in model.graph.initializer}
    out = {}
    for node in model.graph.node:
        peaks = [largest.get(t, 0.0) * (1.0 if t in weights else MARGIN) for t in (*node.input, *node.output)]
        if peaks and max(peaks) > LARGEST:
            out[node.name] = max(largest.get(t, 0.0) for t in (*node.input, *node.output))
    return out


def _without_round_trips(model: onnx.ModelProto) -> onnx.ModelProto:
    """Take out float32 -> float16 -> float32: the converter casts at both sides of each node that stays float32.

    Between two such nodes the cast would overflow, which is what they stay float32 for.
    """
    types = _types(onnx.shape_inference.infer_shapes(model))
    casts = {n.output[0]: n for n in model.graph.node if n.op_type == "Cast"}
    to = {name: next(a.i for a in node.attribute if a.name == "to") for name, node in casts.items()}
    origin = {}
    for name, node in casts.items():
        inner = casts.get(node.input[0])
        narrowed = inner is not None and to[node.input[0]] == TensorProto.FLOAT16
        if inner is not None and narrowed and to[name] == types.get(inner.input[0]) == TensorProto.FLOAT:
            origin[name] = inner.input[0]
    for node in model.graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = origin.get(name, name)
    while dead := _unused(model.graph, set(casts)):
        for node in dead:
            model.graph.node.remove(node)
    return model


def _unused(graph: onnx.GraphProto, names: set[str]) -> list[onnx.NodeProto]:
    """The nodes among those that make `names` whose output nobody reads."""
    used = {name for node in graph.node for name in node.input} | {o.name for o in graph.output}
    return [node for node in graph.node if node.output[0] in names - used]


def _types(model: onnx.ModelProto) -> dict[str, int]:
    values = [*model.graph.value_info, *model.graph.input, *model.graph.output]
    return {v.name: v.type.tensor_type.elem_type for v in values}


def _peak(array: np.ndarray) -> float:
    finite = np.abs(array[np.isfinite(array)])
    return float(finite.max()) if finite.size else 0.0
