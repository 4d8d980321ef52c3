"""The search tables in one transaction."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from contextmgr.micros import to_micros
from contextmgr.ranking import Unit
from contextmgr.scope import Scope, Visibility
from contextmgr.store.chat_rows import ChatRows, scope_token
from contextmgr.store.chat_statements import TURN_BITS
from contextmgr.store.fts_text import Run, any_of, read_unit, words_of
from contextmgr.store.search_base import Match, SearchState, Unindexed, Unread, VectorRow

_MORE = {"units": 0, "terms": 0, "episodes": 0, "upto": 0}


class SearchRows:
    """`SearchTables` over compiled statements; ``key`` gives the key of a conversation's rows."""

    __slots__ = ("_key", "_lowest", "_run", "_shared", "_token", "chats")

    def __init__(self, run: Run, key: Callable[[str], str | None], scope: Scope) -> None:
        self._run = run
        self._key = key
        self._token = scope_token(scope)
        self._lowest: dict[str, int] = {}
        self._shared: dict[str, bool] = {}
        self.chats = ChatRows(run, scope)

    def state(self, conversation: str) -> SearchState:
        """How far a conversation is indexed."""
        row = self._run("search_state", conversation).fetchone()
        if row is None:
            return SearchState()
        self._lowest[conversation] = row["number"] << TURN_BITS
        self._shared[conversation] = row["scope"] is not None
        return SearchState(upto=row["upto"], units=row["units"], terms=row["terms"], episodes=row["episodes"])

    def unindexed(self, conversation: str, first: int, last: int) -> list[Unindexed]:
        """What is needed to know whether turns were looked at before."""
        found = self._run("unindexed", conversation, {"first": first, "last": last}).fetchall()
        return [Unindexed(r["n"], r["sha256"], r["results"]) for r in found]

    def put(self, conversation: str, units: Sequence[Unit], unread: Sequence[Unread], upto: int) -> None:
        """Index turns, or index them again, and move the watermark."""
        if self._base(conversation) is None:
            row = self._run("conversation", conversation).fetchone()
            shared = row is not None and row["visibility"] == Visibility.NORMAL.value
            self._run("new_search_state", conversation, {"new_scope": self._token if shared else None})
        lowest, scope = self._base(conversation) or 0, self._filed(conversation)
        known = self.state(conversation).upto
        for number in [*(u.number for u in units), *(u.number for u in unread)]:
            if number <= known:
                self.drop(conversation, number)
        for unit in units:
            self._run("insert_search", conversation, _row(unit))
            if unit.length:
                words = words_of(unit.indexed)
                self._run("add_fts", None, {"doc": lowest + unit.number, "scope": scope, "terms": words})
        for failed in unread:
            self._run("insert_search", conversation, _unread_row(failed))
        sums: Counter[int] = Counter()
        for unit in units:
            sums[unit.episode or 0] += unit.length
        begun = sum(self._add_to_episode(conversation, first, more) for first, more in sums.items())
        counted = sum(1 for u in units if u.length)
        more = {"units": counted, "terms": sums.total(), "episodes": begun, "upto": upto}
        self._run("move_search_state", conversation, more)
        self.chats.changed()

    def _add_to_episode(self, conversation: str, first: int, more: int) -> bool:
        """Count terms of an episode; whether it is a new one."""
        if self._run("episode_terms", conversation, {"first": first, "more": more}).rowcount:
            return False
        self._run("insert_episode", conversation, {"first": first, "terms": more})
        return True

    def drop(self, conversation: str, number: int) -> None:
        """Take a turn out of the index; nothing happens where it is not in it."""
        row = self._run("search", conversation, {"n": number}).fetchone()
        if row is not None:
            self._drop_words(conversation, row)
            self._run("delete_search", conversation, {"n": number})
            self.chats.changed()
            if row["length"]:
                self._run("episode_terms", conversation, {"first": row["episode"], "more": -row["length"]})
                self._run("move_search_state", conversation, {**_MORE, "units": -1, "terms": -row["length"]})
        self._run("delete_vector", conversation, {"n": number})

    def drop_all(self, conversation: str) -> None:
        """Take a whole conversation out of the full-text table; its own rows go with the other tables."""
        if self._base(conversation) is not None:
            for row in self._run("searches", conversation).fetchall():
                self._drop_words(conversation, row)

    def _drop_words(self, conversation: str, row: Mapping[str, Any]) -> None:
        if row["length"]:
            doc, words = (self._base(conversation) or 0) + row["n"], words_of(row["terms"])
            self._run("drop_fts", None, {"doc": doc, "scope": self._filed(conversation), "terms": words})

    def _base(self, conversation: str) -> int | None:
        """The row id before a conversation's first turn; None where nothing of it was indexed."""
        if conversation not in self._lowest:
            self.state(conversation)
        return self._lowest.get(conversation)

    def _scope(self, conversation: str) -> str:
        return f"c{self._key(conversation)}"

    def _filed(self, conversation: str) -> str:
        """Under which tokens turns stand: their conversation's, and the scope's unless it keeps to itself."""
        own = self._scope(conversation)
        return f"{own} {self._token}" if self._shared.get(conversation) else own

    def number(self, conversation: str) -> int | None:
        """The number that stands for a conversation in row ids."""
        base = self._base(conversation)
        return None if base is None else base >> TURN_BITS

    def share(self, conversation: str, shared: bool) -> None:
        """File the turns of a conversation anew."""
        if self._base(conversation) is None or self._shared[conversation] == shared:
            return
        found = [row for row in self._run("searches", conversation).fetchall() if row["length"]]
        for row in found:
            self._drop_words(conversation, row)
        self._run("share_search_state", conversation, {"new_scope": self._token if shared else None})
        self.chats.changed()
        self.state(conversation)
        lowest, scope = self._lowest[conversation], self._filed(conversation)
        for row in found:
            values = {"doc": lowest + row["n"], "scope": scope, "terms": words_of(row["terms"])}
            self._run("add_fts", None, values)

    def unread(self, conversation: str, attempts: int, most: int) -> list[Unread]:
        """Turns that failed or changed."""
        found = self._run("unread", conversation, {"attempts": attempts, "most": most}).fetchall()
        return [Unread(number=r["n"], episode=r["episode"], error=r["error"], attempts=r["attempts"]) for r in found]

    def outdate(self, conversation: str, number: int) -> None:
        """Note that an indexed turn has changed."""
        self._run("outdate_search", conversation, {"n": number})

    def holding(self, conversation: str, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs."""
        state = self.state(conversation)
        base = self._base(conversation)
        if base is None:
            return dict.fromkeys(terms, 0)
        found = {}
        for term in terms:
            values = {"query": f"terms : {any_of([[term]])}", **self._range(conversation), "most": most}
            row = self._run("count_fts", None, values).fetchone()
            full = row["found"] >= most  # the rest is reckoned: as many in each turn as in those before
            found[term] = row["found"] * state.upto // (row["last"] - base) if full else row["found"]
        return found

    def episode_terms(self, conversation: str, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        found = self._run("episodes_in", conversation, {"numbers": json.dumps(sorted(episodes))}).fetchall()
        return {r["first"]: r["terms"] for r in found}

    def matches(
        self, conversation: str, needed: Sequence[Sequence[str]], most: int, *, newest: bool = False
    ) -> list[Match]:
        """Turns that hold all terms of any group."""
        if self._base(conversation) is None or not needed:
            return []
        values = self._query(conversation, needed) | {"most": most}
        name = "match_fts_newest" if newest else "match_fts"
        return list(map(Match._make, self._run(name, conversation, values).fetchall()))

    def _query(self, conversation: str, needed: Sequence[Sequence[str]]) -> dict[str, Any]:
        """What is matched: words in quotes, so that nothing in them is grammar, and always the scope's own."""
        query = f'scope : "{self._scope(conversation)}" AND terms : ({any_of(needed)})'
        return {"query": query, **self._range(conversation)}

    def _range(self, conversation: str) -> dict[str, int]:
        """The row ids of the conversation: where the engine looks, whatever else it holds."""
        base = self._base(conversation) or 0
        return {"lowest": base, "highest": base + (1 << TURN_BITS) - 1}

    def units(self, conversation: str, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns."""
        values = {"numbers": json.dumps(sorted(numbers))}
        return [read_unit(r) for r in self._run("searches_in", conversation, values).fetchall()]

    def hidden(self, conversation: str) -> frozenset[int]:
        """Turns that are withdrawn."""
        return frozenset(r["n"] for r in self._run("withdrawn_turns", conversation).fetchall())

    def erased(self, conversation: str, first: int, last: int) -> frozenset[int]:
        """Turns that were erased."""
        values = {"first": first, "last": last}
        return frozenset(r["n"] for r in self._run("erased_turns", conversation, values).fetchall())

    def vectors(self, conversation: str, model: str) -> list[VectorRow]:
        """The vectors a model made of a conversation."""
        found = self._run("vectors", conversation, {"model": model}).fetchall()
        return [VectorRow(number=r["n"], body=r["body"]) for r in found]

    def without_vector(self, conversation: str, model: str, attempts: int, most: int) -> list[int]:
        """Indexed turns that have no vector by this model."""
        values = {"model": model, "attempts": attempts, "most": most}
        return [r["n"] for r in self._run("without_vector", conversation, values).fetchall()]

    def put_vectors(self, conversation: str, model: str, dim: int, rows: Sequence[VectorRow]) -> None:
        """Keep vectors in place of others."""
        for row in rows:
            self._run("delete_vector", conversation, {"n": row.number})
            values = {"n": row.number, "model": model, "dim": dim, "body": row.body}
            self._run("insert_vector", conversation, values | {"error": row.error, "attempts": row.attempts})


def _row(unit: Unit) -> dict[str, Any]:
    return {
        "n": unit.number,
        "role": unit.role,
        "terms": unit.indexed,
        "length": unit.length,
        "episode": unit.episode or 0,
        "asks": unit.asks + 2 * unit.acts,
        "said_at": to_micros(unit.at),
        "status": "ready",
        "attempts": 0,
        "error": None,
    }


def _unread_row(turn: Unread) -> dict[str, Any]:
    values = {"n": turn.number, "role": "user", "terms": "", "length": 0, "episode": turn.episode, "asks": 0}
    return values | {"said_at": 0, "status": "failed", "attempts": turn.attempts, "error": turn.error}
