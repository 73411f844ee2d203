"""Opening a package, or a bare model file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from edgekit import manifest, modelfile
from edgekit.cache import stamp
from edgekit.errors import IntegrityError
from edgekit.manifest import Variant
from edgekit.runtime import interface as interfaces
from edgekit.runtime import providers, selection, session
from edgekit.runtime.hints import Hints
from edgekit.runtime.model import Model

MODEL_SUFFIXES = (".onnx", ".ort")


def load(
    path: str | Path,
    *,
    target: str | None = None,
    session_options: Mapping[str, str] | None = None,
    hints: Hints | None = None,
) -> Model:
    """Open a model directory, or a bare .onnx or .ort file.

    Args:
        target: the variant to use; the best one for this machine if not given.
        session_options: session config entries over those of the package.
        hints: task, decoder, size, names and pre-processing of a bare file; a package carries its own.

    Raises:
        UsageError: nothing is there.
        ModelError: the file is no model that can be read, or leaves open how to decode it.
        PackageError, IntegrityError: the package is damaged or changed.
        ProviderError: nothing in it can run on this machine.
    """
    path = Path(path)
    if path.is_dir():
        return _package(path, target, session_options or {})
    return _bare(path, session_options or {}, hints or Hints())


def _package(path: Path, target: str | None, session_options: Mapping[str, str]) -> Model:
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


def _bare(path: Path, session_options: Mapping[str, str], hints: Hints) -> Model:
    modelfile.check(path)
    opened = session.create(path, session_options=session_options)
    identified = interfaces.identify(opened, hints)
    return Model(opened, identified.interface, path=path, notices=identified.guesses)
