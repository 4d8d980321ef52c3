"""A manager with chats to recall, and short ways to call the tools."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.counters import default_counter
from contextmgr.keeping import Keeping
from contextmgr.recall import CAPS, Caps, ChatUrl, Recall
from contextmgr.retrieval import Searcher
from contextmgr.scope import Scope
from contextmgr.store.state_base import AuditRecord

START = datetime(2026, 8, 17, 9, 30, tzinfo=UTC)
MINE = Scope(tenant="t")


def tokens(text: str) -> int:
    return default_counter().count(text)


def recall(
    manager: Manager,
    scope: Scope = MINE,
    *,
    caps: Caps = CAPS,
    projects: tuple[str, ...] = (),
    chat_url: ChatUrl | None = None,
) -> Recall:
    store = manager._store
    return Recall(
        store=store,
        scope=scope,
        keeping=Keeping(store, scope, lambda: START),
        count=tokens,
        clock=lambda: START,
        searcher=lambda s: Searcher(store, s, tokens),
        chat_url=chat_url,
        projects=projects,
        caps=caps,
    )


def said(manager: Manager, name: str, *texts: str, day: int = 0, scope: Scope = MINE, **more: Any) -> Conversation:
    """A chat in which user and assistant take turns, begun ``day`` days after `START`."""
    chat = manager.conversation(name, tenant=scope.tenant, user=scope.user, project=scope.project, **more)
    for place, text in enumerate(texts):
        at = START + timedelta(days=day, minutes=place)
        if place % 2:
            chat.add_reply({"role": "assistant", "content": text, "stop_reason": "end_turn"}, said_at=at)
        else:
            chat.add_user(text, said_at=at)
    return chat


def call(name: str, number: int = 1, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def ask(recalling: Recall, conversation: str | None, name: str, number: int = 1, **given: Any) -> Any:
    """The answer to a call that must succeed, read from its JSON."""
    result = recalling.handle(conversation, call(name, number, **given))
    assert not result.get("is_error"), result
    return json.loads(result["content"][0]["text"])


def refused(recalling: Recall, conversation: str | None, name: str, **given: Any) -> str:
    """What the model is told of a call that must be refused."""
    result = recalling.handle(conversation, call(name, **given))
    assert result["is_error"] is True
    return str(result["content"][0]["text"])


def audits(manager: Manager, scope: Scope = MINE, most: int = 50) -> list[AuditRecord]:
    with manager._store.reading(scope) as tx:
        return tx.state.audits(most)
