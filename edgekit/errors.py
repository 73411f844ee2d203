"""The failures that a user can meet, each with its exit code and the next thing to type."""

from __future__ import annotations


class EdgekitError(Exception):
    """A failure that a user can understand. `hint` says what to type next."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(EdgekitError):
    """An argument, a file or an image that cannot be used as given."""

    exit_code = 2


class ModelError(EdgekitError):
    """The model file is not one that can be read, or not one that can be used this way."""

    exit_code = 2


class TargetError(EdgekitError):
    """A target is unknown, ambiguous, or its profile is wrong."""

    exit_code = 2


class PackageError(EdgekitError):
    """The model directory cannot be opened as it is."""

    exit_code = 4


class ProviderError(EdgekitError):
    """The provider is not here, or refused the model."""

    exit_code = 5


class Refused(ProviderError):
    """A package asks a provider for what it may not: no reason to run it in another way."""


class Frozen(ProviderError):
    """It would have to be compiled on the device, which was forbidden: no reason to run it in another way."""


class DependencyError(EdgekitError):
    """A Python package that this step needs is not installed. `hint` is the line to type."""

    exit_code = 5


class CacheError(EdgekitError):
    """The compile cache cannot be used."""


class ToolchainError(EdgekitError):
    """A vendor's tool failed, or is not installed."""

    exit_code = 5


class GateMissed(EdgekitError):
    """A requirement on accuracy or placement was not met."""

    exit_code = 3


class IntegrityError(EdgekitError):
    """What is here is not what was made: a changed file, or other results than recorded."""

    exit_code = 4
