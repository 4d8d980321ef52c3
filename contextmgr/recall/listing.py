"""Listing chats by the time of their last use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from contextmgr.micros import to_micros
from contextmgr.recall.access import Access, Asking, stamp
from contextmgr.recall.answers import Draft, Item
from contextmgr.recall.arguments import ArgumentError, Arguments, shown
from contextmgr.recall.caps import DEFAULT_CHATS, MAX_CHATS
from contextmgr.recall.cursors import cursor_after, read_cursor
from contextmgr.recall.titles import title_of
from contextmgr.scope import Scope
from contextmgr.store import ConversationRecord
from contextmgr.toolnames import RECENT

FIELDS = ("count", "order", "before", "after", "cursor", "project_id")
ORDERS = ("newest", "oldest")
_Chat = tuple[Scope, ConversationRecord]


def recent(access: Access, asking: Asking, given: object) -> Draft:
    """The answer to a request for the last chats."""
    arguments = Arguments(RECENT, given, FIELDS)
    count = arguments.whole("count", least=1, most=MAX_CHATS, default=DEFAULT_CHATS)
    order = arguments.choice("order", ORDERS)
    before, after = arguments.moment("before", asking.zone), arguments.moment("after", asking.zone)
    if before is not None and after is not None and before <= after:
        raise ArgumentError(
            f"before={shown(arguments.value('before'))} must be later than after={shown(arguments.value('after'))}"
        )
    text = arguments.optional_text("cursor")
    cursor = read_cursor(text, order) if text is not None else None
    project = arguments.optional_text("project_id")
    chats = _chats(access, asking, access.scopes(project), count + 1, before, after, cursor, order)
    items = [_item(access, asking, scope, record) for scope, record in chats[:count]]

    def more(kept: Sequence[Item]) -> dict[str, Any]:
        if not kept or len(kept) == len(chats):
            return {}
        last = chats[len(kept) - 1][1]
        return {"next_cursor": cursor_after(order, last.updated_at, last.id)}

    note = () if asking.conversation is None else ("this chat itself is not in the list",)
    return Draft(
        name="chats",
        items=items,
        found=[{name: item[name] for name in ("chat_id", "project_id") if name in item} for item in items],
        notes=(*arguments.notes, *note),
        more=more,
    )


def _chats(
    access: Access,
    asking: Asking,
    scopes: Sequence[Scope],
    most: int,
    before: datetime | None,
    after: datetime | None,
    cursor: tuple[int, str] | None,
    order: str,
) -> list[_Chat]:
    """At most ``most`` chats of all scopes in one order, without the one that asks."""
    found: list[_Chat] = []
    newest = order == ORDERS[0]
    for scope in scopes:
        own = asking.conversation if scope == access.scope else None
        with access.store.reading(scope) as tx:
            records = tx.chats(most + 1, before=before, after=after, cursor=cursor, newest=newest)
        found += [(scope, r) for r in records if r.id != own]
    sign = -1 if newest else 1
    found.sort(key=lambda chat: (sign * to_micros(chat[1].updated_at), chat[1].id))
    return found[:most]


def _item(access: Access, asking: Asking, scope: Scope, record: ConversationRecord) -> dict[str, Any]:
    with access.store.reading(scope) as tx:
        title = title_of(tx, record)
    return {
        "chat_id": record.id,
        **access.elsewhere(scope),
        "title": title,
        "first_used": stamp(record.created_at, asking.zone),
        "last_used": stamp(record.updated_at, asking.zone),
        "turns": record.last_turn,
        "url": access.url(record.id, 1),
    }
