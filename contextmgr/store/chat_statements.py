"""Statements that search all chats of a scope at once.

The scope's token is part of every match, and every row that is read is joined to its conversation, which must be of
the scope and one that may be found from another chat.  A turn goes by its row id in the full-text table here: the
number of its conversation and its own in one.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import text
from sqlalchemy.sql import ClauseElement

TURN_BITS = 22  # of a row id: the turn's number; the rest is the conversation's
TURN_MASK = (1 << TURN_BITS) - 1
CHAT_BITS = 17  # of a conversation's number; the rest is the scope's, so that its chats are one stretch of row ids

_NEXT_IN_SCOPE = "SELECT max(number) + 1 AS next FROM search_state WHERE tenant = :tenant AND scope = :new_scope"
NEXT_NUMBER = (  # the next of the scope, or the first of a new one: where it is full, or the chat keeps to itself
    f"coalesce((SELECT next FROM ({_NEXT_IN_SCOPE}) WHERE next & {(1 << CHAT_BITS) - 1} > 0), "
    f"(((SELECT coalesce(max(number), 0) FROM search_state) >> {CHAT_BITS}) + 1) << {CHAT_BITS})"
)


def _state(number: str) -> str:
    """Joins what has a conversation's number to how that conversation is indexed."""
    return f"CROSS JOIN search_state AS st ON st.number = {number} AND st.tenant = :tenant AND st.scope = :scope"


def _text(doc: str) -> str:
    """Joins what has a row id, and the state of its conversation, to its terms."""
    return f"CROSS JOIN search_text AS s ON s.tenant = :tenant AND s.conv = st.conv AND s.n = {doc} & {TURN_MASK}"


_OPEN = "CROSS JOIN conversation AS c ON c.tenant = :tenant AND c.conv = st.conv AND c.visibility = 'normal'"
_GIVEN = "FROM json_each(:numbers) AS d"
_MINE = "FROM search_state WHERE tenant = :tenant AND scope = :scope"
_SHOWN = (
    "s.status <> 'failed' AND NOT EXISTS (SELECT 1 FROM turn AS w "
    "WHERE w.tenant = s.tenant AND w.conv = s.conv AND w.n = s.n AND w.withdrawn IS NOT NULL)"
)
_FOUND = "search_fts MATCH :query AND search_fts.rowid BETWEEN :lowest AND :highest"
_MATCHES = (
    "SELECT search_fts.rowid AS doc, s.terms, s.length FROM search_fts "
    f"{_state(f'search_fts.rowid >> {TURN_BITS}')} {_text('search_fts.rowid')} "
    f"WHERE {_FOUND} AND {_SHOWN} AND st.conv NOT IN (SELECT value FROM json_each(:without))"
)

CHATS: Mapping[str, ClauseElement] = {
    "scope_state": text(
        "SELECT coalesce(sum(units), 0) AS units, coalesce(sum(terms), 0) AS terms, "
        f"coalesce(sum(episodes), 0) AS episodes, min(number) AS first, max(number) AS last {_MINE}"
    ),
    "scope_before": text(f"SELECT coalesce(sum(units), 0) AS units {_MINE} AND number < :number"),
    "scope_count": text(
        "SELECT count(*) AS found, max(doc) AS last FROM "
        f"(SELECT search_fts.rowid AS doc FROM search_fts WHERE {_FOUND} LIMIT :most)"
    ),
    "scope_match": text(f"{_MATCHES} LIMIT :most"),
    "scope_match_newest": text(f"{_MATCHES} ORDER BY search_fts.rowid DESC LIMIT :most"),  # backwards costs twice
    "scope_units": text(
        f"SELECT s.*, d.value AS doc {_GIVEN} {_state(f'd.value >> {TURN_BITS}')} {_OPEN} {_text('d.value')} "
        f"WHERE {_SHOWN} ORDER BY d.value"
    ),
    "scope_episodes": text(
        f"SELECT e.terms, d.value AS doc {_GIVEN} {_state(f'd.value >> {TURN_BITS}')} CROSS JOIN search_episode AS e "
        f"ON e.tenant = :tenant AND e.conv = st.conv AND e.first = d.value & {TURN_MASK}"
    ),
    "scope_chats": text(f"SELECT d.value AS number, c.id, c.title {_GIVEN} {_state('d.value')} {_OPEN}"),
}
