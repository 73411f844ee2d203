"""A session with the compile cache: a hit costs no compiling, a miss is kept, a broken cache costs one sentence."""

from __future__ import annotations

import logging
import os
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from edgekit.cache import CacheKey, CompileCache, Loan, limits, stamp
from edgekit.cache.answer import Answer
from edgekit.errors import CacheError, EdgekitError, Frozen, ProviderError
from edgekit.runtime.caching import key, places
from edgekit.runtime.caching.use import Use
from edgekit.runtime.providers import Caching
from edgekit.runtime.request import Request

if TYPE_CHECKING:
    from edgekit.runtime.opening import Opening

SHIPPED = "compiled"  # beside a model: a store of entries that came with it, only read
CONTEXT = "ep.context_enable"
COMPILED = "model.onnx"  # what onnxruntime writes of a provider whose kind is context
WARM = "edgekit cache warm PACKAGE, where compiling is allowed"
LOG = logging.getLogger("edgekit")
NONE = Caching("a third party's: its profile says `${cache}`")

# makes the session of a model file on these providers; with a third argument, compiles into that file first
Create = Callable[[Path, tuple[Request, ...], Path | None], Any]


@dataclass(frozen=True)
class Opened:
    """A session, and what the cache did for it."""

    session: Any
    use: Use | None = None  # none: there is nothing to keep


def wanted(opening: Opening) -> tuple[Request, Caching] | None:
    """The first provider with the folder for what it compiles among its options; none where it keeps nothing.

    A user who names a folder of his own keeps it, and so does one who has onnxruntime write the compiled model.
    """
    if isinstance(opening.session_options, Mapping) and CONTEXT in opening.session_options:
        return None
    request = opening.requests[0]
    caching = request.known.caching if request.known else None
    if any("${cache}" in str(value) for value in request.options.values()):
        return request, caching or NONE
    if caching is None or set(caching.options) & set(request.options):
        return None
    if caching.kind == "context" and stamp.of(opening.model).compiled:
        return None
    return replace(request, options={**caching.options, **request.options}), caching


def with_cache(ort: Any, opening: Opening, create: Create) -> Opened:
    """The session for an opening.

    Raises:
        Frozen: it would have to be compiled, and must not be.
        EdgekitError: it cannot be made, whether with the cache or without.
    """
    found = wanted(opening)
    others = tuple(request.in_folder(None) for request in opening.requests[1:])
    if found is None or not limits.enabled():
        if found is not None and opening.forbids_compiling:
            raise Frozen(f"{opening.model} would be compiled here: the cache is off, and compiling is forbidden")
        return Opened(create(opening.model, (opening.requests[0].in_folder(None), *others), None))
    request, caching = found
    making = _Making(opening, request, caching, others, create)
    if not isinstance(opening.session_options, Mapping):
        return making.uncached("the session has options that edgekit cannot read (a SessionOptions object)")
    try:
        identified, cache = key.key_of(ort, opening, request), store(caching)
    except OSError as e:
        return making.uncached(str(e))
    if opening.forbids_compiling:
        _refuse_a_miss(opening, cache, identified)
    try:
        loan = _with_shipped(opening, cache.borrow(identified, label=opening.label, notify=LOG.warning), identified)
    except CacheError as e:
        entry = next((answer.entry for answer in _carried(opening, identified) if answer.hit), None)
        if entry is None:
            return making.uncached(str(e))
        loan = Loan(cache, entry)  # read where it is
    return making.cached(loan)


def store(caching: Caching = NONE) -> CompileCache:
    """The user's cache; in a provider's own place where the user's variable for it says so."""
    return CompileCache(places.root(caching.environment))


def ship(opening: Opening, use: Use) -> None:
    """Put what a session has compiled beside its model, for other machines like this one.

    Raises:
        CacheError: it cannot be written there.
    """
    use.update()
    shipped, entry = CompileCache(opening.model.parent / SHIPPED), use.kept
    try:
        if entry is not None and not shipped.find(entry.key).hit:
            shipped.add(entry)
    except OSError as e:
        raise CacheError(f"{shipped.root} cannot be written: {e.strerror or e}") from e


@dataclass(frozen=True)
class _Making:
    """All that a session is made of."""

    opening: Opening
    request: Request
    caching: Caching
    others: tuple[Request, ...]
    create: Create

    def uncached(self, reason: str) -> Opened:
        """Without a folder of ours or of the environment, which may hold other models' programs."""
        if self.opening.forbids_compiling:
            raise Frozen(f"{self.opening.model} would be compiled here, which was forbidden: {reason}", hint=WARM)
        with places.named(self.caching.environment, None):
            session = self.create(self.opening.model, (self.request.in_folder(None), *self.others), None)
        return Opened(session, Use(reason=reason))

    def cached(self, loan: Loan) -> Opened:
        """In the folder of a loan; without it where the provider fails over the folder or what is in it."""
        start = time.perf_counter()
        try:
            session = self._in(loan.folder, found=loan.hit)
        except EdgekitError as e:
            ours = loan.hit or loan.written_to or not os.access(loan.folder, os.W_OK) or self.caching.kind == "context"
            loan.abandon()
            if loan.hit and not self.opening.forbids_compiling:
                loan.reject()
            if not isinstance(e, ProviderError) or not ours:
                raise
            return self.uncached(f"{self.request.provider} fails with its cache: {e}")
        except BaseException:
            loan.abandon()
            raise
        return self._finished(session, loan, time.perf_counter() - start)

    def _in(self, folder: Path, *, found: bool) -> Any:
        if self.caching.kind == "context":
            compiled = folder / COMPILED
            return self.create(
                compiled if found else self.opening.model,
                (self.request.in_folder(None), *self.others),
                None if found else compiled,
            )
        with places.named(self.caching.environment, folder):
            return self.create(self.opening.model, (self.request.in_folder(folder), *self.others), None)

    def _finished(self, session: Any, loan: Loan, seconds: float) -> Opened:
        refused = loan.hit and loan.written_to and not loan.read_only
        if refused and self.opening.forbids_compiling:
            loan.close()
            raise Frozen(f"{self.request.provider} did not take what was kept, and compiling is forbidden", hint=WARM)
        weakref.finalize(session, loan.close)
        reason, kept = "the provider did not take what was kept" if refused else loan.reason, loan.hit
        try:
            if not loan.hit:
                kept = loan.commit(seconds)
            loan.update()
        except OSError as e:
            return Opened(session, Use(reason=f"the cache cannot be written: {e.strerror or e}"))
        compiled = seconds if kept and (refused or not loan.hit) else None
        hit = loan.hit and not refused
        return Opened(session, Use(loan, hit, reason if hit or kept else None, compiled))


def _refuse_a_miss(opening: Opening, cache: CompileCache, identified: CacheKey) -> None:
    answers = [*_carried(opening, identified), cache.find(identified)]
    if not any(answer.hit for answer in answers):
        raise Frozen(
            f"{opening.model} would be compiled for {identified.provider} here, which was forbidden: "
            f"the cache has no {identified.digest} ({answers[-1].reason})",
            hint=WARM,
        )


def _carried(opening: Opening, identified: CacheKey) -> list[Answer]:
    """What the package has for a key, if it has any compiled programs."""
    folder = opening.model.parent / SHIPPED
    return [CompileCache(folder).find(identified)] if folder.is_dir() else []


def _with_shipped(opening: Opening, loan: Loan, identified: CacheKey) -> Loan:
    """On a miss, what the package carries: its files are taken over if its key fits, and said to be refused if not."""
    for answer in _carried(opening, identified) if not loan.hit else ():
        if answer.hit and answer.entry is not None:
            with suppress(OSError):
                loan.take_over(answer.entry)
        else:
            LOG.warning("the compiled program in the package is not used: %s", answer.reason)
    return loan
