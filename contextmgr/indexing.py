"""Indexing off the reply path: which turns a search can find, and by which words.

Laws: what is missing is derived from the stored turns and a watermark written in the same transaction as the rows, so
killing the process loses nothing; thinking, encoded data and secrets are never indexed; a turn that cannot be read is
recorded with the reason and tried a bounded number of times.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from contextmgr.embedders import Embedder, EmbedderError, packed
from contextmgr.episodes import episodes
from contextmgr.ranking import Unit
from contextmgr.reading import is_visible
from contextmgr.scope import Scope
from contextmgr.sources import cleaned
from contextmgr.sources.cleaning import ends
from contextmgr.store import Store, Transaction
from contextmgr.store.search_base import Unread, VectorRow
from contextmgr.toolnames import RECALLING, recalled_by
from contextmgr.turns import SERVER_CALL_TYPES, Block, Turn, is_server_result, is_thinking

_LOG = logging.getLogger(__name__)
Going = Callable[[], bool]
Waiting = tuple[Turn, int, int]  # a turn, its episode, and how often it failed before
BATCH = 64  # turns read at a time, so that nobody waits long for the store
WRITTEN = 32  # turns written in one transaction, for the same reason
REREAD = 32  # turns before a batch that are read again, to know where the last episode goes on
ATTEMPTS = 3
ALL = 1 << 30  # no limit
PENDING = 32  # turns said since: from here on the thread is told; fewer are searched as they are
WORDS = 40_000  # characters of one text that are indexed
RESULT = 2_000  # characters of one tool result, as head and tail
ARGUMENT = 400  # characters of one argument of a call
EMBEDDED = 2_000  # characters of a turn that are embedded
_STRINGS = 64  # strings of one call's arguments, or of one server result
_CALLS = SERVER_CALL_TYPES | {"tool_use"}
UNREADABLE = (TypeError, ValueError, KeyError, AttributeError, RecursionError)
_SHOWN = frozenset({"title", "url", "text", "stdout", "stderr", "error_code", "context", "source"})


def index_text(turn: Turn) -> str:
    """What is searched of a turn: words, tool names, arguments, file names, and the ends of results; "" for none."""
    return "\n".join(part for part in _parts(turn) if part)


def _parts(turn: Turn) -> Iterator[str]:
    for block in turn.blocks:
        kind = block.get("type")
        if is_thinking(block):
            continue
        if kind == "text":
            yield ends(str(block["text"]), WORDS, _gap)
        elif kind in _CALLS:
            yield str(block.get("name")) if block.get("name") in RECALLING else _call(block)
        elif is_server_result(block):
            yield ends("\n".join(islice(_strings(block.get("content"), _SHOWN), _STRINGS)), RESULT, _gap)
        else:
            yield _document(block)
    for result in turn.results:
        if recalled_by(turn, result) is not None:
            continue  # words of other turns, which are found where they were said
        yield ends(_content(result.body.get("content")), RESULT, _gap)


def _gap(_left: int, _whole: int) -> str:
    return "…"


def _call(block: Block) -> str:
    given = (f"{key}={text}" for key, text in _named(block.get("input")))
    return " ".join([str(block.get("name")), *(ends(text, ARGUMENT, _gap) for text in islice(given, _STRINGS))])


def _named(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """The arguments of a call with their names: a name may tell that its value is a secret."""
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _named(part, str(name))
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _named(part, key)
    elif value is not None and not isinstance(value, bool):
        yield key, str(value)


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else ()
    return "\n".join(str(p["text"]) if p.get("type") == "text" else _document(p) for p in parts)


def _document(block: Mapping[str, Any]) -> str:
    """Names of a picture or document, and its text where it is text."""
    source = block.get("source")
    text = source.get("data") if isinstance(source, Mapping) and source.get("type") == "text" else None
    names = [block.get("title"), block.get("name"), block.get("filename")]
    found = [cleaned(n) for n in names if isinstance(n, str)]
    if block.get("type") == "search_result":
        found += islice(_strings(block.get("content"), _SHOWN), _STRINGS)
    return "\n".join([*found, ends(text, RESULT, _gap) if isinstance(text, str) else ""]).strip()


def _strings(value: object, keys: frozenset[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            if key in keys and isinstance(part, str):
                yield part
            elif isinstance(part, (Mapping, list)):
                yield from _strings(part, keys)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part, keys)


def unit_of(turn: Turn, episode: int | None = None) -> Unit:
    """A turn as it is ranked; without terms where it says nothing or was erased.

    Raises one of `UNREADABLE` for a turn whose blocks are not what they say they are.
    """
    return Unit.of(turn.number, turn.role, index_text(turn), episode=episode, at=turn.said_at, acts=bool(turn.calls))


def lent(unit: Unit, words: str) -> Unit:
    """A turn that is found by ``words`` as well, those of its episode's description; one that says nothing is not."""
    if not words or not unit.length:
        return unit
    more = Unit.of(unit.number, unit.role, words)
    return replace(unit, indexed=unit.indexed + more.indexed, length=unit.length + more.length)


def _read(turns: Sequence[Waiting], going: Going) -> tuple[list[Unit], list[Unread]]:
    """Turns as rows of the index, one after the other while ``going()``, but at least one."""
    units: list[Unit] = []
    unread: list[Unread] = []
    for turn, episode, attempts in turns:
        if (units or unread) and not going():
            break
        try:
            units.append(unit_of(turn, episode))
        except UNREADABLE as error:
            failed = Unread(number=turn.number, episode=episode, error=type(error).__name__, attempts=attempts + 1)
            unread.append(failed)
    return units, unread


@dataclass(frozen=True, slots=True)
class Indexer:
    """Indexes one scope's conversations; ``embedder`` adds vectors.  Each ``going()`` is a moment at which others may
    be let through: it is asked before every turn, and never inside a transaction.
    """

    store: Store
    scope: Scope
    embedder: Embedder | None = None
    embed_from: int = 0

    def run(self, conversation: str, going: Going) -> int:
        """Index what is not indexed yet, in batches, while ``going()``; returns how many turns were."""
        done = 0
        while going() and (batch := self._next(conversation, going)) is not None:
            done += batch
        self._again(conversation, going)
        if self.embedder is not None:
            self._embed_all(conversation, self.embedder, going)
        return done

    def left(self, tx: Transaction, conversation: str) -> int:
        """Turns that are not indexed, failed for good, or lack their vector; a turn that is open does not count."""
        last = _last(tx, conversation)
        if last == 0:
            return 0
        waiting = max(0, last - tx.search.state(conversation).upto)
        broken = len(tx.search.unread(conversation, ALL, PENDING))
        return waiting + broken + len(self._bare(tx, conversation, ALL))

    def _next(self, conversation: str, going: Going) -> int | None:
        """Index a batch; returns how many of its turns were, 0 where another process was faster, None for none left."""
        with self.store.reading(self.scope) as tx:
            upto = tx.search.state(conversation).upto
            last = min(_last(tx, conversation), upto + BATCH)
            known = tx.search.units(conversation, [upto])
            begun = (known[0].episode if known else None) or upto + 1
            turns = tx.turns(conversation, max(begun, upto + 1 - REREAD), last) if last > upto else []
        starts = [(e.first, e.first) for e in episodes(turns)]
        if known and starts:
            starts[0] = (starts[0][0], begun)
        new = [(t, _episode(starts, t.number), 0) for t in turns if t.number > upto]
        if not new:
            return None
        done = 0
        while done < len(new) and (done == 0 or going()):
            put = self._put(conversation, new[done : done + WRITTEN], going, moves=True)
            done += put
            if put == 0:
                break
        return done

    def _again(self, conversation: str, going: Going) -> None:
        """Index turns again that changed, or failed before, each once."""
        with self.store.reading(self.scope) as tx:
            found = tx.search.unread(conversation, ATTEMPTS, ALL)
        for begun in range(0, len(found), WRITTEN):
            if not going():
                return
            with self.store.reading(self.scope) as tx:
                turns = [(tx.turn(conversation, r.number), r) for r in found[begun : begun + WRITTEN]]
            if there := [(t, r.episode, r.attempts) for t, r in turns if t is not None]:
                self._put(conversation, there, going)

    def _put(self, conversation: str, turns: Sequence[Waiting], going: Going, *, moves: bool = False) -> int:
        """Write turns to the index, and with ``moves`` the watermark behind them; returns how many were."""
        units, unread = _read(turns, going)  # before the write lock is asked for: it is most of the work
        done = len(units) + len(unread)
        first, last = turns[0][0].number, turns[done - 1][0].number
        with self.store.writing(self.scope) as tx:
            if tx.conversation(conversation) is None or (moves and tx.search.state(conversation).upto >= last):
                return 0  # erased, or done by another process meanwhile
            gone = tx.search.erased(conversation, first, last)
            more = tx.descriptions.words(conversation, turns[0][0].number, turns[-1][0].number)
            there = [lent(u, more.get(u.number, "")) for u in units if u.number not in gone]
            tx.search.put(conversation, there, [u for u in unread if u.number not in gone], last if moves else 0)
        return done

    def _bare(self, tx: Transaction, conversation: str, attempts: int, most: int = 0) -> list[int]:
        """The newest turns without a vector that failed less than ``attempts`` times, but for those that are withdrawn;
        none while the conversation is too short to need any.
        """
        if self.embedder is None or tx.search.state(conversation).upto < self.embed_from:
            return []
        hidden, most = tx.search.hidden(conversation), most or self.embedder.max_batch
        found = tx.search.without_vector(conversation, maker(self.embedder), attempts, most + len(hidden))
        return [n for n in found if n not in hidden][:most]

    def _embed_all(self, conversation: str, embedder: Embedder, going: Going) -> None:
        """Make what vectors are missing, until there was a second failure: then it is not one text's fault."""
        failures = 0
        while failures < 2 and going() and (made := self._embed(conversation, embedder)) is not None:
            failures += not made

    def _embed(self, conversation: str, embedder: Embedder) -> bool | None:
        """Embed a batch; whether it could be, None where nothing is left to be tried."""
        with self.store.reading(self.scope) as tx:
            tried, numbers = self._tried(tx, conversation)
            found = [tx.turn(conversation, n) for n in numbers]
        turns = [t for t in found if t is not None and is_visible(t)]
        if not turns:
            return None
        made = True
        try:
            vectors = packed(embedder, [index_text(t)[:EMBEDDED] for t in turns])
            rows = [VectorRow(number=t.number, body=v) for t, v in zip(turns, vectors, strict=True)]
        except EmbedderError as error:
            _LOG.warning("embedding %d turns failed: %s", len(turns), error.reason)
            rows = [VectorRow(number=t.number, error=error.reason, attempts=tried + 1) for t in turns]
            made = False
        with self.store.writing(self.scope) as tx:
            gone = tx.search.erased(conversation, min(numbers), max(numbers))
            kept = [r for r in rows if r.number not in gone]
            tx.search.put_vectors(conversation, maker(embedder), embedder.dim, kept)
        return made

    def _tried(self, tx: Transaction, conversation: str) -> tuple[int, list[int]]:
        """Turns that failed least often, and how often: those that never did as a batch, others one by one, so that a
        text that cannot be embedded keeps no other from it.
        """
        for tried in range(ATTEMPTS):
            if numbers := self._bare(tx, conversation, tried + 1, most=1 if tried else 0):
                return tried, numbers
        return ATTEMPTS, []


def maker(embedder: Embedder) -> str:
    """By which name vectors are stored: the embedder's, and how many numbers they have, so that none are mixed."""
    return f"{embedder.id}/{embedder.dim}"


def _last(tx: Transaction, conversation: str) -> int:
    """The last turn that can be indexed: one that waits for results is still being said."""
    record = tx.conversation(conversation)
    if record is None:
        return 0
    return record.last_turn if record.open_turn is None else min(record.last_turn, record.open_turn - 1)


def _episode(starts: Sequence[tuple[int, int]], number: int) -> int:
    """The first turn of the episode that a turn belongs to."""
    return next((begun for first, begun in reversed(starts) if first <= number), number)
