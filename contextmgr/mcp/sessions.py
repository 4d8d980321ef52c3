"""What one server may reach: recall over a store, in the scope it was started with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from contextmgr.counters import default_counter
from contextmgr.keeping import Keeping
from contextmgr.recall import CAPS, ChatUrl, Recall
from contextmgr.recording import no_conversation
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope
from contextmgr.store import Store

# Turns of the client are not ours to see, so what a single turn may bring in cannot be summed up: each call is capped.
_PER_CALL = replace(CAPS, turn=1_000_000_000)


def session_recall(
    store: Store,
    scope: Scope,
    *,
    conversation: str | None = None,
    projects: Sequence[str] = (),
    chat_url: ChatUrl | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Recall:
    """The recall tools over ``store`` in ``scope``; ``projects`` are further ones of its tenant and user.

    Raises `NotFoundError` for a ``conversation`` that is not in the scope, `InputError` for projects or links that
    cannot be ones.
    """
    if conversation is not None:
        with store.reading(scope) as tx:
            if tx.conversation(conversation) is None:
                raise no_conversation(conversation)
    now = clock or _now
    count = default_counter().count
    return Recall(
        store=store,
        scope=scope,
        keeping=Keeping(store, scope, now),
        count=count,
        clock=now,
        searcher=lambda where: Searcher(store, where, count),
        chat_url=chat_url,
        projects=tuple(projects),
        caps=_PER_CALL,
    )


def _now() -> datetime:
    return datetime.now(UTC)
