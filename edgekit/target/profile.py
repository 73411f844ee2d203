"""What a target is. The fields are the keys of its YAML file, their types are what the file is checked against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from edgekit.errors import TargetError
from edgekit.target import schema
from edgekit.target.inheritance import merge
from edgekit.target.problem import dotted, nearest
from edgekit.target.schema import Form

Name = Annotated[str, Form(r"[a-z0-9][a-z0-9._-]*", "small letters, digits, '.', '_' and '-'")]
Version = Annotated[str, Form(r"\d+(\.\d+)+", "a version such as 1.22.0")]
Range = Annotated[str, Form(r"(>=|<|==)\d+(\.\d+)*(, *(>=|<|==)\d+(\.\d+)*)*", "a range such as >=1.17,<2")]
Count = Annotated[int, Form(r"[1-9]\d*", "a whole number from 1")]
PrecisionName = Literal["fp32", "fp16", "int8"]
IntegerType = Literal["int8", "uint8", "int16", "uint16"]


@dataclass(frozen=True)
class Plugin:
    """A provider that comes as a Python package of its own and is registered before use."""

    module: str
    preload: tuple[str, ...] = ()  # shared libraries that the package needs and does not load itself


@dataclass(frozen=True)
class BuiltIn:
    """The provider of a plugin as some builds of onnxruntime have it inside: its options have other names there."""

    options: Mapping[str, str] = field(default_factory=dict)
    versions: Range | None = None


@dataclass(frozen=True)
class Provider:
    """The onnxruntime execution provider that runs the model."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)  # may hold ${package}, ${cache}, ${model_stem}
    plugin: Plugin | None = None  # none for one that is built into onnxruntime
    versions: Range | None = None  # of the provider's own releases, that the options are written for
    built_in: BuiltIn | None = None  # with `plugin`: what to ask where onnxruntime itself has the provider


@dataclass(frozen=True)
class Precision:
    """What a model may be computed in.

    Law: `default` is one of `allowed`.
    """

    default: PrecisionName
    allowed: tuple[PrecisionName, ...]

    def __post_init__(self) -> None:
        if self.default not in self.allowed:
            raise ValueError(f"default {self.default} is not among allowed: {', '.join(self.allowed) or 'none'}")


@dataclass(frozen=True)
class Scheme:
    """How int8 is done."""

    activation: IntegerType = "uint8"
    weight: IntegerType = "int8"
    per_channel: bool = False  # weights: a scale per output channel rather than per tensor
    reduce_range: bool = False  # weights of 7 bits, for processors that add up int8 products in 16 bits
    operators: tuple[str, ...] = ("Conv", "Gemm", "MatMul")  # what is quantized; the rest stays float
    options: Mapping[str, str] = field(default_factory=dict)  # for the quantizer's own tool


@dataclass(frozen=True)
class Limits:
    """What a model must keep to. None and empty: nothing is known that limits it."""

    opset_min: Count | None = None
    opset_max: Count | None = None  # also of what the oldest onnxruntime in `Target.onnxruntime` reads
    ir_max: Count | None = None
    static_shapes: bool = False  # no free dimensions
    batch: Count | None = None  # the only batch size
    rank_max: Count | None = None
    dtypes: tuple[str, ...] = ()  # of inputs and outputs, as numpy names them
    external_data: bool = True  # whether weights may be in files beside the model
    supported_operators: tuple[str, ...] | None = None  # none, and no `operator_list`: no list is known
    operator_list: Name | None = None  # the same in a file of its own: operators/NAME.yaml
    forbidden_operators: tuple[str, ...] = ()  # the graph ends before them, where the runtime can do the rest

    def __post_init__(self) -> None:
        if self.opset_min and self.opset_max and self.opset_min > self.opset_max:
            raise ValueError(f"opset_min {self.opset_min} is above opset_max {self.opset_max}")
        if self.supported_operators is not None and self.operator_list:
            raise ValueError("supported_operators and operator_list say the same: keep one")


@dataclass(frozen=True)
class Image:
    """An operating system image, and what its onnxruntime is."""

    onnxruntime: Version
    providers: tuple[str, ...]
    opset_max: Count | None = None
    ir_max: Count | None = None
    unsupported: str | None = None  # why edgekit does not run on it
    profile: Name | None = None  # what holds on it instead of this one: an abstract profile, under this one's name
    override: Mapping[str, Any] = field(default_factory=dict, metadata={"partial": True})  # keys that differ on it


@dataclass(frozen=True)
class Variation:
    """What differs in one precision: some compilers take other options, and other operators, for int8."""

    override: Mapping[str, Any] = field(default_factory=dict, metadata={"partial": True})  # keys that differ


@dataclass(frozen=True)
class Fact:
    """Something true about the board, and who says so."""

    value: str
    source: str


@dataclass(frozen=True)
class Meaning:
    """One of the things that an ambiguous name could mean."""

    what: str
    targets: tuple[Name, ...] = ()


@dataclass(frozen=True)
class Target:
    """A board and its provider: what packaging aims at.

    Law: `Target.from_dict(t.to_dict()) == t`, for a target that is not pinned.
    """

    name: Name  # also the name of its file, without .yaml
    title: str
    provider: Provider
    precision: Precision
    extends: Name | None = None  # the profile whose keys it takes over; a null takes one of them away
    abstract: bool = False  # a parent of other profiles, or a refused name; no target by itself
    meanings: tuple[Meaning, ...] = ()  # with `abstract`: the name is refused, and this is what it could mean
    aliases: tuple[Name, ...] = ()  # where targets share one, it means the one for this machine's architecture
    family: str = ""
    architecture: tuple[str, ...] = ()  # as `platform.machine()` names them; empty: any
    device: Literal["cpu", "gpu", "npu"] = "cpu"
    note: str = ""  # what a user must know before choosing it
    quantizer: Literal["qdq", "mct", "quark"] | None = None  # what makes its int8
    scheme: Scheme | None = None
    limits: Limits = Limits()
    by_precision: Mapping[PrecisionName, Variation] = field(default_factory=dict)
    onnxruntime: Range = ">=1.17"
    session_options: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)  # set before the provider is loaded
    cache: Literal["none", "directory", "context"] = "none"  # compiling leaves: nothing, files, an EPContext model
    files: Mapping[str, str] = field(default_factory=dict)  # name in the package: what it holds
    model_metadata: Mapping[str, str] = field(default_factory=dict)  # written into the model; ${sha256}: the model's
    images: Mapping[str, Image] = field(default_factory=dict)  # NAME@IMAGE pins one
    facts: Mapping[str, Fact] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)  # key, such as limits.opset_max: who says so
    image: str | None = field(default=None, metadata={"derived": True})  # the one that it is pinned to
    file: Path | None = field(default=None, compare=False, metadata={"derived": True})

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as a YAML file would have it; keys without a value are left out."""
        data: dict[str, Any] = _plain(self)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Target:
        """Read what `to_dict` wrote.

        Raises:
            TargetError: a key or a value is wrong; the message names the first.
        """
        target, flaws = schema.build(cls, data)
        if flaws:
            raise TargetError(f"{data.get('name', 'profile')}: {dotted(flaws[0].key)}: {flaws[0].message}")
        built: Target = target
        return built

    def pinned(self, image: str) -> Target:
        """This target on one operating system image: its limits, its onnxruntime, its overrides.

        Raises:
            TargetError: there is no such image, it is not supported, or its onnxruntime lacks the provider.
        """
        pin = f"{self.name}@{image}"
        carried = self.images.get(image)
        if carried is None:
            known = ", ".join(self.images)
            raise TargetError(
                f"{self.name} has no image {image!r}, "
                + (f"it has {known}" if known else "it cannot be pinned to one"),
                hint=f"{self.name}@{near}"
                if (near := nearest(image, self.images))
                else f"edgekit targets show {self.name}",
            )
        if carried.unsupported:
            raise TargetError(
                f"{pin} is not supported: {carried.unsupported}", hint=f"edgekit targets show {self.name}"
            )
        target = self._with(carried.override)
        if target.provider.name not in carried.providers:
            raise TargetError(
                f"{pin} has no {target.provider.name}: its onnxruntime {carried.onnxruntime} carries "
                f"{', '.join(carried.providers) or 'no provider'}"
            )
        limits = replace(
            target.limits,
            opset_max=_lowest(target.limits.opset_max, carried.opset_max),
            ir_max=_lowest(target.limits.ir_max, carried.ir_max),
        )
        wanted = f">={carried.onnxruntime}"
        return replace(target, limits=limits, onnxruntime=wanted, image=image)

    def in_precision(self, precision: str) -> Target:
        """This target as it is for models of one precision.

        Raises:
            TargetError: what the profile overrides there makes no target.
        """
        variation = self.by_precision.get(precision)  # type: ignore[call-overload]
        return self._with(variation.override) if variation else self

    def _with(self, override: Mapping[str, Any]) -> Target:
        return replace(Target.from_dict(merge(self.to_dict(), override)), image=self.image, file=self.file)


def _lowest(*numbers: int | None) -> int | None:
    return min((n for n in numbers if n is not None), default=None)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        pairs = ((name, getattr(value, name)) for name in schema.given_fields(type(value)))
        return {name: _plain(v) for name, v in pairs if v is not None}
    if isinstance(value, Mapping):
        return {name: _plain(v) for name, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
