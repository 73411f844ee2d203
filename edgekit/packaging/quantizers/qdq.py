"""int8 as QuantizeLinear and DequantizeLinear around float operators, by onnxruntime's own quantizer."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import onnx

from edgekit.errors import ModelError
from edgekit.packaging.calibration import Range
from edgekit.packaging.graph import WEIGHTED
from edgekit.packaging.passes import PassResult, copy
from edgekit.packaging.recipe import Recipe

# onnxruntime would quantize a convolution between quantized neighbours again, per tensor and in silence
SESSION_OPTIONS = {"optimization.disable_specified_optimizers": "WeightBiasQuantization"}


@dataclass(frozen=True)
class Qdq:
    """Quantize what the recipe says, with ranges that calibration found.

    Requires: opset 13 (scales per channel), unique node names, a range for each float tensor.
    Ensures: the nodes in `kept` have no quantizer at any side of theirs that another node does not need.
    """

    recipe: Recipe
    ranges: Mapping[str, Range]
    kept: frozenset[str]  # names of nodes that stay float
    tolerance: ClassVar[float | None] = None
    optional: ClassVar[bool] = False

    def __call__(self, model: onnx.ModelProto) -> PassResult:
        """Run onnxruntime's quantizer on a copy.

        Raises:
            ModelError: nothing is left to quantize.
        """
        from onnxruntime.quantization import QuantType
        from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

        weighted = [n.name for n in model.graph.node if n.op_type in WEIGHTED and n.name not in self.kept]
        if not weighted:
            raise ModelError(
                "int8 has nothing to quantize: no Conv, Gemm or MatMul is left that has constant weights",
                hint="--precision fp32",
            )
        with _quiet():
            quantizer = QDQQuantizer(
                copy(model),
                self.recipe.per_channel,
                self.recipe.reduce_range,
                QuantType.from_string(f"Q{self.recipe.weight.replace('int', 'Int').replace('u', 'U')}"),
                QuantType.from_string(f"Q{self.recipe.activation.replace('int', 'Int').replace('u', 'U')}"),
                self._tensors(),
                [],
                sorted(self.kept),
                list(self.recipe.operators),
                {},
            )
            quantizer.quantize_model()
            quantizer.model.topological_sort()  # it appends what it adds, wherever that is read
        out: onnx.ModelProto = quantizer.model.model
        del out.metadata_props[:]
        out.metadata_props.extend(model.metadata_props)
        out.producer_name, out.producer_version = model.producer_name, model.producer_version
        return PassResult(out, changed=True, notes=(f"{len(weighted)} weighted nodes in {self.recipe.weight}",))

    def _tensors(self) -> Any:
        from onnxruntime.quantization.calibrate import CalibrationMethod, TensorData, TensorsData

        data = {
            name: TensorData(lowest=np.array(r.low, np.float32), highest=np.array(r.high, np.float32))
            for name, r in self.ranges.items()
        }
        return TensorsData(CalibrationMethod.MinMax, data)


@contextmanager
def _quiet() -> Iterator[None]:
    """onnxruntime's quantizer advises on its own pre-processing; that is done here."""
    root = logging.getLogger()
    before = root.level
    root.setLevel(logging.ERROR)
    try:
        yield
    finally:
        root.setLevel(before)
