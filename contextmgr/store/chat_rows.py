"""Searching all chats of a scope at once, in one transaction."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

from contextmgr import jsontext
from contextmgr.ranking import Unit
from contextmgr.scope import Scope
from contextmgr.store.chat_statements import CHAT_BITS, TURN_BITS, TURN_MASK
from contextmgr.store.fts_text import Run, any_of, read_unit
from contextmgr.store.rows import conversation_key
from contextmgr.store.search_base import ChatName, Match, SearchState


@lru_cache(maxsize=4_096)
def scope_token(scope: Scope) -> str:
    """The word by which the chats of a scope are found together: a digest, so no other scope can spell it."""
    text = jsontext.dumps([scope.tenant, scope.user, scope.project])
    return f"s{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"


class ChatRows:
    """`ChatTables` over compiled statements."""

    __slots__ = ("_known", "_run_named", "_scope", "_token")

    def __init__(self, run: Run, scope: Scope) -> None:
        self._run_named = run
        self._scope = scope
        self._token = scope_token(scope)
        self._known: Mapping[str, Any] | None = None

    def _run(self, name: str, values: Mapping[str, Any] | None = None) -> Any:
        return self._run_named(name, None, {"scope": self._token, **(values or {})})

    def changed(self) -> None:
        """Forget the sums."""
        self._known = None

    def _sums(self) -> Mapping[str, Any]:
        found = self._known
        if found is None:
            found = self._known = cast(Mapping[str, Any], self._run("scope_state").fetchone())
        return found

    def state(self) -> SearchState:
        """The sums of the scope's chats."""
        row = self._sums()
        return SearchState(units=row["units"], terms=row["terms"], episodes=row["episodes"])

    def holding(self, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs."""
        units = self._sums()["units"]
        return {term: self._held(term, most, units) for term in terms}

    def _held(self, term: str, most: int, units: int) -> int:
        row = self._run("scope_count", self._query([[term]], alone=self._is_one_stretch()) | {"most": most}).fetchone()
        found, last = row["found"], row["last"]
        if found < most:
            return int(found)
        number = last >> TURN_BITS  # the rest is reckoned: as many in each turn as in those before
        before, upto = (self._run("scope_before", {"number": n}).fetchone()["units"] for n in (number, number + 1))
        looked_at = before + min(upto - before, last & TURN_MASK)
        return int(min(units, found * units // max(looked_at, found)))

    def _is_one_stretch(self) -> bool:
        """Whether nobody else's turns lie between those of the scope."""
        row = self._sums()
        return row["first"] is not None and row["first"] >> CHAT_BITS == row["last"] >> CHAT_BITS

    def _query(self, needed: Sequence[Sequence[str]], *, alone: bool = False) -> dict[str, Any]:
        """What is matched, within the stretch of the scope; unless it is ``alone`` there, its token is part of it."""
        row, terms = self._sums(), f"terms : ({any_of(needed)})"
        first, last = row["first"] or 0, row["last"] or 0
        query = terms if alone else f'scope : "{self._token}" AND {terms}'
        return {"query": query, "lowest": first << TURN_BITS, "highest": ((last + 1) << TURN_BITS) - 1}

    def matches(
        self, needed: Sequence[Sequence[str]], most: int, without: Collection[str], *, newest: bool = False
    ) -> list[Match]:
        """Turns that hold all terms of any group."""
        if not needed:
            return []
        left_out = [conversation_key(self._scope, name) for name in without]
        values = self._query(needed) | {"most": most, "without": json.dumps(left_out)}
        return list(map(Match._make, self._run("scope_match_newest" if newest else "scope_match", values).fetchall()))

    def units(self, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns."""
        found = self._run("scope_units", {"numbers": json.dumps(sorted(numbers))}).fetchall()
        return [read_unit(r, r["doc"] - r["n"]) for r in found]

    def episode_terms(self, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        found = self._run("scope_episodes", {"numbers": json.dumps(sorted(episodes))}).fetchall()
        return {r["doc"]: r["terms"] for r in found}

    def named(self, numbers: Collection[int]) -> dict[int, ChatName]:
        """Which conversations these numbers stand for."""
        found = self._run("scope_chats", {"numbers": json.dumps(sorted(numbers))}).fetchall()
        return {r["number"]: ChatName(r["id"], r["title"]) for r in found}
