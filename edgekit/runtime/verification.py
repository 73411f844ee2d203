"""Whether a package is what it was when it was made, and gives here what it gave there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgekit import manifest, metadata
from edgekit.cache import CompileCache
from edgekit.errors import EdgekitError, GateMissed, IntegrityError
from edgekit.manifest import Variant
from edgekit.runtime import caching, golden, loading, suspicion
from edgekit.runtime.golden import Replay
from edgekit.runtime.model import Model
from edgekit.runtime.providers import CPU

METADATA = "metadata.yaml"
FOUND_AGAIN = 0.9  # of the recorded objects, in the same place (IoU 0.9) and of the same class
COSINE = 0.99  # between recorded outputs and those of another provider


@dataclass(frozen=True)
class Check:
    """One thing that was looked at. `ok` is none where it could not be."""

    name: str
    ok: bool | None
    detail: str
    gate: bool = False  # a requirement, not the integrity of the package


@dataclass(frozen=True)
class Verification:
    """All checks of one package, in the order in which they matter."""

    package: Path
    target: str
    provider: str
    checks: tuple[Check, ...]

    @property
    def bad(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(c for c in self.checks if c.ok is False)

    def raise_if_bad(self) -> None:
        """Raise the first failure: IntegrityError, or GateMissed where nothing is damaged."""
        for check in sorted(self.bad, key=lambda c: c.gate):
            said = f"{self.package}: {check.name}: {check.detail}"
            if check.gate:
                raise GateMissed(said, hint="edgekit check MODEL -t TARGET says what the provider can take")
            raise IntegrityError(said, hint="copy the package again")


def verify(package: Path, *, target: str | None = None) -> Verification:
    """Hash every file of every variant, compare the three places that metadata stands in, replay golden.npz.

    Raises:
        UsageError, PackageError: there is no package here, or its manifest cannot be read.
        ProviderError: nothing in it can run on this machine.
    """
    contents = manifest.read(package)
    distinct = _distinct(contents.variants)
    files = [_files(package, variant) for variant in distinct]
    files += [check for variant in distinct for check in _compiled(variant.path(package).parent / caching.SHIPPED)]
    damaged = [c for c in files if not c.ok]
    if damaged:  # a damaged model is not opened
        first = contents.variants[0]
        return Verification(package, target or first.name, first.provider, tuple(files))
    # what was asked for is what is verified; without a target, whatever runs here
    model = loading.load(package, target=target, fallback="error" if target else "warn")
    variant = model.variant
    assert variant is not None
    checks = [
        *files,
        _metadata_props(model.session, variant),
        _metadata_yaml(package, variant),
        _golden(package, model),
        *_placement(model),
    ]
    return Verification(package, variant.name, variant.provider, tuple(checks))


def _distinct(variants: Sequence[Variant]) -> list[Variant]:
    """One variant for each directory: `cpu` shares that of another."""
    return list({v.directory: v for v in variants}.values())


def _files(package: Path, variant: Variant) -> Check:
    name = "files" if variant.directory == "." else f"files in {variant.directory}"
    try:
        manifest.check_sizes(package, variant)
    except EdgekitError as e:
        return Check(name, False, str(e))
    for file, expected in variant.files.items():
        if manifest.sha256(variant.path(package, file)) != expected.sha256:
            return Check(name, False, f"{file} is not the file that was packaged: its content has changed")
    return Check(name, True, f"{len(variant.files)} files as packaged")


def _compiled(folder: Path) -> Iterator[Check]:
    """What a package carries ready compiled; one without has nothing to check."""
    found = list(CompileCache(folder).damaged())
    if wrong := next((f"{entry.name}: {damage}" for entry, damage in found if damage), None):
        yield Check(f"{folder.name} programs", False, wrong)
    elif found:
        yield Check(f"{folder.name} programs", True, f"{len(found)} as they were compiled")


def _metadata_props(session: Any, variant: Variant) -> Check:
    name, props = f"metadata in {variant.model_file}", dict(session.get_modelmeta().custom_metadata_map)
    if different := [key for key, text in variant.model_metadata.items() if props.pop(key, None) != text]:
        return Check(name, False, f"differs from {manifest.FILE} in {', '.join(different)}")
    return _agree(name, variant.interface.metadata, metadata.parse(props))


def _metadata_yaml(package: Path, variant: Variant) -> Check:
    path = variant.path(package, METADATA)
    if not path.is_file():
        return Check(METADATA, False, "is missing")
    try:
        import yaml
    except ImportError:
        return Check(METADATA, None, "not compared: PyYAML is not installed")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as e:
        return Check(METADATA, False, f"is not YAML: {' '.join(str(e).split())}")
    return _agree(METADATA, variant.interface.metadata, data if isinstance(data, dict) else {})


def _agree(name: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> Check:
    """manifest.json decides; every key of it must stand there with the same value."""
    different = [key for key, value in expected.items() if key not in found or metadata.plain(found[key]) != value]
    different += [key for key in found if key not in expected]
    if different:
        return Check(name, False, f"differs from {manifest.FILE} in {', '.join(different)}")
    return Check(name, True, f"agrees with {manifest.FILE}")


def _golden(package: Path, model: Model) -> Check:
    """On the CPU's provider each value counts, on others the objects, or where there are none the direction."""
    variant = model.variant
    assert variant is not None
    if variant.golden is None:
        return Check("golden", None, "nothing was recorded when the package was made")
    recorded = golden.Golden.read(variant.path(package, variant.golden))
    replays = golden.replay(recorded, model)
    again = golden.found_again(recorded, model)
    objects = f", {again[0]} of {again[1]} objects found again" if again else ""
    if model.provider != CPU:
        return _in_the_tasks_terms(replays, again)
    if bad := [r for r in replays if not r.agrees]:
        return Check("golden", False, f"output {bad[0].output} for input {bad[0].input} {bad[0].reason}")
    closest = max(replays, key=lambda r: r.difference / r.tolerance if r.tolerance else r.difference, default=None)
    worst = f", largest difference {closest.difference:.2g} of {closest.tolerance:.2g} allowed" if closest else ""
    return Check("golden", True, f"{len(recorded.recorded)} inputs give what was recorded{worst}{objects}")


def _in_the_tasks_terms(replays: Sequence[Replay], again: tuple[int, int] | None) -> Check:
    """Another provider computes in another precision and order: what counts is what comes out of it."""
    if again and again[1]:
        share = again[0] / again[1]
        return Check("golden", share >= FOUND_AGAIN, f"{again[0]} of {again[1]} objects found again")
    worst = min(replays, key=lambda r: r.cosine)
    return Check(
        "golden",
        worst.cosine >= COSINE,
        f"output {worst.output} points where the recorded one does to {worst.cosine:.4f} (1 is the same)",
    )


def _placement(model: Model) -> Iterator[Check]:
    """Whether the accelerator really does the work."""
    if model.fallback:
        yield Check("placement", None, f"{model.fallback}: on the CPU")
    if model.provider == CPU:
        return
    placed = model.placement
    assert placed is not None  # another engine is never verified
    share = f"{model.provider} runs {placed.share(model.provider):.1%} of the nodes ({placed.how})"
    try:
        model.require_accelerator()
    except GateMissed as e:
        yield Check("placement", False, str(e), gate=True)
    else:
        yield Check("placement", True, share)
    if suspicion.same_as_cpu(model):
        yield Check("difference", None, "suspicious: every output is the CPU's to the last bit")
