"""How much quantization adds to each tensor: signal to quantization noise, in decibels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from edgekit.packaging.probe import Feed
from edgekit.runtime import session

GROUP = 40  # tensors that are fetched at once: what one image makes of them is in memory, not all of it
LOUD = 200.0  # dB, where there is no noise at all


@dataclass(frozen=True)
class Quantized:
    """A tensor that passes a quantizer: its name, and the name of what comes out."""

    tensor: str
    dequantized: str
    scale: str
    zero_point: str | None
    node: str


def quantized_tensors(model: onnx.ModelProto) -> list[Quantized]:
    """The activations of a QDQ model that are quantized, in graph order."""
    constants = {i.name for i in model.graph.initializer}
    readers = {node.input[0]: node for node in model.graph.node if node.op_type == "DequantizeLinear"}
    out = []
    for node in model.graph.node:
        reader = readers.get(node.output[0]) if node.op_type == "QuantizeLinear" else None
        if reader is not None and node.input[0] not in constants:
            zero_point = node.input[2] if len(node.input) > 2 else None
            out.append(Quantized(node.input[0], reader.output[0], node.input[1], zero_point, node.name))
    return out


def signal_to_noise(
    float_model: onnx.ModelProto, quantized: onnx.ModelProto, pairs: Mapping[str, str], feeds: Iterable[Feed]
) -> dict[str, float]:
    """Decibels for each tensor: 10 log10 of the energy of the float tensor over that of the difference.

    Args:
        pairs: name in the float model -> name in the quantized one.
        feeds: a few inputs; read again for each group of tensors.
    """
    out: dict[str, float] = {}
    inputs = list(feeds)
    for group in _groups(list(pairs.items())):
        energy = {name: np.zeros(2) for name, _ in group}
        ours = _session(float_model, [name for name, _ in group])
        theirs = _session(quantized, [name for _, name in group])
        for feed in inputs:
            for (name, _), a, b in zip(group, ours.run(None, dict(feed)), theirs.run(None, dict(feed)), strict=True):
                energy[name] += _energy(a), _energy(a - b)
        out |= {name: _decibels(signal, noise) for name, (signal, noise) in energy.items()}
    return out


def _session(model: onnx.ModelProto, tensors: Sequence[str]) -> Any:
    """A session that gives these tensors."""
    probed = onnx.ModelProto()
    probed.CopyFrom(model)
    del probed.graph.output[:]
    probed.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in tensors)
    return session.create(probed.SerializeToString(), optimization="disable", name="the quantized model")


def _groups(items: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    rest = iter(items)
    while group := list(islice(rest, GROUP)):
        yield group


def _energy(values: NDArray[Any]) -> float:
    return float(np.sum(np.square(values, dtype=np.float64)))


def _decibels(signal: float, noise: float) -> float:
    if noise == 0:
        return LOUD
    return float(10 * np.log10(max(signal, 1e-30) / noise))
