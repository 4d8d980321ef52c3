"""What works beside the reply path, put together: indexing, summarising, describing and extracting, each in a thread of
its own or only in ``flush()``.

Law: nothing here knows the manager, whose dropping must be noticed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from contextmgr.assembly import SUMMARISE
from contextmgr.background import Background
from contextmgr.embedders import Embedder, check_numpy
from contextmgr.errors import ContextManagerError, InputError
from contextmgr.indexing import PENDING, Indexer
from contextmgr.keeping import Keeping
from contextmgr.profiles import Profile
from contextmgr.scope import Scope
from contextmgr.store import Store
from contextmgr.tokens import Count
from contextmgr.turns import Turn

if TYPE_CHECKING:
    from contextmgr.describing import Describer
    from contextmgr.extraction import Extractor
    from contextmgr.summarising import Summariser
    from contextmgr.writers import Writer

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hands:
    """Who does which work: a `Writer`, a plain function by its name, or None for nobody (extracting: plain rules).

    ``timeout`` is the longest a summary may take, in seconds; ``prompts`` a directory of templates that win over the
    shipped ones; ``embedder`` adds vectors to the index.
    """

    summarizer: Literal["extractive"] | Writer | None = None
    timeout: float = 120.0
    describer: Literal["plain"] | Writer | None = None
    extractor: Writer | None = None
    embedder: Embedder | None = None
    prompts: str | Path | None = None


class Workers:
    """The work beside the reply path.  Raises `InputError` for hands that cannot be used."""

    def __init__(
        self,
        store: Store,
        profile: Profile,
        count: Count,
        clock: Callable[[], datetime],
        hands: Hands,
        *,
        threaded: bool = True,
    ) -> None:
        self._store = store
        self._count = count
        self._clock = clock
        self._hands = hands
        if hands.embedder is not None:
            check_numpy()
        summariser, describer = _summariser(hands, count), _describer(hands, count)
        self._indexing = _indexing(store, hands.embedder, profile.index.min_turns, threaded=threaded)
        self._summarising = self._describing = None
        if summariser is not None:
            self._summarising = _summarising(store, profile, summariser, clock, threaded=threaded)
        if describer is not None:
            self._describing = _describing(store, describer, clock, threaded=threaded)
        self._extracting = Background(self._extract, self._unextracted, threaded=threaded)

    @property
    def summarises(self) -> bool:
        """Whether anybody summarises."""
        return self._summarising is not None

    def opened(self, scope: Scope, conversation: str, behind: int) -> None:
        """Look after a conversation that was opened: a process that was killed may have left work.

        ``behind`` is how many of its turns are not indexed.
        """
        embeds = self._hands.embedder is not None
        if behind > 0 or embeds or self._describing is not None:  # what was described may wait to be indexed again
            self._indexing.add(scope, conversation, wake=behind >= PENDING or embeds)
        for work in (self._summarising, self._describing):
            if work is not None:
                work.add(scope, conversation)

    def said(self, scope: Scope, conversation: str, turn: Turn) -> None:
        """Look after a turn that was stored."""
        self._indexing.add(scope, conversation, wake=turn.number % PENDING == 0)
        if self._describing is not None:  # an episode ends where a user begins one
            self._describing.add(scope, conversation, wake=turn.role == "user")

    def summarise(self, scope: Scope, conversation: str) -> None:
        """Look after summaries that a request made necessary."""
        if self._summarising is not None:
            self._summarising.add(scope, conversation)

    def extract(self, scope: Scope, conversation: str) -> None:
        """Let what was said be read for facts."""
        if self.extractor(scope).ask(conversation):
            self._extracting.add(scope, conversation)

    def extractor(self, scope: Scope) -> Extractor:
        """What reads a scope's conversations for facts: a `Writer`, the summarizer's where there is no other, or
        plain rules.
        """
        from contextmgr.extraction import Extractor
        from contextmgr.templates import Templates

        own, summarizer = self._hands.extractor, self._hands.summarizer
        writer = own if own is not None else None if isinstance(summarizer, str) else summarizer
        keeping = Keeping(self._store, scope, self._clock)
        return Extractor(self._store, scope, keeping, writer, Templates(self._hands.prompts), self._count, self._clock)

    def flush(self, timeout: float) -> int:
        """Do what is due, beginning nothing after ``timeout`` seconds; returns how much is left."""
        deadline = time.monotonic() + timeout
        return sum(work.flush(max(0.0, deadline - time.monotonic())) for work in self._all())

    def close(self, timeout: float) -> None:
        """Index what is left, then stop; closing goes on whatever becomes of it."""
        try:
            left = self._indexing.flush(timeout)
        except ContextManagerError as error:
            _LOG.warning("not all turns are indexed (%s); they will be when opened again", type(error).__name__)
        else:
            if left:
                _LOG.warning("%d turns are not indexed; they will be when opened again", left)
        for work in self._all():
            work.close(timeout)

    def _all(self) -> Iterator[Background]:
        yield from (w for w in (self._summarising, self._describing, self._indexing, self._extracting) if w is not None)

    def _extract(self, scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        return self.extractor(scope).run(conversation, going)

    def _unextracted(self, scope: Scope, conversation: str) -> int:
        with self._store.reading(scope) as tx:
            return self.extractor(scope).left(tx, conversation)


def _summariser(hands: Hands, count: Count) -> Summariser | None:
    if hands.summarizer is None:
        return None
    from contextmgr.summarising import EXTRACTIVE, Summariser
    from contextmgr.templates import Templates

    if isinstance(hands.summarizer, str) and hands.summarizer != EXTRACTIVE:
        raise InputError(f"summarizer={hands.summarizer!r} is unknown; use 'extractive', a Writer, or None")
    if not 0 < hands.timeout < float("inf"):
        raise InputError(f"summarizer_timeout={hands.timeout!r} must be a number of seconds above 0")
    writer = None if isinstance(hands.summarizer, str) else hands.summarizer
    return Summariser(writer, Templates(hands.prompts), count, hands.timeout)


def _describer(hands: Hands, count: Count) -> Describer | None:
    if hands.describer is None:
        return None
    from contextmgr.describing import PLAIN, Describer
    from contextmgr.templates import Templates

    if isinstance(hands.describer, str) and hands.describer != PLAIN:
        raise InputError(f"describer={hands.describer!r} is unknown; use 'plain', a Writer, or None")
    return Describer(None if isinstance(hands.describer, str) else hands.describer, Templates(hands.prompts), count)


def _summarising(
    store: Store, profile: Profile, summariser: Summariser, clock: Callable[[], datetime], *, threaded: bool
) -> Background:
    from contextmgr.summarising import SummaryWorker

    def run(scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        return SummaryWorker(store, scope, profile, summariser, clock).run(conversation, going)

    def left(scope: Scope, conversation: str) -> int:
        with store.reading(scope) as tx:
            return sum(1 for job in tx.jobs(conversation) if job.kind == SUMMARISE)

    return Background(run, left, threaded=threaded)


def _describing(store: Store, describer: Describer, clock: Callable[[], datetime], *, threaded: bool) -> Background:
    """What was described is indexed again at once."""
    from contextmgr.describing import DescriptionWorker

    def run(scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        done = DescriptionWorker(store, scope, describer, clock).run(conversation, going)
        return done + (Indexer(store, scope).run(conversation, going) if done else 0)

    def left(scope: Scope, conversation: str) -> int:
        return DescriptionWorker(store, scope, describer, clock).left(conversation)

    return Background(run, left, threaded=threaded)


def _indexing(store: Store, embedder: Embedder | None, embed_from: int, *, threaded: bool) -> Background:
    def run(scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        return Indexer(store, scope, embedder, embed_from).run(conversation, going)

    def left(scope: Scope, conversation: str) -> int:
        with store.reading(scope) as tx:
            return Indexer(store, scope, embedder, embed_from).left(tx, conversation)

    return Background(run, left, threaded=threaded)
