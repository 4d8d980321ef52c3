"""The way in: a store, a profile, and the conversations of any scope."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from contextmgr import jsontext
from contextmgr.assembly import Assembler
from contextmgr.conversation import Conversation
from contextmgr.counters import TokenCounter, default_counter
from contextmgr.embedders import Embedder
from contextmgr.errors import InputError
from contextmgr.keeping import Keeping
from contextmgr.lookups import ProjectPins
from contextmgr.models import ModelTable, model_entry
from contextmgr.pinning import Pinning
from contextmgr.profiles import Profile, load_profile
from contextmgr.recall import ChatUrl, Recall
from contextmgr.recording import Recorder
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope, Visibility, check_name
from contextmgr.store import ConversationRecord, Store, open_store
from contextmgr.store.sqlite import Durability
from contextmgr.tokens import Count
from contextmgr.workers import Hands, Workers

if TYPE_CHECKING:
    from contextmgr.asking import Standalone
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
    ``describer``, a `Writer`, describes every finished episode in one line, by whose words it is found as well
    (``"plain"`` does so without a model, and is not indexed).  ``extractor`` is asked for the facts that outlive a
    conversation, when ``chat.close()`` or ``extract()`` want them; without it the summarizer where that is a `Writer`,
    else plain rules.  ``query_writer`` is asked, for at most two seconds, what a question that points back is about.

    ``embedder`` adds vectors (off by default: words are enough to find most of what is asked for).  ``chat_url`` makes
    links to conversations: a format string with ``{chat_id}`` and ``{first}``, or a function.

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
        describer: Literal["plain"] | Writer | None = None,
        extractor: Writer | None = None,
        query_writer: Writer | None = None,
        chat_url: ChatUrl | None = None,
    ) -> None:
        self._profile = load_profile(profile)
        self._table = ModelTable.load(models) if isinstance(models, (str, Path)) else models
        self._zone = _zone(zone)
        self._count = _counting(counter)
        self._clock = clock or _now
        self._embedder = embedder
        self._ask = _asking(query_writer, prompts)
        self._chat_url = chat_url
        self._store = open_store(store, durability=durability, wait=wait)
        hands = Hands(
            summarizer=summarizer,
            timeout=summarizer_timeout,
            describer=describer,
            extractor=extractor,
            embedder=embedder,
            prompts=prompts,
        )
        try:
            self._workers = Workers(self._store, self._profile, self._count, self._clock, hands, threaded=background)
        except InputError:
            self._store.close()
            raise
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
        visibility: Visibility | str = Visibility.NORMAL,
        recall_projects: Iterable[str] = (),
    ) -> Conversation:
        """Open a conversation, or begin it.  ``zone``, ``title`` and ``visibility`` count when it begins.

        An ``"excluded"`` conversation is never found from others, and nothing is learned from it for them; an
        ``"incognito"`` one is erased by ``chat.close()`` as well.  ``recall_projects`` are further projects of the same
        tenant and user that its recall tools may read; the model cannot widen them.

        ``user=None`` and ``project=None`` are values of their own and match only themselves.  Raises `ScopeError`.
        """
        scope = Scope(tenant=tenant, user=user, project=project)
        check_name("conversation", conversation)
        with self._store.reading(scope) as tx:
            known = tx.conversation(conversation)
            behind = known.last_turn - tx.search.state(conversation).upto if known is not None else 0
        if known is None:
            self._begin(
                scope, conversation, title, self._zone if zone is None else _zone(zone), _visibility(visibility)
            )
        self._workers.opened(scope, conversation, behind)
        return self._open(scope, conversation, tuple(recall_projects))

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

    def extract(self, conversation: str, *, tenant: str, user: str | None = None, project: str | None = None) -> int:
        """Read what a conversation said since the last time for facts that outlive it; returns how many were kept.

        They hold for the scope's other conversations, each with its turn and the words that say it.  Nothing is read
        of an incognito or excluded conversation.  Raises `NotFoundError`.
        """
        extractor = self._workers.extractor(Scope(tenant=tenant, user=user, project=project))
        return extractor.run(conversation) if extractor.ask(conversation) else 0

    def flush(self, timeout: float = 60.0) -> int:
        """Do the work in the background that is due, or wait for it, without beginning anything after ``timeout`` s.

        Returns how many jobs, and turns to be indexed, are left: failed ones, or those that did not get their turn.
        """
        return self._workers.flush(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Index what was said, stop the background work and close the store, beginning nothing after ``timeout`` s.

        What is left is logged, stays in the store and is done when its conversation is opened again.  Closing twice is
        fine.
        """
        if not self._closed:
            self._closed = True
            self._workers.close(timeout)
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

    def _begin(self, scope: Scope, conversation: str, title: str | None, zone: str, visibility: Visibility) -> None:
        now = self._clock()
        record = ConversationRecord(
            id=conversation,
            title=None if title is None else jsontext.sendable(title),
            zone=zone,
            visibility=visibility,
            created_at=now,
            updated_at=now,
        )
        with self._store.writing(scope) as tx:
            if tx.conversation(conversation) is None:
                tx.create_conversation(record)

    def _open(self, scope: Scope, conversation: str, projects: Sequence[str]) -> Conversation:
        recorder = Recorder(self._store, scope, self._count, self._family)
        workers = self._workers
        on_work = partial(workers.summarise, scope) if workers.summarises else None
        searcher = self._searcher(scope)
        assembler = Assembler(
            self._store, scope, self._profile, self._table, self._count, self._clock, on_work, searcher
        )
        keeping = Keeping(self._store, scope, self._clock)
        recall = Recall(
            self._store,
            scope,
            keeping,
            self._count,
            self._clock,
            self._searcher,
            chat_url=self._chat_url,
            projects=projects,
        )
        return Conversation(
            conversation,
            recorder,
            assembler,
            self._pinning(scope),
            searcher,
            keeping,
            recall,
            partial(workers.said, scope, conversation),
            self._ending(scope, conversation),
        )

    def _ending(self, scope: Scope, conversation: str) -> Callable[[], None]:
        """What closing a conversation does: what outlives it is looked for, if later ones will want it."""
        workers = self._workers if self._profile.memory != "blank" else None

        def end() -> None:
            if workers is not None:
                workers.extract(scope, conversation)

        return end

    def _searcher(self, scope: Scope) -> Searcher:
        return Searcher(self._store, scope, self._count, self._embedder, self._ask)

    def _pinning(self, scope: Scope) -> Pinning:
        return Pinning(self._store, scope, self._profile, self._count, self._clock)

    def _family(self, model: str) -> str:
        return model_entry(model, self._table).family


def _counting(counter: TokenCounter | None) -> Count:
    """Counts a text's tokens; the default counter is loaded when it is first needed."""
    load = cache(default_counter)
    return lambda text: (load() if counter is None else counter).count(text)


def _asking(writer: Writer | None, prompts: str | Path | None) -> Standalone | None:
    if writer is None:
        return None
    from contextmgr.asking import asking
    from contextmgr.templates import Templates

    return asking(writer, Templates(prompts))


def _now() -> datetime:
    return datetime.now(UTC)


def _visibility(name: Visibility | str) -> Visibility:
    try:
        return Visibility(name)
    except ValueError:
        raise InputError(f"visibility={name!r} is unknown; use one of {', '.join(map(str, Visibility))}") from None


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            f"{name!r} is no time zone this machine knows; use 'UTC' or a name such as 'Europe/Paris'"
        ) from error
    return name
