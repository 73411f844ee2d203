"""What became of each weighted layer and each quantized tensor, as figures for report.json."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from edgekit.packaging import blocks, noise
from edgekit.packaging.calibration import Range
from edgekit.packaging.probe import Feed

LOOKED_AT = 2  # images on which noise is measured


def describe(
    original: onnx.ModelProto,
    quantized: onnx.ModelProto,
    ranges: Mapping[str, Range],
    why_float: Mapping[str, str],
    feeds: Iterable[Feed],
) -> list[dict[str, Any]]:
    """A row for each quantized tensor, and one for each weighted layer that stayed float.

    Args:
        why_float: node name -> why it stayed float.
        feeds: a few are looked at for the signal to quantization noise ratio (sqnr_db).
    """
    samples = [{name: value.copy() for name, value in feed.items()} for feed in islice(feeds, LOOKED_AT)]
    constants = {i.name: numpy_helper.to_array(i) for i in quantized.graph.initializer}
    here = {o for node in original.graph.node for o in node.output}
    tensors = noise.quantized_tensors(quantized)
    loud = noise.signal_to_noise(
        original, quantized, {q.tensor: q.dequantized for q in tensors if q.tensor in here}, samples
    )
    rows = []
    for q in tensors:
        zero_point = constants[q.zero_point] if q.zero_point else np.uint8(0)
        measured = ranges.get(q.tensor)
        rows.append(
            {
                "tensor": q.tensor,
                "precision": str(zero_point.dtype),
                "scale": float(f"{float(np.max(constants[q.scale])):.6g}"),
                "zero_point": int(np.ravel(zero_point)[0]),
                "range": [float(f"{v:.6g}") for v in (measured.low, measured.high)] if measured else None,
                "sqnr_db": round(loud[q.tensor], 1) if q.tensor in loud else None,
                "why": "quantized by the recipe",
            }
        )
    return rows + [
        {"tensor": block.output, "precision": "float32", "layer": block.name, "why": why_float[block.name]}
        for block in blocks.find(original)
        if block.name in why_float
    ]
