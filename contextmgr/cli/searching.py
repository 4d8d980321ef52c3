"""``contextmgr search``: what a stored conversation says about a question."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import typer

from contextmgr.counters import default_counter
from contextmgr.errors import StoreError
from contextmgr.retrieval import Searcher, SearchHit
from contextmgr.scope import Scope, check_name
from contextmgr.store import Store, open_store

CONVERSATIONS = 1_000  # of one scope that are searched where none is named


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which conversations are searched: one, or with None those of the scope, last used first."""

    store: str
    tenant: str
    user: str | None
    project: str | None
    conversation: str | None


def run(query: str, where: Where, *, k: int, as_json: bool) -> bool:
    """Search and print; whether anything was found.

    Raises `StoreError` for a store that is not there, `NotFoundError` for a conversation that is not in the scope.
    """
    if not _file(where.store).exists():
        raise StoreError(f"there is no store at {where.store!r}; give the path or URL of an existing one")
    store = open_store(where.store)
    try:
        found = list(_found(store, query, where, k))
    finally:
        store.close()
    found.sort(key=lambda pair: -pair[1].share)  # scores of two conversations cannot be compared, shares can
    for name, hit in found[:k]:
        typer.echo(_json(name, hit) if as_json else _lines(name, hit))
    return bool(found)


def _file(store: str) -> Path:
    return Path(store.removeprefix("sqlite:///"))


def _found(store: Store, query: str, where: Where, k: int) -> Iterator[tuple[str, SearchHit]]:
    scope = Scope(tenant=where.tenant, user=where.user, project=where.project)
    searcher = Searcher(store, scope, default_counter().count)
    if where.conversation is not None:
        names = [check_name("conversation", where.conversation)]
    else:
        with store.reading(scope) as tx:
            names = [c.id for c in tx.conversations(CONVERSATIONS)]
    for name in names:
        yield from ((name, hit) for hit in searcher.search(name, query, k))


def _json(name: str, hit: SearchHit) -> str:
    value = dataclasses.asdict(hit) | {"conversation": name, "also": list(hit.also)}
    value["said_at"] = hit.said_at.isoformat() if hit.said_at else None
    return json.dumps(value, ensure_ascii=False)


def _lines(name: str, hit: SearchHit) -> str:
    when = f", {hit.said_at:%Y-%m-%d %H:%M}" if hit.said_at else ""
    head = f"{name}, turn {hit.turn}, {hit.role}{when} · {hit.share:.0%} · {hit.reason}"
    return "\n".join([head, *(f"    {line}" for line in hit.excerpt.splitlines() if line.strip())])
