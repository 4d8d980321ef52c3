"""The way in: a store, a profile, and the conversations of any scope."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from contextmgr import jsontext
from contextmgr.assembly import Assembler
from contextmgr.conversation import Conversation
from contextmgr.counters import TokenCounter, default_counter
from contextmgr.errors import InputError
from contextmgr.lookups import ProjectPins
from contextmgr.models import ModelTable, model_entry
from contextmgr.pinning import Pinning
from contextmgr.profiles import Profile, load_profile
from contextmgr.recording import Recorder
from contextmgr.scope import Scope, check_name
from contextmgr.store import ConversationRecord, Store, open_store
from contextmgr.store.sqlite import Durability


class Manager:
    """Opens a store and gives out conversations.

    ``store`` is a path, an SQLite URL (``sqlite:///agent.db``, ``sqlite://`` for memory) or a `Store`; ``profile`` a
    shipped name, a TOML path, an input budget in tokens or a `Profile`; ``models`` a TOML file over the shipped model
    table; ``durability`` what a stored turn survives: killing the ``process``, or a ``power`` cut; ``wait`` the
    longest wait for a lock, in seconds; ``zone`` the time zone of dates in requests; ``clock`` gives the time.

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
    ) -> None:
        self._profile = load_profile(profile)
        self._table = ModelTable.load(models) if isinstance(models, (str, Path)) else models
        self._zone = _zone(zone)
        self._counter = counter
        self._clock = clock or _now
        self._head_weights: dict[str, object] = {}
        self._store = open_store(store, durability=durability, wait=wait)
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

    def close(self) -> None:
        """Close the store.  Closing twice is fine."""
        if not self._closed:
            self._closed = True
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
        assembler = Assembler(self._store, scope, self._profile, self._table, self._count, self._clock)
        return Conversation(conversation, recorder, assembler, self._pinning(scope))

    def _pinning(self, scope: Scope) -> Pinning:
        return Pinning(self._store, scope, self._profile, self._count, self._clock)

    def _family(self, model: str) -> str:
        return model_entry(model, self._table).family

    def _count(self, text: str) -> int:
        if self._counter is None:
            self._counter = default_counter()
        return self._counter.count(text)


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
