"""The model as it arrives: an .onnx file, with its external data, checked before anything is built on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import onnx
from google.protobuf.message import DecodeError

from edgekit import manifest, modelfile
from edgekit.errors import ModelError

LIMIT = 2**31 - 1  # of one protobuf message; onnx and onnxruntime share it


@dataclass(frozen=True)
class Source:
    """A checked model, its weights in memory."""

    path: Path
    model: onnx.ModelProto
    sha256: str  # of the .onnx file
    external: tuple[str, ...]  # names of external data files, beside the model

    @property
    def description(self) -> Description:
        """What the model is."""
        return describe(self.model)


@dataclass(frozen=True)
class Description:
    """What a model is, in figures."""

    opset: int
    ir: int
    producer: str
    operators: Mapping[str, int]
    bytes: int

    @property
    def nodes(self) -> int:
        """Nodes, those in subgraphs included."""
        return sum(self.operators.values())


def load(path: Path) -> Source:
    """Read an .onnx file and its external data.

    Raises:
        ModelError: the file, or its external data, is missing, truncated, outside the model's folder, a Git LFS
            pointer, or fails the ONNX checker.
    """
    modelfile.check(path)
    try:
        model = onnx.load(path, load_external_data=False)
    except DecodeError as e:
        raise ModelError(f"{path} is truncated or damaged: {modelfile.FETCH_AGAIN}") from e
    if not model.graph.node and not model.graph.output:
        raise ModelError(f"{path} holds no graph: {modelfile.FETCH_AGAIN}")
    external = tuple(sorted({_check_external(path, tensor) for tensor in _external_tensors(model)}))
    total = path.stat().st_size + sum((path.parent / name).stat().st_size for name in external)
    if total > LIMIT:
        raise ModelError(
            f"{path} is {total / 2**30:.1f} GiB with its external data: more than 2 GiB cannot be packaged"
        )
    if external:
        onnx.external_data_helper.load_external_data_for_model(model, str(path.parent))
        for tensor in _tensors(model.graph):  # the weights are inside now
            tensor.ClearField("external_data")
            tensor.ClearField("data_location")
    _check(path, model)
    return Source(path, model, manifest.sha256(path), external)


def describe(model: onnx.ModelProto) -> Description:
    """Count and measure a model."""
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    operators = Counter(node.op_type for node in nodes(model.graph))
    producer = f"{model.producer_name} {model.producer_version}".strip()
    return Description(opset, model.ir_version, producer, dict(sorted(operators.items())), model.ByteSize())


def nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """All nodes, those in subgraphs included."""
    for node in graph.node:
        yield node
        for subgraph in _subgraphs(node):
            yield from nodes(subgraph)


def _subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _check(path: Path, model: onnx.ModelProto) -> None:
    """The ONNX checker's verdict, in one line."""
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as e:
        reason = str(e).strip().splitlines()[0]
        raise ModelError(f"{path} is not valid ONNX: {reason}", hint="export it again with a current exporter") from e


def _external_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    return (t for t in _tensors(model.graph) if t.data_location == onnx.TensorProto.EXTERNAL)


def _tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
        for subgraph in _subgraphs(node):
            yield from _tensors(subgraph)


def _check_external(path: Path, tensor: onnx.TensorProto) -> str:
    """The name of a tensor's external file, once it is known to hold the tensor."""
    entries = {e.key: e.value for e in tensor.external_data}
    location = entries.get("location", "")
    pure = PurePosixPath(location)
    data = path.parent / location
    inside = not pure.is_absolute() and ".." not in pure.parts and data.resolve().is_relative_to(path.parent.resolve())
    if not location or not inside:
        raise ModelError(f"{path}: the weights of {tensor.name} are in {location!r}, outside the model's folder")
    if not data.is_file():
        raise ModelError(f"{path}: its external data {location} is missing", hint=f"put {location} beside {path.name}")
    with data.open("rb") as file:
        if file.read(len(modelfile.LFS_POINTER)) == modelfile.LFS_POINTER:
            raise ModelError(f"{path}: its external data {location} is a Git LFS pointer", hint=modelfile.FETCH_LFS)
    end = int(entries.get("offset") or 0) + int(entries.get("length") or 0)
    if end > data.stat().st_size:
        raise ModelError(
            f"{path}: its external data {location} is truncated: {tensor.name} ends at byte {end}, "
            f"the file has {data.stat().st_size}: {modelfile.FETCH_AGAIN}"
        )
    return str(location)
