"""Statements of the search tables.

The full-text table holds no text of its own (``content=''``): it answers which turns hold a term, and only that.  Its
row ids are a conversation's number and the turn's in one, so a conversation is one stretch of them, and the engine
looks nowhere else; the conversation's token is part of every match that returns turns all the same.  Where all chats
of a scope are searched together, the scope's token is part of the match.  Taking a row out must give the exact words
that were put in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from sqlalchemy import ColumnElement, Table, and_, bindparam, delete, insert, not_, or_, select, text, update
from sqlalchemy.sql import ClauseElement

from contextmgr.store import tables
from contextmgr.store.chat_statements import CHATS, NEXT_NUMBER

STATE = cast(Table, vars(tables.SearchState)["__table__"])
TEXT = cast(Table, vars(tables.SearchText)["__table__"])
EPISODE = cast(Table, vars(tables.SearchEpisode)["__table__"])
VECTOR = cast(Table, vars(tables.SearchVector)["__table__"])
TURN = cast(Table, vars(tables.Turn)["__table__"])

FTS_TABLE = (
    "CREATE VIRTUAL TABLE search_fts USING fts5"
    "(scope, terms, content='', detail='column', tokenize=\"ascii tokenchars '_'\")"
)
SCRUB = "INSERT INTO search_fts (search_fts) VALUES ('optimize')"
CHECK = "INSERT INTO search_fts (search_fts) VALUES ('integrity-check')"

_FOUND = "search_fts MATCH :query AND search_fts.rowid BETWEEN :lowest AND :highest"
_MATCHES = (
    "SELECT s.n, s.terms, s.length FROM search_fts CROSS JOIN search_text AS s "
    "ON s.tenant = :tenant AND s.conv = :conv AND s.n = search_fts.rowid - :lowest "
    f"WHERE {_FOUND}"
)


def _here(table: Table) -> ColumnElement[bool]:
    return and_(table.c.tenant == bindparam("tenant"), table.c.conv == bindparam("conv"))


def _n(table: Table) -> ColumnElement[bool]:
    return and_(_here(table), table.c.n == bindparam("n"))


SEARCH: Mapping[str, ClauseElement] = {
    "search_state": select(STATE).where(_here(STATE)),
    "new_search_state": text(
        "INSERT INTO search_state (tenant, conv, number, units, terms, episodes, upto, scope) "
        f"VALUES (:tenant, :conv, {NEXT_NUMBER}, 0, 0, 0, 0, :new_scope)"
    ),
    "move_search_state": text(
        "UPDATE search_state SET units = units + :units, terms = terms + :terms, "
        "episodes = episodes + :episodes, upto = max(upto, :upto) "
        "WHERE tenant = :tenant AND conv = :conv"
    ),
    "share_search_state": text(
        f"UPDATE search_state SET number = {NEXT_NUMBER}, scope = :new_scope WHERE tenant = :tenant AND conv = :conv"
    ),
    "unindexed": text(
        "SELECT n, sha256, (SELECT count(*) FROM result AS r WHERE r.tenant = t.tenant AND r.conv = t.conv "
        "AND r.n = t.n) AS results FROM turn AS t WHERE tenant = :tenant AND conv = :conv "
        "AND n BETWEEN :first AND :last AND status <> 'erased' AND withdrawn IS NULL ORDER BY n"
    ),
    "insert_search": insert(TEXT),
    "delete_search": delete(TEXT).where(_n(TEXT)),
    "search": select(TEXT).where(_n(TEXT)),
    "searches": select(TEXT).where(_here(TEXT)),
    "searches_in": text(
        "SELECT * FROM search_text WHERE tenant = :tenant AND conv = :conv AND status <> 'failed' "
        "AND n IN (SELECT value FROM json_each(:numbers)) ORDER BY n"
    ),
    "episodes_in": text(
        "SELECT first, terms FROM search_episode WHERE tenant = :tenant AND conv = :conv "
        "AND first IN (SELECT value FROM json_each(:numbers))"
    ),
    "episode_terms": update(EPISODE)
    .where(_here(EPISODE), EPISODE.c.first == bindparam("first"))
    .values(terms=EPISODE.c.terms + bindparam("more")),
    "insert_episode": insert(EPISODE),
    "unread": select(TEXT)
    .where(_here(TEXT), text("search_text.status <> 'ready'"), TEXT.c.attempts < bindparam("attempts"))
    .order_by(TEXT.c.n)
    .limit(bindparam("most")),
    "outdate_search": update(TEXT).where(_n(TEXT)).values(status="stale", attempts=0),
    "add_fts": text("INSERT INTO search_fts (rowid, scope, terms) VALUES (:doc, :scope, :terms)"),
    "drop_fts": text(
        "INSERT INTO search_fts (search_fts, rowid, scope, terms) VALUES ('delete', :doc, :scope, :terms)"
    ),
    "count_fts": text(
        "SELECT count(*) AS found, max(doc) AS last FROM "
        f"(SELECT search_fts.rowid AS doc FROM search_fts WHERE {_FOUND} LIMIT :most)"
    ),
    "match_fts": text(f"{_MATCHES} LIMIT :most"),
    "match_fts_newest": text(f"{_MATCHES} ORDER BY search_fts.rowid DESC LIMIT :most"),  # reading backwards costs twice
    "withdrawn_turns": select(TURN.c.n).where(_here(TURN), text("turn.withdrawn IS NOT NULL")),
    "erased_turns": select(TURN.c.n).where(
        _here(TURN),
        TURN.c.n >= bindparam("first"),
        TURN.c.n <= bindparam("last"),
        TURN.c.status == "erased",
    ),
    "vectors": select(VECTOR.c.n, VECTOR.c.body, VECTOR.c.error, VECTOR.c.attempts)
    .where(_here(VECTOR), VECTOR.c.model == bindparam("model"), VECTOR.c.error.is_(None))
    .order_by(VECTOR.c.n),
    "without_vector": select(TEXT.c.n)
    .select_from(
        TEXT.outerjoin(
            VECTOR, and_(VECTOR.c.tenant == TEXT.c.tenant, VECTOR.c.conv == TEXT.c.conv, VECTOR.c.n == TEXT.c.n)
        )
    )
    .where(
        _here(TEXT),
        TEXT.c.length > 0,
        or_(
            VECTOR.c.n.is_(None),
            VECTOR.c.model != bindparam("model"),
            and_(not_(VECTOR.c.error.is_(None)), VECTOR.c.attempts < bindparam("attempts")),
        ),
    )
    .order_by(TEXT.c.n.desc())
    .limit(bindparam("most")),
    "insert_vector": insert(VECTOR),
    "delete_vector": delete(VECTOR).where(_n(VECTOR)),
    **CHATS,
}
