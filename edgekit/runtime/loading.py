"""Opening a package, or a bare model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgekit import manifest, modelfile
from edgekit.cache import stamp
from edgekit.errors import IntegrityError, UsageError
from edgekit.manifest import Variant
from edgekit.preprocessing import Preprocess
from edgekit.runtime import interface as interfaces
from edgekit.runtime import providers, selection, session
from edgekit.runtime.hints import Hints
from edgekit.runtime.model import Model


def load(
    path: str | Path,
    *,
    target: str | None = None,
    session_options: Mapping[str, str] | None = None,
    threads: int | None = None,
    task: str | None = None,
    decoder: str | None = None,
    imgsz: int | tuple[int, int] | None = None,
    names: str | Path | Mapping[int, str] | list[str] | None = None,
    preprocess: str | Path | Preprocess | None = None,
) -> Model:
    """Open a model directory, or a bare .onnx or .ort file.

    Args:
        target: the variant to use; the best one for this machine if not given.
        session_options: session config entries over those of the package.
        threads: of one operator; as many as this process may use if not given.
        task, decoder, imgsz, names, preprocess: what a bare file does not say itself, as for `edgekit.package`. A
            package carries its own.

    Raises:
        UsageError: nothing is there, or a package is given what it carries itself.
        ModelError: the file is no model that can be read, or leaves open how to decode it.
        PackageError, IntegrityError: the package is damaged or changed.
        ProviderError: nothing in it can run on this machine.
    """
    path = Path(path)
    hints = Hints.of(task=task, decoder=decoder, imgsz=imgsz, names=names, preprocess=preprocess)
    if not path.is_dir():
        return _bare(path, session_options or {}, threads, hints)
    if hints != Hints():
        raise UsageError(
            f"{path} is a package, which carries its own task, decoder, size, names and pre-processing",
            hint="edgekit package MODEL -t TARGET with these options",
        )
    return _package(path, target, session_options or {}, threads)


def _package(path: Path, target: str | None, session_options: Mapping[str, str], threads: int | None) -> Model:
    contents = manifest.read(path)
    ort = session.onnxruntime()
    choice = selection.choose(
        contents, target=target, available=ort.get_available_providers(), onnxruntime=ort.__version__
    )
    variant = choice.variant
    providers.check(variant)
    check_content(path, variant)
    opened = session.create(
        variant.path(path),
        provider=variant.provider,
        provider_options=variant.provider_options,
        session_options={**variant.session_options, **session_options},
        threads=threads,
    )
    notices = [
        f"variant {name} passed over: {reason}" for name, reason in choice.passed_over if name != manifest.GENERIC
    ]
    return Model(opened, variant.interface, path=path, variant=variant, notices=notices)


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


def _bare(path: Path, session_options: Mapping[str, str], threads: int | None, hints: Hints) -> Model:
    modelfile.check(path)
    opened = session.create(path, session_options=session_options, threads=threads)
    identified = interfaces.identify(opened, hints)
    return Model(opened, identified.interface, path=path, notices=identified.guesses)
