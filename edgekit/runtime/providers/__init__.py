"""What a package may ask of each provider. A package comes from somebody else: anything else is refused.

One file per provider, each a table with its sources. Standard library only: profiles are checked against it as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from edgekit.errors import Refused, UsageError
from edgekit.runtime.providers import coreml, cpu, cuda, directml, flaw, migraphx, openvino, qnn, vitisai, vsinpu
from edgekit.runtime.providers.flaw import Flaw
from edgekit.runtime.providers.known import NEVER, Caching, Known, Option
from edgekit.runtime.providers.place import strays
from edgekit.runtime.session_keys import check_portable

if TYPE_CHECKING:
    from edgekit.manifest import Variant

__all__ = ["CPU", "TABLES", "Caching", "Flaw", "Known", "Option", "check", "check_names", "flaws", "known"]

CPU = cpu.NAME
TABLES: tuple[Known, ...] = (
    cpu.KNOWN,
    vsinpu.KNOWN,
    vitisai.KNOWN,
    migraphx.BUILT_IN,
    migraphx.PLUGIN,
    coreml.KNOWN,
    openvino.BUILT_IN,
    openvino.PLUGIN,
    cuda.KNOWN,
    directml.KNOWN,
    qnn.PLUGIN,
)


def known(provider: str, plugin: str | None = None) -> Known | None:
    """The table of a provider, built in or as it comes from the Python module `plugin`; none for a third party's."""
    return next((t for t in TABLES if (t.provider, t.plugin) == (provider, plugin or "")), None)


def flaws(
    provider: str,
    plugin: str | None,
    options: Mapping[str, str],
    environment: Mapping[str, str],
    preload: Iterable[str] = (),
    versions: str = "",
) -> list[Flaw]:
    """What is wrong with what a profile asks; nothing if the provider is in no table.

    Args:
        versions: the provider's releases that the options are written for, such as `>=1.5`, counted as
            `Known.counted_in` says; the newest if empty.
    """
    table = known(provider, plugin)
    if table is not None:
        return list(flaw.find(table, options, environment, preload, versions))
    modules = [t.plugin for t in TABLES if t.provider == provider and t.plugin]
    if plugin and (module := flaw.nearest(plugin, modules)):
        return [Flaw(("provider", "plugin", "module"), f"{provider} does not come from {plugin}", module)]
    return []


def check_names(provider: str, plugin: str, options: Iterable[str]) -> None:
    """Refuse an option that a provider would ignore, or fail on; a third party's may have any.

    Raises:
        UsageError: the provider has no such option; the nearest one, or what took its place, is the hint.
    """
    table = known(provider, plugin)
    for name in options if table else ():
        assert table is not None
        option = next((o for o in table.options if o.name == name), None)
        if option is None:
            raise UsageError(
                f"{provider} has no option {name}", hint=flaw.nearest(name, [o.name for o in table.options])
            )
        if option.until == NEVER:
            raise UsageError(f"{provider} ignores the option {name} here", hint=option.instead)


def check(variant: Variant) -> None:
    """Refuse a variant that names what its provider does not know, or a place outside the package and the cache.

    Raises:
        Refused: the provider, its module, an option, a variable or a library is unknown, or a path strays.
    """
    module, preload = variant.plugin_module, variant.preload
    table = known(variant.provider, module)
    if table is None:
        origin = f"{variant.provider} from {module}" if module else variant.provider
        raise Refused(f"variant {variant.name} wants {origin}, which this edgekit does not know: refused")
    built_in = known(variant.provider)
    for kind, given, allowed in (
        ("option", variant.provider_options, table.options),
        ("option", variant.built_in or {}, built_in.options if built_in else ()),
        ("environment variable", variant.environment, table.environment),
    ):
        usable = {o.name: o for o in allowed if o.until != NEVER}
        for name, value in given.items():
            if name not in usable:
                raise Refused(
                    f"variant {variant.name} sets the {kind} {name}, which {variant.provider} does not know: refused"
                )
            if usable[name].path and strays(value):
                raise Refused(f"variant {variant.name} sets the {kind} {name} to a place outside the package: refused")
    check_portable(variant.session_options, variant.name)
    for library in preload:
        if library not in table.preloads:
            raise Refused(f"variant {variant.name} loads {library}, which {variant.provider} does not need: refused")
