"""Searching one conversation, and the evidence that a new user turn brings with it.

Laws: only the scope's own rows are read and counted; turns that are withdrawn or erased are never found; the newest
turns are found before they are indexed; what a search costs is bounded, however long the history is.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import combinations
from math import prod
from typing import Any

from contextmgr.embedders import Embedder, EmbedderError, cosines, vectors_of
from contextmgr.errors import InputError
from contextmgr.evidence import Evidence, Quote, turns_of
from contextmgr.indexing import UNREADABLE, index_text, unit_of
from contextmgr.labels import contains_any, quoted
from contextmgr.profiles import Retrieved
from contextmgr.ranking import (
    DEFAULTS,
    Cosines,
    Hit,
    Query,
    Statistics,
    Unit,
    candidate_terms,
    excerpt,
    query_terms,
    rank,
    standalone,
)
from contextmgr.reading import is_visible
from contextmgr.recording import no_conversation
from contextmgr.scope import Scope
from contextmgr.sources import Limits, source_lines
from contextmgr.store import Store, Transaction
from contextmgr.tokens import Count
from contextmgr.turns import Role, Turn
from contextmgr.views import RowKind, ViewRow

_LOG = logging.getLogger(__name__)
MATCHED = 300  # turns that are read for one query; where more hold a term, those that hold its weightiest groups
COMBINED = 6  # of its rarest terms, from which the groups are made
GROUPS = 12  # of terms in one match
RANKED = 100  # of these, how many are scored with all there is to know
NEAR = 24  # of these, whose neighbours are read as well
COUNTED = 2_000  # turns after which a term's frequency is reckoned rather than counted
TAIL = 256  # newest turns that are searched though they are not indexed yet
SIMILAR = 64  # turns that are ranked because their vectors are nearest
MOST = 100  # hits of one search
EXCERPT = 300  # tokens of one hit's excerpt
LEAST = 60  # tokens of a quote: shorter ones say nothing
ASKED = 4  # words of a question that one turn is held against, for the threshold
PREVIOUS = 4  # turns before a question that may say what it points back to
_KNOWN = 2_048  # turns whose analysis is remembered until they are indexed


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A turn that answers a query.  ``excerpt`` shows it in its own characters; ``score`` only orders the hits of one
    query; ``share`` is the part of the query's weight that the turn holds itself, 0 to 1; ``also`` are turns that say
    the same.
    """

    turn: int
    role: Role
    said_at: datetime | None
    excerpt: str
    score: float
    share: float
    reason: str
    also: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches the conversations of one scope."""

    store: Store
    scope: Scope
    count: Count
    embedder: Embedder | None = None
    known: OrderedDict[tuple[str, int, str], Unit] = field(default_factory=OrderedDict)

    def search(self, conversation: str, query: str, k: int) -> list[SearchHit]:
        """The at most ``k`` best turns for a query, best first; [] where nothing in it can be looked for.

        Raises `InputError` for a query that is not text or a ``k`` that is not a whole number from 1 to `MOST`,
        `NotFoundError` for a conversation that is not in this scope.
        """
        if not isinstance(query, str):
            raise InputError(f"a query must be a string, not {query!r}")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST:
            raise InputError(f"k must be a whole number from 1 to {MOST}, not {k!r}")
        asked = query_terms(query)
        vector = self._vector(asked)
        with self.store.reading(self.scope) as tx:
            if tx.conversation(conversation) is None:
                raise no_conversation(conversation)
            hits, _ = self._found(tx, conversation, asked, vector, k)
            turns = {t.number: t for h in hits if (t := tx.turn(conversation, h.number)) is not None}
        return [self._hit(h, turns[h.number], asked) for h in hits if h.number in turns]

    def evidence(
        self, conversation: str, turn: Turn, previous: Sequence[Turn], pinned: Sequence[str], tier: Retrieved
    ) -> tuple[Evidence, ...]:
        """What may be quoted for a user turn, strongest first: more than ``tier.k``, since some may be in view."""
        said = standalone(turn.text, [t.text for t in previous[-PREVIOUS:]])
        query = query_terms(said or "")
        if not query:
            return ()
        vector = self._vector(query)
        with self.store.reading(self.scope) as tx:
            most = min(MOST, 3 * tier.k + PREVIOUS)
            hits, whole = self._found(tx, conversation, query, vector, most, before=turn.number)
            strong = [h for h in hits if h.share * whole >= tier.threshold]
            around = sorted({h.number + step for h in strong for step in (-1, 0, 1)})
            found = {n: t for n in around if (t := tx.turn(conversation, n)) is not None and is_visible(t)}
            found.pop(turn.number, None)
        quoting = _Quoting(query, found, pinned, self.count, tier)
        return tuple(piece for h in strong if h.number in found and (piece := quoting.piece(h)) is not None)

    def _hit(self, hit: Hit, turn: Turn, query: Query) -> SearchHit:
        said = turn.text if turn.text and not (turn.calls or turn.results) else index_text(turn)
        shown = excerpt(said, query, tokens=EXCERPT, count=self.count)
        return SearchHit(
            turn=hit.number,
            role=turn.role,
            said_at=turn.said_at,
            excerpt=shown.text,
            score=hit.score,
            share=round(hit.share, 3),
            reason=hit.reason,
            also=hit.also,
        )

    def _vector(self, query: Query) -> bytes | None:
        """The query's vector; None without an embedder, or where it fails: words alone are better than nothing."""
        if self.embedder is None or not query:
            return None
        try:
            return vectors_of(self.embedder, [query.text], kind="query").tobytes()
        except EmbedderError as error:
            _LOG.warning("searching by words alone: %s", error.reason)
            return None

    def _found(
        self,
        tx: Transaction,
        conversation: str,
        query: Query,
        vector: bytes | None,
        k: int,
        *,
        before: int | None = None,
    ) -> tuple[list[Hit], float]:
        """The best turns, of those ``before`` a turn (a question must not find itself), and `_scale` for shares."""
        if not query:
            return [], 1.0
        tail = [u for u in self._tail(tx, conversation) if before is None or u.number < before]
        hidden = tx.search.hidden(conversation)
        if before is not None:
            hidden |= set(range(before, before + TAIL))
        statistics = _statistics(tx, conversation, query, tail)
        near = self._cosines(tx, conversation, vector, hidden)
        units = {u.number: u for u in _candidates(tx, conversation, query, statistics)}
        units |= {u.number: u for u in tail}
        chosen = _best([u for u in units.values() if u.number not in hidden], query, statistics)
        wanted = {n + step for u in chosen[:NEAR] for n in [u.number] for step in (-1, 1)}
        if near is not None:
            wanted |= set(sorted(near.values, key=lambda n: -near.values[n])[:SIMILAR])
        ranked = {u.number: u for u in chosen} | {n: units[n] for n in wanted & units.keys()}
        ranked |= {u.number: u for u in tx.search.units(conversation, wanted - ranked.keys())}
        given = [ranked[n] for n in sorted(ranked) if n not in hidden]
        episodes = tx.search.episode_terms(conversation, {u.episode for u in given if u.episode is not None})
        known = replace(statistics, episode_terms=episodes)
        return rank(query, given, known, k=k, cosines=near), _scale(query, known)

    def _cosines(
        self, tx: Transaction, conversation: str, vector: bytes | None, hidden: Collection[int]
    ) -> Cosines | None:
        if vector is None or self.embedder is None:
            return None
        rows = [r for r in tx.search.vectors(conversation, self.embedder.id) if r.number not in hidden]
        if not rows:
            return None
        found = cosines(vector, [r.body for r in rows])
        return Cosines.of({r.number: c for r, c in zip(rows, found, strict=True)})

    def _tail(self, tx: Transaction, conversation: str) -> list[Unit]:
        """The newest turns that are not indexed yet, in the episode that is going on."""
        record, state = tx.conversation(conversation), tx.search.state(conversation)
        if record is None or record.last_turn <= state.upto:
            return []
        turns = tx.turns(conversation, max(state.upto, record.last_turn - TAIL) + 1, record.last_turn)
        last = tx.search.units(conversation, [state.upto])
        episode = last[0].episode if last else 1
        return [u for t in turns if is_visible(t) and (u := self._unit(conversation, t, episode)).length]

    def _unit(self, conversation: str, turn: Turn, episode: int | None) -> Unit:
        """A turn as it is ranked; analysed once while it waits to be indexed."""
        key = (conversation, turn.number, f"{turn.sha256}{len(turn.results)}")
        unit = self.known.get(key)
        if unit is None:
            try:
                unit = unit_of(turn)
            except UNREADABLE:
                unit = Unit(number=turn.number, role=turn.role, indexed="", length=0)
            self.known[key] = unit
            if len(self.known) > _KNOWN:
                self.known.popitem(last=False)
        return replace(unit, episode=episode)


def _statistics(tx: Transaction, conversation: str, query: Query, tail: Sequence[Unit]) -> Statistics:
    """The conversation's own numbers, with those of the turns that are not indexed yet."""
    state, holding = tx.search.state(conversation), tx.search.holding(conversation, query.terms, COUNTED)
    for term in query.terms:
        holding[term] += sum(1 for unit in tail if f" {term} " in unit.indexed)
    return Statistics(
        units=state.units + len(tail),
        terms=state.terms + sum(unit.length for unit in tail),
        holding=holding,
        episodes=max(1, state.episodes),
    )


def _scale(query: Query, statistics: Statistics) -> float:
    """How much of a question one turn may be asked to hold, as a factor for its share of the whole.

    Long questions ask for several things: a turn is held against `ASKED` words, the heaviest.  Words that no turn holds
    count half, since no turn could hold more.
    """
    asking = DEFAULTS.request_weight
    weights = {t: statistics.idf(t) * (asking if t in query.requests else 1.0) for t in query.terms}
    whole = sum(weights.values())
    halved = [w if statistics.holding.get(t) else w / 2 for t, w in weights.items()]
    return whole / sum(sorted(halved, reverse=True)[:ASKED]) if whole else 1.0


def _candidates(tx: Transaction, conversation: str, query: Query, statistics: Statistics) -> list[Unit]:
    """The indexed turns to be ranked: all that hold a term, while they are about `MATCHED`; else those of `_needed`.

    Not the best by the engine's own rank: its statistics are of the whole store, so other tenants would decide who is
    left out.
    """
    holding = statistics.holding
    held = sorted((t for t in candidate_terms(query) if holding[t]), key=lambda t: holding[t])
    if sum(holding[t] for t in held) <= MATCHED:
        return tx.search.matches(conversation, [[t] for t in held], MATCHED)
    needed = _needed(held[:COMBINED], statistics)
    if len(needed) == 1 and len(needed[0]) == 1:
        return tx.search.matches(conversation, needed, MATCHED, newest=True)
    return tx.search.matches(conversation, needed, 2 * MATCHED)


def _needed(terms: Sequence[str], statistics: Statistics) -> list[tuple[str, ...]]:
    """Groups of terms that together weigh most, as many as about `MATCHED` turns hold one of, if terms are independent.

    A turn that holds all of a group earns at least its weight, so what is left out is what would earn less.
    """
    idf = {t: statistics.idf(t) for t in terms}
    share = {t: statistics.holding[t] / max(1, statistics.units) for t in terms}
    every = [group for size in range(1, len(terms) + 1) for group in combinations(terms, size)]
    every.sort(key=lambda group: (-sum(idf[t] for t in group), len(group)))
    chosen: dict[tuple[str, ...], float] = {}
    for group in every:
        reach = statistics.units * prod(share[t] for t in group)
        kept = {other: n for other, n in chosen.items() if not set(other) >= set(group)}
        if chosen and (sum(kept.values()) + reach > MATCHED or len(kept) == GROUPS):
            break
        chosen = {**kept, group: reach}
    return list(chosen)


def _best(units: Iterable[Unit], query: Query, statistics: Statistics) -> list[Unit]:
    """The `RANKED` units with the best scores by their own words, best first."""
    average = statistics.average
    wanted = [(f" {t} ", statistics.idf(t)) for t in candidate_terms(query)]
    k1, b = DEFAULTS.saturation, DEFAULTS.by_length
    scored = []
    for unit in units:
        norm = k1 * (1 - b + b * unit.length / average)
        text = unit.indexed
        score = sum(weight * n / (n + norm) for term, weight in wanted if (n := text.count(term)))
        scored.append((score, unit.number, unit))
    scored.sort(key=lambda s: (-s[0], -s[1]))
    return [unit for _, _, unit in scored[:RANKED]]


def found_before(rows: Sequence[ViewRow], report: Mapping[str, Any], asked: int) -> tuple[Evidence, ...]:
    """The evidence that an earlier request attached for user turn ``asked``, as it was rendered, strongest first."""
    blocks = {turns_of(r): r.block for r in rows if r.kind is RowKind.EVIDENCE and r.turn >= asked and r.block}
    told = {tuple(e["turns"]): e for e in report.get("evidence", ())}
    kept = [
        Evidence(
            turn=turns[0],
            also=turns,
            block=block,
            score=told.get(turns, {}).get("score", 0.0),
            reason=told.get(turns, {}).get("reason", "found for this question before"),
        )
        for turns, block in blocks.items()
    ]
    return tuple(sorted(kept, key=lambda e: -e.score))


@dataclass(frozen=True, slots=True)
class _Quoting:
    """Turns hits into quotes within the tier's cap; ``turns`` are those found and their neighbours."""

    query: Query
    turns: dict[int, Turn]
    pinned: Sequence[str]
    count: Count
    tier: Retrieved

    def piece(self, hit: Hit) -> Evidence | None:
        """A hit with its neighbours; None where all of it is pinned anyway."""
        room = max(LEAST, self.tier.cap // max(1, self.tier.k))
        quotes = list(self._quotes(self.turns[hit.number], room))
        if not quotes:
            return None
        left = room - sum(self.count(q.line) for q in quotes)
        partner = self._partner(self.turns[hit.number])
        if partner is not None and left >= LEAST:
            quotes += self._quotes(partner, left)
        return Evidence(
            turn=hit.number,
            quotes=tuple(sorted(quotes, key=lambda q: q.turn)),
            score=round(hit.score, 3),
            reason=f"holds {hit.share:.0%} of what the question weighs",
        )

    def _partner(self, turn: Turn) -> Turn | None:
        """The other half of a turn's exchange: the answer to a question, the question of an answer."""
        return self.turns.get(turn.number + (1 if turn.role == "user" else -1))

    def _quotes(self, turn: Turn, room: int) -> Iterator[Quote]:
        """What was said in a turn, first the words, then results that the question is about."""
        for line in source_lines(turn, limits=Limits(result=4_000)):
            if room < LEAST or (line.role == "tool" and not self._is_about(line.text)):
                continue
            shown = excerpt(line.text, self.query, tokens=room, count=self._size)
            before, after = "…" if shown.start else "", "…" if shown.end < shown.of else ""
            quote = Quote(turn.number, line.role, f"{before}{shown.text}{after}", turn.said_at)
            if not self._repeats_pin(quote):
                room -= self.count(quote.line)
                yield quote

    def _size(self, text: str) -> int:
        return self.count(quoted(text)) + 8  # with who said it, and marks of what is left out

    def _is_about(self, text: str) -> bool:
        held = set(query_terms(text[:20_000]).terms)
        return not held.isdisjoint(candidate_terms(self.query))

    def _repeats_pin(self, quote: Quote) -> bool:
        return contains_any(quote.text, self.pinned) or contains_any(quote.line, self.pinned)
