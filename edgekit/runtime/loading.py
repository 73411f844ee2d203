"""Opening a package, or a bare model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from edgekit import manifest, modelfile
from edgekit.cache import stamp
from edgekit.errors import Frozen, IntegrityError, ProviderError, Refused, UsageError
from edgekit.manifest import Manifest, Variant
from edgekit.preprocessing import Preprocess
from edgekit.runtime import interface as interfaces
from edgekit.runtime import opening, selection, session, session_keys
from edgekit.runtime.caching import Opened
from edgekit.runtime.devices import Device
from edgekit.runtime.engines.opencv import OpenCvSession
from edgekit.runtime.failures import DOCTOR, CompiledElsewhere
from edgekit.runtime.hints import Hints
from edgekit.runtime.model import Model
from edgekit.runtime.opening import Opening, ProviderLike
from edgekit.runtime.providers import CPU
from edgekit.runtime.request import Request
from edgekit.runtime.selection import Machine

Fallback = Literal["warn", "error"]


@dataclass(frozen=True)
class Wish:
    """How a model is to be run."""

    target: str | None = None
    device: Device = field(default_factory=Device)
    providers: Sequence[ProviderLike] | None = None
    session_options: Mapping[str, str] | Any = None
    threads: int | None = None
    fallback: Fallback = "warn"
    frozen: bool = False


def load(
    path: str | Path,
    *,
    target: str | None = None,
    device: str = "auto",
    providers: Sequence[ProviderLike] | None = None,
    session_options: Mapping[str, str] | Any = None,
    threads: int | None = None,
    fallback: Fallback = "warn",
    engine: Literal["onnxruntime", "opencv"] = "onnxruntime",
    frozen: bool = False,
    task: str | None = None,
    decoder: str | None = None,
    imgsz: int | tuple[int, int] | None = None,
    names: str | Path | Mapping[int, str] | list[str] | None = None,
    preprocess: str | Path | Preprocess | None = None,
) -> Model:
    """Open a model directory, or a bare .onnx or .ort file.

    Args:
        target: the variant to use; the best one for this machine if not given.
        device: auto, cpu, cuda[:n], mps, dml, npu or rocm[:n].
        providers: onnxruntime's execution providers, each a name or (name, options), in place of the variant's own.
        session_options: session config entries over those of the package, or an `onnxruntime.SessionOptions`, which
            is taken as it is.
        threads: of one operator; as many as this process may use if not given.
        fallback: where the target, the device or the provider that is asked for cannot be had: "warn" runs on the CPU
            and says so in `Model.fallback`, "error" raises.
        engine: what runs a package's model. "opencv" is cv2.dnn on the CPU, and needs no onnxruntime.
        frozen: never compile here: what is not in the compile cache is an error. So does EDGEKIT_FROZEN=1.
        task, decoder, imgsz, names, preprocess: what a bare file does not say itself, as for `edgekit.package`. A
            package carries its own.

    Raises:
        UsageError: nothing is there, a package is given what it carries itself, or an option is unknown.
        ModelError: the file is no model that can be read, or leaves open how to decode it.
        PackageError, IntegrityError: the package is damaged or changed.
        ProviderError: nothing in it can run on this machine, or not where it was asked to.
        Frozen: it would have to be compiled, and `frozen` forbids that.
    """
    path = Path(path)
    if fallback not in ("warn", "error"):
        raise UsageError(f'fallback is "warn" or "error", not {fallback!r}')
    wish = Wish(target, Device.parse(device), providers, session_options, threads, fallback, frozen)
    if engine == "opencv":
        return _with_opencv(path, wish)
    hints = Hints.of(task=task, decoder=decoder, imgsz=imgsz, names=names, preprocess=preprocess)
    if not path.is_dir():
        return _bare(path, wish, hints)
    if hints != Hints():
        raise UsageError(
            f"{path} is a package, which carries its own task, decoder, size, names and pre-processing",
            hint="edgekit package MODEL -t TARGET with these options",
        )
    return _package(path, wish)


def _package(path: Path, wish: Wish) -> Model:
    contents = manifest.read(path)
    if wish.providers is not None:
        variant = _model_for(contents, wish)
        check_content(path, variant)
        return _explicit(path, wish, _session_options(variant, wish), variant)
    machine = Machine(opening.available(contents), session.onnxruntime().__version__)
    choice = selection.choose(contents, machine, target=wish.target, device=wish.device)
    if choice.missed and wish.fallback == "error":
        raise ProviderError(choice.missed, hint=f"{DOCTOR} {wish.target}" if wish.target else DOCTOR)
    causes = [choice.missed] if choice.missed else []
    for variant in choice.candidates:
        asked = _opening(path, variant, wish)
        try:
            ready = asked.open()
        except (Refused, Frozen):
            raise
        except ProviderError as e:
            if wish.fallback == "error" or variant is choice.candidates[-1]:
                raise
            causes.append(str(e))
            continue
        passed = [f"variant {n} passed over: {r}" for n, r in choice.passed_over if n != manifest.GENERIC]
        return Model(
            ready.session,
            variant.interface,
            path=path,
            opening=asked,
            variant=variant,
            notices=[] if causes else passed,
            fallback="; ".join(causes) or None,
            cache=ready.use,
        )
    raise AssertionError("a choice has a candidate")


def plan(
    path: Path,
    *,
    target: str | None = None,
    device: str = "auto",
    providers: Sequence[ProviderLike] | None = None,
) -> Opening:
    """What `load` would open first, without opening it.

    Raises:
        EdgekitError: as for `load`.
    """
    wish = Wish(target, Device.parse(device), providers)
    if not path.is_dir():
        modelfile.check(path)
        return _as_named(path, wish, wish.session_options or {}, None)
    contents = manifest.read(path)
    if providers is not None:
        variant = _model_for(contents, wish)
        check_content(path, variant)
        return _as_named(path, wish, _session_options(variant, wish), variant)
    machine = Machine(opening.available(contents), session.onnxruntime().__version__)
    return _opening(path, selection.choose(contents, machine, target=target, device=wish.device).candidates[0], wish)


def _opening(path: Path, variant: Variant, wish: Wish) -> Opening:
    request = opening.of_variant(path, variant, wish.device.index)
    check_content(path, variant)
    options = _session_options(variant, wish)
    return Opening(
        variant.path(path), (request,), options, variant.environment, wish.threads, wish.frozen, _label(path, variant)
    )


def _label(path: Path, variant: Variant | None) -> str:
    """What the user calls a model."""
    name = path.resolve().name
    return name if variant is None or variant.name in name else f"{name} {variant.name}"


def _bare(path: Path, wish: Wish, hints: Hints) -> Model:
    modelfile.check(path)
    if wish.target is not None:
        raise UsageError(f"{path} is a model file: it has no variants to choose from", hint="--device, or --provider")
    return _explicit(path, wish, wish.session_options or {}, None, hints)


def _model_for(contents: Manifest, wish: Wish) -> Variant:
    """The variant whose model runs on the providers that the user names."""
    assert wish.providers is not None
    if wish.target is not None:
        return selection.named(contents, wish.target)
    names = [one if isinstance(one, str) else one[0] for one in wish.providers]
    made_for = (v for v in contents.variants if v.provider in names[:1] and v.provider != CPU)
    return next(made_for, contents.variant(manifest.GENERIC) or contents.variants[0])


def _explicit(path: Path, wish: Wish, options: Any, variant: Variant | None, hints: Hints | None = None) -> Model:
    """A session on the providers or the device that the user names; on the CPU as `fallback` allows."""
    cause = None
    try:
        opened, ready = _opened(_as_named(path, wish, options, variant), wish)
    except (Refused, Frozen):
        raise
    except ProviderError as e:
        if wish.fallback == "error" or (wish.providers is None and wish.device.kind in ("auto", "cpu")):
            raise
        model = variant.path(path) if variant else path
        cause, opened = str(e), Opening(model, (Request(),), options, {}, wish.threads)
        ready = opened.open()
    given: dict[str, Any] = {"path": path, "opening": opened, "fallback": cause, "cache": ready.use}
    if variant is not None:
        return Model(ready.session, variant.interface, variant=variant, **given)
    found = interfaces.identify(ready.session, hints or Hints())
    return Model(ready.session, found.interface, notices=found.guesses, **given)


def _as_named(path: Path, wish: Wish, options: Any, variant: Variant | None) -> Opening:
    """The providers or the device that the user names, over the variant's options where it is made for the first."""
    requests = opening.of_user(wish.providers) if wish.providers is not None else opening.of_device(wish.device)
    model, environment = path, {}
    if variant is not None:
        model = variant.path(path)
        if requests[0].provider == variant.provider:
            requests = (opening.over_variant(path, variant, requests[0]), *requests[1:])
            environment = dict(variant.environment)
    return Opening(model, requests, options, environment, wish.threads, wish.frozen, _label(path, variant))


def _opened(opened: Opening, wish: Wish) -> tuple[Opening, Opened]:
    """The session; a model that holds a program of another provider is given to that one, unless it is said who."""
    try:
        return opened, opened.open()
    except CompiledElsewhere as e:
        if wish.providers is not None or wish.device.kind != "auto":
            raise
        try:
            requests = opening.of_user([e.provider])
        except ProviderError as missing:
            raise e from missing
        opened = replace(opened, requests=requests)
        return opened, opened.open()


def _session_options(variant: Variant, wish: Wish) -> Any:
    """The package's config entries, and over them the user's; a whole `SessionOptions` takes the place of both."""
    given = wish.session_options
    session_keys.check_portable(variant.session_options, variant.name)
    return {**variant.session_options, **(given or {})} if given is None or isinstance(given, Mapping) else given


def _with_opencv(path: Path, wish: Wish) -> Model:
    """The package's model on cv2.dnn. onnxruntime's devices and options mean nothing to it."""
    if not path.is_dir():
        raise UsageError(
            f"{path}: OpenCV does not tell what a model file takes and gives, a package does",
            hint=f"edgekit package {path} -t cpu",
        )
    if wish.providers is not None or wish.device.kind not in ("auto", "cpu") or wish.session_options:
        raise UsageError("--engine opencv runs on the CPU and takes no provider, device or session option")
    contents = manifest.read(path)
    named = wish.target or manifest.GENERIC
    variant = selection.named(contents, named) if wish.target or contents.variant(named) else contents.variants[0]
    check_content(path, variant)
    ready = OpenCvSession(variant.path(path), variant.interface)
    return Model(ready, variant.interface, path=path, variant=variant)


def check_content(package: Path, variant: Variant) -> None:
    """Compare sizes, and digests through their stamps, with what was packaged.

    Raises:
        IntegrityError: a file is missing or changed; the message names it.
    """
    manifest.check_sizes(package, variant)
    for name, expected in variant.files.items():
        path = variant.path(package, name)
        if stamp.sha256(path) != expected.sha256:
            raise IntegrityError(
                f"{path} is not the file that was packaged: its content has changed", hint="copy the package again"
            )
