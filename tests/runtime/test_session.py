"""A session that onnxruntime refuses is explained in one sentence."""

from __future__ import annotations

import pytest

from edgekit.errors import EdgekitError, ModelError, ProviderError, UsageError
from edgekit.runtime import failures, session
from tests import toys

LOAD = "Load model from a/m.onnx failed:"
NEW_IR = (
    "/onnxruntime_src/onnxruntime/core/graph/model.cc:256 onnxruntime::Model::Model(const PathString&, bool) "
    "Unsupported model IR version: 99, max supported IR version: 14"
)


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        (f"1 : FAIL : {LOAD}{NEW_IR}", ProviderError, "m is too new for onnxruntime 1.32.0: it has IR 99, which is"),
        (f"10 : INVALID_GRAPH : {LOAD}No Op registered", ModelError, "onnxruntime 1.32.0 refuses m: No Op registered"),
        ("3 : NO_SUCHFILE : Load model from m failed. File doesn't exist", UsageError, "m does not exist"),
    ],
)
def test_what_onnxruntime_says_becomes_a_sentence(said: str, kind: type[EdgekitError], sentence: str) -> None:
    told = failures.explain(RuntimeError(f"[ONNXRuntimeError] : {said}"), "m", version="1.32.0")
    assert type(told) is kind
    assert str(told).startswith(sentence)


@pytest.mark.parametrize(("opset", "ir", "reason"), [(99, 8, "it has opset 99"), (17, 99, "it has IR 99")])
def test_a_model_that_is_too_new_is_told_by_what_is_new(opset: int, ir: int, reason: str) -> None:
    model = toys.detector(ir=ir)
    model.opset_import[0].version = opset
    with pytest.raises(ProviderError, match=reason):
        session.create(model.SerializeToString())
