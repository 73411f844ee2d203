"""The model directory on disk: manifest.json, read, written and checked. Standard library only.

The layout is an ONNX Runtime model package, schema 1.0 (microsoft/onnxruntime model_package/README.md): one component,
`model`, with a variant per target. What onnxruntime does not know of stands in `executor_info.edgekit`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path, PurePosixPath
from typing import Any

from edgekit import metadata
from edgekit.errors import EdgekitError, IntegrityError, PackageError, UsageError
from edgekit.preprocessing import Preprocess

FILE = "manifest.json"
COMPONENT = "model"
GENERIC = "cpu"  # the variant that any machine's CPU provider can run
SCHEMA_VERSION = "1.0"
OURS = "edgekit.variant/1"


@dataclass(frozen=True)
class TensorSpec:
    """One input or output. A free dimension is its name, or -1 where it has none."""

    name: str
    dtype: str  # as numpy names it
    shape: tuple[int | str, ...]
    role: str = "tensor"  # "image", "size" (the image's width and height), or "tensor"


@dataclass(frozen=True)
class Interface:
    """What a model takes and gives, and how to read it."""

    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    task: str
    decoder: str | None  # none for raw
    decoder_options: Mapping[str, Any] = field(default_factory=dict)
    preprocess: Preprocess | None = None  # none where no input is an image
    postprocess: Mapping[str, Any] = field(default_factory=dict)  # defaults of tasks.predictions.Settings
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the Ultralytics keys


@dataclass(frozen=True)
class FileRecord:
    """What a file was when the package was made."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Variant:
    """One target's model inside a package: all that the board needs to run it."""

    name: str
    directory: str  # below the package; "." for a package with a single target
    model_file: str
    target: str
    provider: str
    precision: str
    interface: Interface
    device: str = "cpu"
    architectures: tuple[str, ...] = ()  # as `platform.machine()` names them; empty: any
    provider_options: Mapping[str, str] = field(default_factory=dict)
    plugin_module: str = ""  # the Python module that brings the provider; empty for one built into onnxruntime
    preload: tuple[str, ...] = ()  # shared libraries that the plugin needs and does not load itself
    built_in: Mapping[str, str] | None = None  # the options where onnxruntime itself has the plugin's provider
    session_options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    cache: str = "none"
    model_metadata: Mapping[str, str] = field(default_factory=dict)  # in the model, beside the Ultralytics keys
    requirements: Mapping[str, str] = field(default_factory=dict)  # onnxruntime range, opset, ir, image
    files: Mapping[str, FileRecord] = field(default_factory=dict)  # by path below `directory`
    golden: str | None = None  # file below `directory`
    weighted_nodes: int = 0  # Conv, Gemm and MatMul of the model
    least_placement: float | None = None  # the part of them that the provider must take, 0..1; None: not known
    created_by: str = ""

    def path(self, package: Path, file: str | None = None) -> Path:
        """Where a file of this variant is; its model if no file is named."""
        return package / self.directory / (file or self.model_file)


@dataclass(frozen=True)
class Manifest:
    """The variants of a package, in the order in which onnxruntime looks at them."""

    variants: tuple[Variant, ...]

    def variant(self, name: str) -> Variant | None:
        """The variant with this name."""
        return next((v for v in self.variants if v.name == name), None)

    def to_json(self) -> str:
        """The text of manifest.json; the order of variants has a meaning and is kept."""
        variants = {v.name: _variant_to_dict(v) for v in self.variants}
        data = {"schema_version": SCHEMA_VERSION, "components": {COMPONENT: {"variants": variants}}}
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read manifest.json.

        Raises:
            PackageError: it is not JSON, of another schema, lacks a key, or names a file outside the package.
        """
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as e:
            raise PackageError(f"{FILE} is not JSON: {e}") from e
        if not isinstance(data, dict) or data.get("schema_version") != SCHEMA_VERSION:
            found = data.get("schema_version") if isinstance(data, dict) else None
            raise PackageError(f"{FILE} has schema_version {found!r}, this edgekit reads {SCHEMA_VERSION!r}")
        try:
            variants = data["components"][COMPONENT]["variants"]
            return cls(tuple(_variant_from_dict(name, v) for name, v in variants.items()))
        except EdgekitError:
            raise
        except KeyError as e:
            raise PackageError(f"{FILE} lacks the key {e.args[0]!r}") from e
        except (TypeError, AttributeError, ValueError) as e:
            raise PackageError(f"{FILE} is damaged: {e}") from e


def read(package: Path) -> Manifest:
    """The manifest of a model directory.

    Raises:
        UsageError: there is no such folder, or it holds no manifest.
        PackageError: the manifest cannot be read.
    """
    path = package / FILE
    if not package.is_dir():
        raise UsageError(f"{package} does not exist" if not package.exists() else f"{package} is not a model directory")
    if not path.is_file():
        raise UsageError(
            f"{package} is not a model directory: it has no {FILE}", hint="edgekit package MODEL -t TARGET"
        )
    try:
        return Manifest.from_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as e:
        raise PackageError(f"{path} is not text: {e.reason}") from e
    except EdgekitError as e:
        raise PackageError(
            f"{package}: {e}", hint="copy the package again, or make it anew with edgekit package"
        ) from e


def sha256(path: Path) -> str:
    """Digest of a file's content, in blocks: a model may be larger than memory."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def record(path: Path) -> FileRecord:
    """What this file is now."""
    return FileRecord(path.stat().st_size, sha256(path))


def check_sizes(package: Path, variant: Variant) -> None:
    """Compare the size of each file with what was recorded: quick, done at each start.

    Raises:
        IntegrityError: a file is missing or has another size; the message names it.
    """
    for name, expected in variant.files.items():
        path = variant.path(package, name)
        if not path.is_file():
            raise IntegrityError(f"{path} is missing", hint="copy the package again")
        size = path.stat().st_size
        if size != expected.size:
            raise IntegrityError(
                f"{path} has {size} bytes, {expected.size} were packaged", hint="copy the package again"
            )


def _variant_to_dict(variant: Variant) -> dict[str, Any]:
    skip = {"name", "directory", "model_file", "session_options", "interface"}
    ours = {f.name: _plain(getattr(variant, f.name)) for f in fields(variant) if f.name not in skip}
    interface = {f.name: _plain(getattr(variant.interface, f.name)) for f in fields(Interface)}
    session_options = dict(variant.session_options)
    return {
        "variant_directory": variant.directory,
        "ep": variant.provider,
        "executor_info": {
            # provider options stay in our part: onnxruntime refuses them for providers without plugin devices
            "ort": {
                "model_file": variant.model_file,
                **({"session_options": session_options} if session_options else {}),
            },
            "edgekit": {"schema": OURS, **ours, **interface},
        },
    }


def _plain(value: Any) -> Any:
    """Plain data for JSON."""
    if isinstance(value, Preprocess):
        return value.to_dict()
    if isinstance(value, (TensorSpec, FileRecord)):
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _variant_from_dict(name: str, data: Mapping[str, Any]) -> Variant:
    ort, ours = data["executor_info"]["ort"], data["executor_info"]["edgekit"]
    if ours.get("schema") != OURS:
        raise PackageError(f"variant {name} has schema {ours.get('schema')!r}, this edgekit reads {OURS!r}")
    names = {f.name for f in fields(Variant)} & set(ours)
    values = {key: ours[key] for key in names}
    for key in ("architectures", "preload"):
        values[key] = tuple(str(v) for v in ours.get(key, ()))
    values["files"] = {_inside(k): FileRecord(int(v["size"]), str(v["sha256"])) for k, v in ours["files"].items()}
    for key in ("provider_options", "environment", "model_metadata", "requirements"):
        values[key] = {str(k): str(v) for k, v in ours.get(key, {}).items()}
    if ours.get("built_in") is not None:
        values["built_in"] = {str(k): str(v) for k, v in ours["built_in"].items()}
    if ours.get("golden"):
        values["golden"] = _inside(ours["golden"])
    return Variant(
        name=name,
        directory=_inside(data["variant_directory"]),
        model_file=_inside(ort["model_file"]),
        session_options={str(k): str(v) for k, v in ort.get("session_options", {}).items()},
        interface=_interface_from_dict(ours),
        **values,
    )


def _interface_from_dict(data: Mapping[str, Any]) -> Interface:
    def specs(items: list[Mapping[str, Any]]) -> tuple[TensorSpec, ...]:
        return tuple(TensorSpec(i["name"], i["dtype"], tuple(i["shape"]), i.get("role", "tensor")) for i in items)

    return Interface(
        inputs=specs(data["inputs"]),
        outputs=specs(data["outputs"]),
        task=data["task"],
        decoder=data["decoder"],
        decoder_options=dict(data["decoder_options"]),
        preprocess=Preprocess.from_dict(data["preprocess"]) if data["preprocess"] else None,
        postprocess=dict(data["postprocess"]),
        metadata={key: metadata.from_json(value) for key, value in data["metadata"].items()},
    )


def _inside(path: str) -> str:
    """A relative path that stays below its folder, as written."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or "\\" in path or ":" in path or not path:
        raise PackageError(f"{FILE} names a file outside the package: {path}")
    return path
