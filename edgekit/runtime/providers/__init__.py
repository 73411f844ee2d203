"""What a package may ask of each provider. A package comes from somebody else: anything else is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgekit.errors import ProviderError
from edgekit.manifest import Variant

CPU = "CPUExecutionProvider"


@dataclass(frozen=True)
class Allowed:
    """The options and environment variables that a provider knows."""

    options: frozenset[str] = frozenset()
    environment: frozenset[str] = frozenset()


PROVIDERS: Mapping[str, Allowed] = {
    # CPU: onnxruntime's CPU provider takes no options from Python
    CPU: Allowed(),
}


def check(variant: Variant) -> None:
    """Refuse a variant that names what its provider does not know.

    Raises:
        ProviderError: the provider, an option or a variable is unknown.
    """
    allowed = PROVIDERS.get(variant.provider)
    if allowed is None:
        raise ProviderError(f"variant {variant.name} wants {variant.provider}, which this edgekit does not know")
    for kind, given, known in (
        ("option", variant.provider_options, allowed.options),
        ("environment variable", variant.environment, allowed.environment),
    ):
        for key in given:
            if key not in known:
                raise ProviderError(
                    f"variant {variant.name} sets the {kind} {key}, which {variant.provider} does not know: refused"
                )
