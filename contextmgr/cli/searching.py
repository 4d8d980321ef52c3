"""``contextmgr search``: what a stored conversation, or all chats of a scope, say about a question."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass

import typer

from contextmgr.cli.existing import existing_store
from contextmgr.counters import default_counter
from contextmgr.retrieval import ChatHit, Searcher
from contextmgr.scope import Scope, check_name
from contextmgr.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which conversations are searched: one, or with None all chats of the scope."""

    store: str
    tenant: str
    user: str | None
    project: str | None
    conversation: str | None


def run(query: str, where: Where, *, k: int, as_json: bool) -> bool:
    """Search and print, best first; whether anything was found.

    Raises `StoreError` for a store that is not there, `NotFoundError` for a conversation that is not in the scope.
    """
    store = existing_store(where.store)
    try:
        found = _found(store, query, where, k)
    finally:
        store.close()
    for hit in found:
        typer.echo(_json(hit) if as_json else _lines(hit))
    return bool(found)


def _found(store: Store, query: str, where: Where, k: int) -> list[ChatHit]:
    scope = Scope(tenant=where.tenant, user=where.user, project=where.project)
    searcher = Searcher(store, scope, default_counter().count)
    if where.conversation is None:
        return searcher.search_chats(query, k)
    name = check_name("conversation", where.conversation)
    return [ChatHit(name, None, hit) for hit in searcher.search(name, query, k)]


def _json(found: ChatHit) -> str:
    hit = found.hit
    value = dataclasses.asdict(hit) | {"conversation": found.conversation, "also": list(hit.also)}
    value["said_at"] = hit.said_at.isoformat() if hit.said_at else None
    return json.dumps(value, ensure_ascii=False)


def _lines(found: ChatHit) -> str:
    hit = found.hit
    when = f", {hit.said_at:%Y-%m-%d %H:%M}" if hit.said_at else ""
    head = f"{found.conversation}, turn {hit.turn}, {hit.role}{when} · {hit.share:.0%} · {hit.reason}"
    return "\n".join([head, *(f"    {line}" for line in hit.excerpt.splitlines() if line.strip())])
