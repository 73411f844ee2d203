"""From what is asked of a package or a file to a session: which provider, which options, and what if it fails."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from edgekit.cache import limits
from edgekit.errors import EdgekitError, Refused, UsageError
from edgekit.manifest import Manifest, Variant
from edgekit.runtime import caching, failures, placeholders, providers, session
from edgekit.runtime.caching import Opened
from edgekit.runtime.devices import PROVIDERS, Device
from edgekit.runtime.plugins import Plugin
from edgekit.runtime.providers import CPU, TABLES
from edgekit.runtime.request import Request

ProviderLike = str | tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Opening:
    """A model file and all that its session is made with, so that it can be made again."""

    model: Path
    requests: tuple[Request, ...] = (Request(),)
    session_options: Mapping[str, str] | Any = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)  # for the provider; what the user has set stays
    threads: int | None = None
    frozen: bool = False  # nothing may be compiled here
    label: str = ""  # what the user calls the model

    @property
    def provider(self) -> str:
        """The one that is to do the work."""
        return self.requests[0].provider

    @property
    def forbids_compiling(self) -> bool:
        """Whether nothing may be compiled here, as the caller or the environment says."""
        return self.frozen or limits.frozen()

    def open(self, profile: Path | None = None) -> Opened:
        """Make the session, with what the compile cache holds for it.

        Args:
            profile: as for `session.create`.

        Raises:
            EdgekitError: as for `session.create`; or it would have to be compiled, and must not be.
        """
        for name, value in self.environment.items():
            os.environ.setdefault(name, value)

        def create(model: Path, requests: tuple[Request, ...], compiled: Path | None) -> Any:
            if compiled is not None:
                session.compile_to(compiled, model, requests, self.session_options, self.threads)
                model = compiled
            return session.create(
                model, requests, session_options=self.session_options, threads=self.threads, profile=profile
            )

        return caching.with_cache(session.onnxruntime(), self, create)

    def session(self, profile: Path | None = None) -> Any:
        """The session alone; see `open`."""
        return self.open(profile).session


def available(package: Manifest) -> tuple[str, ...]:
    """The providers in this onnxruntime, and the Python modules of the package's plugins that are installed."""
    modules = {v.plugin_module for v in package.variants if v.plugin_module.isidentifier()}
    return (*session.onnxruntime().get_available_providers(), *(m for m in modules if Plugin(m).installed))


def of_variant(package: Path, variant: Variant, index: int | None = None) -> Request:
    """What a variant asks for, its placeholders filled in.

    Raises:
        Refused: it asks for what its provider does not know.
    """
    try:
        providers.check(variant)
    except Refused:
        if not _as_installed(variant):
            raise
    plugin = Plugin(variant.plugin_module, variant.preload) if variant.plugin_module else None
    options = variant.provider_options
    if plugin is not None and not plugin.installed and variant.built_in is not None:
        plugin, options = None, variant.built_in
    values = {
        "package": str((package / variant.directory).resolve()),
        "model_stem": Path(variant.model_file).stem,
        "cache": "${cache}",  # known when the session is made
    }
    hardware = variant.device if plugin else ""
    return Request(variant.provider, placeholders.fill(options, values), plugin, hardware, index)


def _as_installed(variant: Variant) -> bool:
    """Whether a profile on this machine asks for just what the variant does: whoever installed it trusts it.

    So a third party's provider, which is in no table of ours, runs where its profile is.
    """
    try:
        from edgekit import target

        pin = variant.requirements.get("image")
        profile = target.load(f"{variant.target}@{pin}" if pin else variant.target).in_precision(variant.precision)
    except (ImportError, EdgekitError):  # a board without YAML, or without the profile
        return False
    asked, plugin = profile.provider, profile.provider.plugin
    return (
        asked.name == variant.provider
        and (plugin.module if plugin else "") == variant.plugin_module
        and set(variant.preload) <= set(plugin.preload if plugin else ())
        and variant.provider_options.items() <= asked.options.items()
        and variant.environment.items() <= profile.environment.items()
        and variant.session_options.items() <= profile.session_options.items()
        and (variant.built_in is None or (asked.built_in is not None and variant.built_in == asked.built_in.options))
    )


def over_variant(package: Path, variant: Variant, request: Request) -> Request:
    """What a user asks of the provider that a variant is made for: the variant's options, and over them the user's."""
    made_for = of_variant(package, variant)
    if (made_for.plugin is None) != (request.plugin is None):
        return request
    return replace(made_for, options={**made_for.options, **request.options})


def of_user(given: Sequence[ProviderLike]) -> tuple[Request, ...]:
    """Providers as a user names them: a name, or a name and its options.

    Raises:
        UsageError: none is given, or an option is one that the provider does not know.
        ProviderError: a provider is neither in this onnxruntime nor in an installed package.
    """
    if not given:
        raise UsageError("no provider is given", hint=CPU)
    return tuple(_named(*((one, {}) if isinstance(one, str) else one)) for one in given)


def of_device(device: Device) -> tuple[Request, ...]:
    """The provider of a device, for a bare file.

    Raises:
        UsageError: the device has no provider of its own.
        ProviderError: as for `of_user`.
    """
    if device.kind == "npu":
        raise UsageError("a model file does not say which NPU: package it", hint="edgekit package MODEL -t TARGET")
    request = _named(PROVIDERS.get(device.kind, CPU), {})
    return (Request(request.provider, request.options, request.plugin, "", device.index),)


def _named(name: str, options: Mapping[str, Any]) -> Request:
    ort, texts = session.onnxruntime(), {key: str(value) for key, value in options.items()}
    tables = [table for table in TABLES if table.provider == name]
    plugins = [Plugin(table.plugin, table.preloads) for table in tables if table.plugin]
    plugin = next((p for p in plugins if p.installed), None)
    if name in ort.get_available_providers():
        plugin = None
    elif plugin is None:
        raise failures.absent(ort, name)
    providers.check_names(name, plugin.module if plugin else "", texts)
    return Request(name, texts, plugin)
