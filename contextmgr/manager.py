"""The way in: a store, a profile, and the conversations of any scope."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from contextmgr import jsontext
from contextmgr.assembly import Assembler
from contextmgr.background import Background
from contextmgr.conversation import Conversation
from contextmgr.counters import TokenCounter, default_counter
from contextmgr.embedders import Embedder
from contextmgr.errors import ContextManagerError, InputError
from contextmgr.indexing import PENDING, Indexer
from contextmgr.lookups import ProjectPins
from contextmgr.models import ModelTable, model_entry
from contextmgr.pinning import Pinning
from contextmgr.profiles import Profile, load_profile
from contextmgr.recording import Recorder
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope, check_name
from contextmgr.store import ConversationRecord, Store, open_store
from contextmgr.store.sqlite import Durability
from contextmgr.tokens import Count
from contextmgr.turns import Turn

if TYPE_CHECKING:
    from contextmgr.summarising import Summariser
    from contextmgr.writers import Writer

_LOG = logging.getLogger(__name__)


class Manager:
    """Opens a store and gives out conversations.

    ``store`` is a path, an SQLite URL (``sqlite:///agent.db``, ``sqlite://`` for memory) or a `Store`; ``profile`` a
    shipped name, a TOML path, an input budget in tokens or a `Profile`; ``models`` a TOML file over the shipped model
    table; ``durability`` what a stored turn survives: killing the ``process``, or a ``power`` cut; ``wait`` the
    longest wait for a lock, in seconds; ``zone`` the time zone of dates in requests; ``clock`` gives the time.

    ``summarizer`` turns exploratory turns that leave the view into a summary: ``"extractive"`` picks verbatim sentences
    without a model, a `Writer` (an ``AnthropicWriter``, or any callable) is asked; None leaves a gap line.  It works in
    a thread of its own, or with ``background=False`` only in ``flush()``; one answer may take ``summarizer_timeout``
    seconds.  ``prompts`` is a directory of templates that win over the shipped ones.

    Turns are indexed for searching in another thread, a batch at a time, and in ``flush()`` and ``close()``; an
    ``embedder`` adds vectors (off by default: words are enough to find most of what is asked for).

    Raises `StoreError`, `ProfileError` or `ModelTableError`.
    """

    def __init__(
        self,
        store: str | Path | Store = "sqlite:///contextmgr.db",
        *,
        profile: str | int | Path | Profile | None = None,
        models: str | Path | ModelTable | None = None,
        durability: Durability = "process",
        wait: float = 30.0,
        zone: str = "UTC",
        counter: TokenCounter | None = None,
        clock: Callable[[], datetime] | None = None,
        summarizer: Literal["extractive"] | Writer | None = None,
        summarizer_timeout: float = 120.0,
        background: bool = True,
        prompts: str | Path | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        self._profile = load_profile(profile)
        self._table = ModelTable.load(models) if isinstance(models, (str, Path)) else models
        self._zone = _zone(zone)
        self._count = _counting(counter)
        self._clock = clock or _now
        summariser = _summariser(summarizer, summarizer_timeout, prompts, self._count)
        self._embedder = embedder
        self._store = open_store(store, durability=durability, wait=wait)
        self._background = None
        if summariser is not None:
            self._background = _summarising(self._store, self._profile, summariser, self._clock, threaded=background)
        self._indexing = _indexing(self._store, embedder, self._profile.index.min_turns, threaded=background)
        self._closed = False

    @property
    def profile(self) -> Profile:
        """The budget profile in force."""
        return self._profile

    def conversation(
        self,
        conversation: str,
        *,
        tenant: str,
        user: str | None = None,
        project: str | None = None,
        title: str | None = None,
        zone: str | None = None,
    ) -> Conversation:
        """Open a conversation, or begin it.  ``zone`` and ``title`` count when it begins.

        ``user=None`` and ``project=None`` are values of their own and match only themselves.  Raises `ScopeError`.
        """
        scope = Scope(tenant=tenant, user=user, project=project)
        check_name("conversation", conversation)
        with self._store.reading(scope) as tx:
            known = tx.conversation(conversation)
            behind = known.last_turn - tx.search.state(conversation).upto if known is not None else 0
        if behind > 0 or self._embedder is not None:  # a process that was killed may have left turns to be indexed
            self._indexing.add(scope, conversation, wake=behind >= PENDING or self._embedder is not None)
        if known is None:
            self._begin(scope, conversation, title, self._zone if zone is None else _zone(zone))
        return self._open(scope, conversation)

    def conversations(
        self, *, tenant: str, user: str | None = None, project: str | None = None, most: int = 100
    ) -> list[ConversationRecord]:
        """The scope's conversations, last used first, at most ``most``."""
        with self._store.reading(Scope(tenant=tenant, user=user, project=project)) as tx:
            return tx.conversations(most)

    def project_pins(self, *, tenant: str, project: str) -> ProjectPins:
        """The operator's pins for a project: they stand in every conversation of it, whoever the user is."""
        scope = Scope(tenant=tenant, project=project)
        return ProjectPins(self._pinning(scope))

    def flush(self, timeout: float = 60.0) -> int:
        """Do the work in the background that is due, or wait for it, without beginning anything after ``timeout`` s.

        Returns how many jobs, and turns to be indexed, are left: failed ones, or those that did not get their turn.
        """
        deadline = time.monotonic() + timeout
        left = self._indexing.flush(timeout)
        if self._background is not None:
            left += self._background.flush(max(0.0, deadline - time.monotonic()))
        return left

    def close(self, timeout: float = 5.0) -> None:
        """Index what was said, stop the background work and close the store, beginning nothing after ``timeout`` s.

        What is left is logged, stays in the store and is done when its conversation is opened again.  Closing twice is
        fine.
        """
        if not self._closed:
            self._closed = True
            self._drain(timeout)
            if self._background is not None:
                self._background.close(timeout)
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            warnings.warn("a Manager was dropped without close(); use it as a context manager", ResourceWarning, 2)
            self.close()

    def _drain(self, timeout: float) -> None:
        """Index what is left; closing goes on whatever becomes of it."""
        try:
            left = self._indexing.flush(timeout)
        except ContextManagerError as error:
            _LOG.warning("not all turns are indexed (%s); they will be when opened again", type(error).__name__)
        else:
            if left:
                _LOG.warning("%d turns are not indexed; they will be when opened again", left)
        self._indexing.close(timeout)

    def _begin(self, scope: Scope, conversation: str, title: str | None, zone: str) -> None:
        now = self._clock()
        record = ConversationRecord(
            id=conversation,
            title=None if title is None else jsontext.sendable(title),
            zone=zone,
            created_at=now,
            updated_at=now,
        )
        with self._store.writing(scope) as tx:
            if tx.conversation(conversation) is None:
                tx.create_conversation(record)

    def _open(self, scope: Scope, conversation: str) -> Conversation:
        recorder = Recorder(self._store, scope, self._count, self._family)
        on_work = None
        if self._background is not None:
            background = self._background
            background.add(scope, conversation)  # a process that was killed may have left work

            def on_work(name: str) -> None:
                background.add(scope, name)

        searcher = Searcher(self._store, scope, self._count, self._embedder)
        assembler = Assembler(
            self._store, scope, self._profile, self._table, self._count, self._clock, on_work, searcher
        )
        indexing = self._indexing

        def on_turn(turn: Turn) -> None:
            indexing.add(scope, conversation, wake=turn.number % PENDING == 0)

        return Conversation(conversation, recorder, assembler, self._pinning(scope), searcher, on_turn)

    def _pinning(self, scope: Scope) -> Pinning:
        return Pinning(self._store, scope, self._profile, self._count, self._clock)

    def _family(self, model: str) -> str:
        return model_entry(model, self._table).family


def _counting(counter: TokenCounter | None) -> Count:
    """Counts a text's tokens; the default counter is loaded when it is first needed."""
    load = cache(default_counter)
    return lambda text: (load() if counter is None else counter).count(text)


def _summariser(
    summarizer: Literal["extractive"] | Writer | None, timeout: float, prompts: str | Path | None, count: Count
) -> Summariser | None:
    if summarizer is None:
        return None
    from contextmgr.summarising import EXTRACTIVE, Summariser
    from contextmgr.templates import Templates

    if isinstance(summarizer, str) and summarizer != EXTRACTIVE:
        raise InputError(f"summarizer={summarizer!r} is unknown; use 'extractive', a Writer, or None")
    if not 0 < timeout < float("inf"):
        raise InputError(f"summarizer_timeout={timeout!r} must be a number of seconds above 0")
    return Summariser(None if isinstance(summarizer, str) else summarizer, Templates(prompts), count, timeout)


def _summarising(
    store: Store, profile: Profile, summariser: Summariser, clock: Callable[[], datetime], *, threaded: bool
) -> Background:
    """Summarising in the background; like indexing, it does not know the manager."""
    from contextmgr.summarising import SummaryWorker

    def run(scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        return SummaryWorker(store, scope, profile, summariser, clock).run(conversation, going)

    def left(scope: Scope, conversation: str) -> int:
        with store.reading(scope) as tx:
            return len(tx.jobs(conversation))

    return Background(run, left, threaded=threaded)


def _indexing(store: Store, embedder: Embedder | None, embed_from: int, *, threaded: bool) -> Background:
    """Indexing in the background; it knows the store but not the manager, whose dropping must be noticed."""

    def run(scope: Scope, conversation: str, going: Callable[[], bool]) -> int:
        return Indexer(store, scope, embedder, embed_from).run(conversation, going)

    def left(scope: Scope, conversation: str) -> int:
        with store.reading(scope) as tx:
            return Indexer(store, scope, embedder, embed_from).left(tx, conversation)

    return Background(run, left, threaded=threaded)


def _now() -> datetime:
    return datetime.now(UTC)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            f"{name!r} is no time zone this machine knows; use 'UTC' or a name such as 'Europe/Paris'"
        ) from error
    return name
