"""Searching by subject: excerpts of the scope's chats, and of this chat where it is out of view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from contextmgr.ranking import Query, excerpt, query_terms
from contextmgr.reading import is_visible
from contextmgr.recall.access import Access, Asking, readable, stamp
from contextmgr.recall.answers import Draft, Item, as_text
from contextmgr.recall.arguments import Arguments
from contextmgr.recall.caps import DEFAULT_RESULTS, MAX_RESULTS
from contextmgr.recall.freshness import fresh_first
from contextmgr.recall.titles import title_of
from contextmgr.recall.wording import searched_text
from contextmgr.retrieval import MOST, SearchHit
from contextmgr.scope import Scope
from contextmgr.store import Transaction
from contextmgr.toolnames import SEARCH

FIELDS = ("query", "max_results", "project_id")
_SPARE = 3  # hits asked for per result, so that near-ties can be put in order
_ALSO = 4  # turns that say the same, of those that are named
_MARKS = 4  # tokens of the signs that an excerpt was cut
_SHORT = 24  # tokens: a shorter excerpt says nothing


@dataclass(frozen=True, slots=True)
class _Found:
    scope: Scope
    chat: str
    hit: SearchHit
    score: float


def search(access: Access, asking: Asking, given: object) -> Draft:
    """The answer to a search."""
    arguments = Arguments(SEARCH, given, FIELDS)
    text = arguments.query()
    most = arguments.whole("max_results", least=1, most=MAX_RESULTS, default=DEFAULT_RESULTS)
    project = arguments.optional_text("project_id")
    query = query_terms(text)
    hits = [f for scope in access.scopes(project) for f in _hits(access, asking, scope, text, most)]
    ordered = fresh_first([(f.score, f.hit.said_at, f) for f in sorted(hits, key=lambda f: -f.score)])
    pairs = [pair for f in ordered[:most] if (pair := _result(access, asking, f, query)) is not None]

    def more(kept: Sequence[Item]) -> dict[str, Any]:
        return _left_out(len(pairs) - len(kept)) if pairs else {"found": "nothing"}

    return Draft(
        name="results",
        items=[item for item, _ in pairs],
        found=[told for _, told in pairs],
        notes=arguments.notes,
        more=more,
    )


def _left_out(number: int) -> dict[str, str]:
    if not number:
        return {}
    return {"left_out": f"{number} more would not fit; use a narrower query, or read one of the chats"}


def _hits(access: Access, asking: Asking, scope: Scope, query: str, most: int) -> Iterator[_Found]:
    """What one scope holds; scores become shares of the query, which compare across scopes."""
    own = asking.conversation if scope == access.scope else None
    searcher, k = access.searcher(scope), min(MOST, _SPARE * most)
    chats = searcher.search_chats(query, k, without=() if own is None else (own,))
    yield from _scaled(scope, [(h.conversation, h.hit) for h in chats])
    if own is not None:
        with access.store.reading(scope) as tx:
            border = _first_in_view(tx, own)
        before = [(own, h) for h in searcher.search(own, query, k) if h.turn < border]
        yield from _scaled(scope, before)


def _scaled(scope: Scope, hits: Sequence[tuple[str, SearchHit]]) -> Iterator[_Found]:
    best = max((h.score for _, h in hits), default=0.0)
    share = max((h.share for _, h in hits), default=0.0)
    for chat, hit in hits:
        yield _Found(scope, chat, hit, share * hit.score / best if best > 0 else 0.0)


def _first_in_view(tx: Transaction, conversation: str) -> int:
    """The first turn that the last request showed; without one, the newest request of the user."""
    last = tx.last_request(conversation)
    epoch = tx.epoch(conversation, last.epoch) if last is not None else None
    if epoch is not None:
        return epoch.first
    record = tx.conversation(conversation)
    newest = tx.newest_user(conversation, record.last_turn) if record is not None else None
    return newest.number if newest is not None else 1


def _result(access: Access, asking: Asking, found: _Found, query: Query) -> tuple[Item, Item] | None:
    """A hit as evidence within the cap of one result, and what the audit says of it; None where it is gone by now."""
    hit = found.hit
    with access.store.reading(found.scope) as tx:
        record = readable(tx, found.chat, asking.conversation)
        turn = tx.turn(found.chat, hit.turn) if record is not None else None
        if record is None or turn is None or not is_visible(turn):
            return None
        title, text = title_of(tx, record), searched_text(turn)
    if not text:
        return None
    item: dict[str, Any] = {
        "chat_id": found.chat,
        **access.elsewhere(found.scope),
        "title": title,
        "turns": [hit.turn, *hit.also[:_ALSO]],
        "role": turn.role,
        "timestamp": stamp(turn.said_at, asking.zone),
        "excerpt": "",
        "url": access.url(found.chat, hit.turn),
        "score": round(found.score, 3),
    }
    told = {"chat_id": found.chat, **access.elsewhere(found.scope), "turns": item["turns"], "score": item["score"]}
    shown = _within(access, item, text, query)
    return None if shown is None else (shown, told)


def _within(access: Access, item: dict[str, Any], text: str, query: Query) -> Item | None:
    tokens = access.caps.excerpt - _MARKS
    while tokens >= _SHORT:
        part = excerpt(text, query, tokens=tokens, count=access.count)
        before, after = "…" if part.start else "", "…" if part.end < part.of else ""
        shown = {**item, "excerpt": f"{before}{part.text}{after}"}
        if access.count(as_text(shown)) <= access.caps.result:
            return shown
        tokens = tokens * 2 // 3
    return None
