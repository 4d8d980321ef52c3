"""Searching one conversation, or all chats of a scope, and the evidence that a new user turn brings with it.

Laws: only the scope's own rows are read and counted; turns that are withdrawn or erased are never found; the newest
turns are found before they are indexed; what a search costs is bounded, however long the history is and however many
chats there are; a conversation that is not of normal visibility is found by its own search only.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from contextmgr.asking import Standalone, query_of
from contextmgr.embedders import Embedder, EmbedderError, cosines, vectors_of
from contextmgr.errors import InputError
from contextmgr.evidence import Evidence
from contextmgr.indexing import index_text, maker
from contextmgr.profiles import Retrieved
from contextmgr.ranking import Cosines, Hit, Query, Unit, excerpt, query_terms
from contextmgr.reading import is_visible
from contextmgr.recording import no_conversation
from contextmgr.retrieval.finding import find
from contextmgr.retrieval.grading import Grades, newest_second
from contextmgr.retrieval.grounds import AllChats, OneChat
from contextmgr.retrieval.hits import ChatHit, SearchHit
from contextmgr.retrieval.quoting import Quoting
from contextmgr.retrieval.tails import FRESH, TAIL, Tails
from contextmgr.scope import Scope, Visibility
from contextmgr.store import Store, Transaction
from contextmgr.store.chat_statements import TURN_BITS, TURN_MASK
from contextmgr.store.search_base import ChatName
from contextmgr.tokens import Count
from contextmgr.turns import Turn

_LOG = logging.getLogger(__name__)
MOST = 100  # hits of one search
EXCERPT = 300  # tokens of one hit's excerpt
PREVIOUS = 4  # turns before a question that may say what it points back to
RECENT = 4  # chats, last used, whose newest turns are searched across chats though they are not indexed yet
_NEW = (1 << 63 - TURN_BITS) - 1  # numbers from here downward stand for conversations of which nothing is indexed
_LENDER = re.compile(r"(?<=beside turn )\d+")


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches the conversations of one scope."""

    store: Store
    scope: Scope
    count: Count
    embedder: Embedder | None = None
    ask: Standalone | None = None
    tails: Tails = field(default_factory=Tails)

    def search(self, conversation: str, query: str, k: int) -> list[SearchHit]:
        """The at most ``k`` best turns for a query, best first; [] where nothing in it can be looked for.

        Raises `InputError` for a query that is not text or a ``k`` that is not a whole number from 1 to `MOST`,
        `NotFoundError` for a conversation that is not in this scope.
        """
        asked = _read(query, k)
        vector = self._vector(asked)
        with self.store.reading(self.scope) as tx:
            if tx.conversation(conversation) is None:
                raise no_conversation(conversation)
            hits, _ = self._found(tx, conversation, asked, vector, k)
            turns = {t.number: t for h in hits if (t := tx.turn(conversation, h.number)) is not None}
        return [self._hit(h, turns[h.number], asked) for h in hits if h.number in turns]

    def search_chats(self, query: str, k: int, *, without: Collection[str] = ()) -> list[ChatHit]:
        """The at most ``k`` best turns of all chats of the scope, best first, but for conversations in ``without``.

        Chats are found that are of normal visibility.  Turns that say the same are returned once, whichever chats they
        are in.  Words alone decide, also where there is an embedder.  Raises `InputError` as `search` does.
        """
        asked = _read(query, k)
        if not asked:
            return []
        with self.store.reading(self.scope) as tx:
            tail, new = self._recent(tx, without)
            ground = AllChats(tx.search.chats, frozenset(without))
            hits, _ = find(ground, asked, tail, k, shown=_any)
            names = new | tx.search.chats.named({h.number >> TURN_BITS for h in hits} - new.keys())
            found = [(h, names[h.number >> TURN_BITS]) for h in hits if h.number >> TURN_BITS in names]
            turns = [(h, chat, tx.turn(chat.id, h.number & TURN_MASK)) for h, chat in found]
        return [ChatHit(c.id, c.title, self._hit(_of_chat(h), t, asked)) for h, c, t in turns if t is not None]

    def evidence(
        self, conversation: str, turn: Turn, previous: Sequence[Turn], pinned: Sequence[str], tier: Retrieved
    ) -> tuple[Evidence, ...]:
        """What may be quoted for a user turn, strongest first: more than ``tier.k``, since some of ``previous`` may be
        in view.
        """
        said = query_of(turn.text, [t.text for t in previous[-PREVIOUS:]], self.ask)
        query = query_terms(said or "")
        if not query:
            return ()
        vector = self._vector(query)
        with self.store.reading(self.scope) as tx:
            most = min(MOST, 3 * tier.k + PREVIOUS)
            hits, grades = self._found(tx, conversation, query, vector, most, before=turn.number)
        strong = newest_second([h for h in hits if grades.grade(h) >= tier.threshold])

        @cache
        def read(number: int) -> Turn | None:
            if number == turn.number:
                return None
            with self.store.reading(self.scope) as tx:
                found = tx.turn(conversation, number)
            return found if found is not None and is_visible(found) else None

        quoting = Quoting(query, read, pinned, self.count, tier)
        return tuple(quoting.pieces(strong, {t.number for t in previous}))

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
    ) -> tuple[list[Hit], Grades]:
        """The best turns, of those ``before`` a turn (a question must not find itself), and what grades them."""
        if not query:
            return [], Grades(1.0, (), frozenset())
        hidden = tx.search.hidden(conversation)

        def shown(number: int) -> bool:
            return number not in hidden and (before is None or number < before)

        tail = [u for u in self.tails.newest(tx, conversation) if shown(u.number)]
        near = self._cosines(tx, conversation, vector, shown)
        return find(OneChat(tx.search, conversation), query, tail, k, shown=shown, near=near)

    def _cosines(
        self, tx: Transaction, conversation: str, vector: bytes | None, shown: Callable[[int], bool]
    ) -> Cosines | None:
        if vector is None or self.embedder is None:
            return None
        rows = [r for r in tx.search.vectors(conversation, maker(self.embedder)) if shown(r.number)]
        if not rows:
            return None
        found = cosines(vector, [r.body for r in rows])
        return Cosines.of({r.number: c for r, c in zip(rows, found, strict=True)})

    def _recent(self, tx: Transaction, without: Collection[str]) -> tuple[list[Unit], dict[int, ChatName]]:
        """The tails of the chats last used, and the names of those of which nothing is indexed."""
        tail: list[Unit] = []
        new: dict[int, ChatName] = {}
        for place, record in enumerate(tx.conversations(RECENT)):
            if record.visibility is not Visibility.NORMAL or record.id in without:
                continue
            number = tx.search.number(record.id)
            if number is None:
                number = _NEW - place
                new[number] = ChatName(record.id, record.title)
            lowest = number << TURN_BITS
            units = self.tails.newest(tx, record.id, TAIL // RECENT, FRESH // RECENT)
            tail += [replace(u, number=lowest | u.number, episode=lowest | (u.episode or 0)) for u in units]
        return tail, new


def _read(query: str, k: int) -> Query:
    """A query that was asked for.  Raises `InputError`."""
    if not isinstance(query, str):
        raise InputError(f"a query must be a string, not {query!r}")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST:
        raise InputError(f"k must be a whole number from 1 to {MOST}, not {k!r}")
    return query_terms(query)


def _any(_number: int) -> bool:
    return True


def _of_chat(hit: Hit) -> Hit:
    """A hit by the numbers of its own chat; twins in other chats are left out."""
    chat = hit.number >> TURN_BITS
    return replace(
        hit,
        number=hit.number & TURN_MASK,
        also=tuple(n & TURN_MASK for n in hit.also if n >> TURN_BITS == chat),
        reason=_LENDER.sub(lambda n: str(int(n[0]) & TURN_MASK), hit.reason),
    )
