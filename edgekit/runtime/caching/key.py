"""The key of what a provider compiles: each part as far as it can be learnt, and stricter where it cannot."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgekit.cache import CacheKey, stamp
from edgekit.cache.key import UNKNOWN, Pairs
from edgekit.runtime import identity, session_keys
from edgekit.runtime.plugins import VISIBILITY
from edgekit.runtime.request import Request

if TYPE_CHECKING:
    from edgekit.runtime.opening import Opening


def key_of(ort: Any, opening: Opening, request: Request) -> CacheKey:
    """The key for an opening.

    Args:
        request: the first provider's, with the option that names the folder for what it compiles.

    Raises:
        ProviderError: it is a plugin that cannot be loaded, or has no such device.
        OSError: the model cannot be read.
    """
    learnt = identity.of(ort, request)
    parts = [learnt.version or UNKNOWN, learnt.device or UNKNOWN, learnt.driver or UNKNOWN]
    build = getattr(ort, "get_build_info", str)()
    return CacheKey(
        _content(opening.model),
        request.provider,
        parts[0],
        " ".join(filter(None, (ort.__version__, build))),
        parts[1],
        parts[2],
        _system(exact=UNKNOWN in parts),
        provider_options=tuple(_options(opening, request)),
        session_options=_session_options(opening),
        environment=tuple(_environment(opening, request)),
    )


def _content(model: Path) -> str:
    """A digest of the model file and of its external data."""
    found = stamp.of(model)
    external = {name: model.parent / name for name in found.external}
    weights = {name: stamp.sha256(path) for name, path in external.items() if path.is_file()}
    return hashlib.sha256(json.dumps([found.sha256, sorted(weights.items())]).encode()).hexdigest()


def _system(*, exact: bool) -> str:
    """The operating system; its build too where the provider, its device or its driver is unknown."""
    names = [platform.system(), platform.machine()]
    if exact:
        names += [platform.release(), platform.version()]
        with suppress(OSError):
            names.append(hashlib.sha256(Path("/etc/os-release").read_bytes()).hexdigest()[:12])
    return " ".join(names)


def _options(opening: Opening, request: Request) -> Iterator[tuple[str, str]]:
    yield from ((name, _by_content(str(value))) for name, value in sorted(request.options.items()))
    yield "hardware", f"{request.hardware or 'any'} {0 if request.index is None else request.index}"
    for other in opening.requests[1:]:
        yield from ((f"{other.provider}.{n}", _by_content(str(v))) for n, v in sorted(other.options.items()))


def _session_options(opening: Opening) -> Pairs:
    effective = {**session_keys.DEFAULTS, **opening.session_options}
    given = sorted((str(name), str(value)) for name, value in effective.items())
    beside = "+".join(r.provider for r in opening.requests[1:]) or "-"
    return (*given, ("threads", str(opening.threads or "-")), ("beside", beside))


def _environment(opening: Opening, request: Request) -> Iterator[tuple[str, str]]:
    """The variables that the provider reads, apart from those that say where its cache is."""
    table = request.known
    caching = table.caching if table else None
    names = {option.name for option in table.environment} if table else set()
    names |= {VISIBILITY.get(request.provider, "")}
    prefixes, places = (caching.reads, caching.environment) if caching else ((), ())
    seen: Mapping[str, str] = {**opening.environment, **os.environ}  # what the user has set stays
    for name in sorted(seen):
        if name not in places and (name in names or name in opening.environment or name.startswith(prefixes)):
            yield name, _by_content(seen[name])


def _by_content(text: str) -> str:
    """A file's digest in place of its name, also within JSON: the same name may hold something else tomorrow."""
    if text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return json.dumps(_leaves(json.loads(text)), sort_keys=True)
    with suppress(OSError, ValueError):
        if Path(text).is_file():
            return f"sha256:{stamp.sha256(Path(text))}"
    return text


def _leaves(data: Any) -> Any:
    if isinstance(data, dict):
        return {str(key): _leaves(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_leaves(value) for value in data]
    return _by_content(data) if isinstance(data, str) else data
