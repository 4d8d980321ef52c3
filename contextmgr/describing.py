"""Describing finished episodes in the background, in words by which they can be found.

Laws: the slow part runs outside any transaction; what is told of turns occurs in the turns it cites, or is not kept; a
description goes with any turn it read; retries are bounded.  Without a writer a plain function describes, and what it
says is not indexed: the episode's own words are, and measured alone they find as much.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from textwrap import shorten
from zoneinfo import ZoneInfo

from contextmgr.checks import Sources, check_item, checked
from contextmgr.episodes import episodes
from contextmgr.errors import ContextManagerError
from contextmgr.extractive import sentences
from contextmgr.labels import day
from contextmgr.micros import span_micros, to_micros
from contextmgr.ranking import query_terms
from contextmgr.reading import is_visible
from contextmgr.scope import Scope
from contextmgr.sources import rendered
from contextmgr.store import MAX_ATTEMPTS, Store, Transaction
from contextmgr.store.description_base import Description, DescriptionStatus, Reference
from contextmgr.summaries import Item, ItemKind, fingerprint
from contextmgr.templates import Templates
from contextmgr.tokens import Count
from contextmgr.turns import Turn
from contextmgr.writers import Writer, WriterError, call_writer, failure_of, writer_name
from contextmgr.writers.describe import DESCRIBE_SCHEMA, describe_values, described

_LOG = logging.getLogger(__name__)
KIND = "describe"
PLAIN = "plain"
STRETCH = 200  # turns: an episode that is still longer is described piece by piece
BEFORE = 4  # turns before an episode that references may be resolved by
SOURCE = 16_000  # unweighted tokens of an episode that one prompt may read
SOURCE_BEFORE = 1_000
TIMEOUT = 60.0  # seconds for one prompt
PAUSE = timedelta(seconds=30)  # before the second attempt; doubled after each
LEASE = timedelta(minutes=5)
TITLE = 80  # characters
SAID = 240  # characters of a request, or of an outcome, in a plain description


def plain(turns: Sequence[Turn]) -> str:
    """A line for an episode without a model: the first request that has words, and the last words of an answer.

    Both are sentences as they were said; "" where nobody said anything.
    """
    asked = next((line for t in turns if t.role == "user" for line in _lines(t)), "")
    ended = next((line for t in reversed(turns) if t.role == "assistant" for line in reversed(_lines(t))), "")
    return " ".join(filter(None, (asked, ended)))


def _lines(turn: Turn) -> list[str]:
    return [s.text[:SAID] for s in sentences(turn) if query_terms(s.text)]


@dataclass(frozen=True, slots=True)
class Describer:
    """How an episode becomes a line: what a `Writer` says of it, held against the turns, or `plain`."""

    writer: Writer | None
    templates: Templates
    count: Count
    timeout: float = TIMEOUT

    @property
    def template(self) -> str:
        """The version of the prompt, or of the plain function."""
        return f"{PLAIN}-1" if self.writer is None else self.templates.version(KIND)[:16]

    @property
    def name(self) -> str:
        """Who describes."""
        return PLAIN if self.writer is None else writer_name(self.writer)

    def describe(self, turns: Sequence[Turn], before: Sequence[Turn], date: str | None) -> Description:
        """Describe at least one turn; ``before`` are those just before them.  Raises `WriterError`."""
        line = Description(first=turns[0].number, last=turns[-1].number, template=self.template, writer=self.name)
        if self.writer is None:
            return replace(line, text=plain(turns), status=DescriptionStatus.PLAIN, coverage=_coverage(turns))
        told = rendered(turns, tokens=SOURCE, count=self.count)
        earlier = rendered(before, tokens=SOURCE_BEFORE, count=self.count)
        values = describe_values(
            first=line.first,
            last=line.last,
            turns=[t._asdict() for t in told],
            before=[t._asdict() for t in earlier],
            date=date,
        )
        answer = call_writer(
            self.writer, self.templates.render(KIND, values), DESCRIBE_SCHEMA, timeout=self.timeout, retries=0
        )
        found = described(answer)
        if found is None:
            raise WriterError("empty", "the answer describes nothing, or cites no turn")
        references = [Reference(*r) for r in found.references]
        return replace(
            line,
            text=_borne_out(found.text, found.turns, turns),
            references=tuple(r for r in references if is_borne_out(r, turns, before)),
            status=DescriptionStatus.READY,
            coverage=_coverage([*before, *turns]),
        )


def _borne_out(text: str, cited: tuple[int, ...], turns: Sequence[Turn]) -> str:
    """The description, or a sentence of a cited turn that says most of it.  Raises `WriterError` for neither."""
    result = checked([Item(text=text, kind=ItemKind.RESULT, turns=cited)], Sources({t.number: t for t in turns}))
    if not result.items:
        raise WriterError("empty", f"the description is not borne out: {'; '.join(result.reasons)}"[:300])
    return result.items[0].text


def is_borne_out(reference: Reference, turns: Sequence[Turn], before: Sequence[Turn]) -> bool:
    """Whether its phrase stands in its turn, and what it is said to mean in the turns that it cites."""
    said = next((t.text for t in turns if t.number == reference.turn), "")
    known = Sources({t.number: t for t in [*before, *turns]})
    item = Item(text=reference.meaning, kind=ItemKind.RESULT, turns=reference.turns)
    return reference.phrase in said and check_item(item, known).ok


@dataclass(frozen=True, slots=True)
class DescriptionWorker:
    """Describes what has become an episode of one scope's conversations."""

    store: Store
    scope: Scope
    describer: Describer
    clock: Callable[[], datetime]

    def run(self, conversation: str, going: Callable[[], bool] = lambda: True) -> int:
        """Describe the episodes that are finished, one after the other while ``going()``; returns how many were.

        A failure that may pass ends the run: the others would meet it too.
        """
        while going() and self._enlist(conversation):
            pass
        done = 0
        while going() and (due := self._lease(conversation)) is not None:
            try:
                if due.attempts > MAX_ATTEMPTS:
                    raise WriterError("error", "given up: it was never finished", retryable=False)
                done += self._do(conversation, due)
            except WriterError as error:
                self._fail(conversation, due, error)
                if error.retryable:
                    break
        return done

    def left(self, conversation: str) -> int:
        """How many are still to be described, or failed for good."""
        with self.store.reading(self.scope) as tx:
            return tx.descriptions.left(conversation)

    def _enlist(self, conversation: str) -> int:
        """Put finished episodes that nobody enlisted on record, as work; returns how many."""
        with self.store.reading(self.scope) as tx:
            begun = tx.descriptions.upto(conversation) + 1
            found = _finished(tx.turns(conversation, begun, begun + STRETCH - 1))
        with self.store.writing(self.scope) as tx:
            if not found or tx.conversation(conversation) is None or tx.descriptions.upto(conversation) + 1 != begun:
                return 0  # nothing is finished, erased, or done by another process meanwhile
            for first, last in found:
                tx.descriptions.put(conversation, Description(first=first, last=last))
        return len(found)

    def _lease(self, conversation: str) -> Description | None:
        now = to_micros(self.clock())
        with self.store.reading(self.scope) as tx:
            if not tx.descriptions.left(conversation):
                return None
        with self.store.writing(self.scope) as tx:
            return tx.descriptions.lease(conversation, now, now + span_micros(LEASE))

    def _do(self, conversation: str, due: Description) -> int:
        """Describe one episode and keep that; returns how many were kept.  Raises `WriterError`."""
        with self.store.reading(self.scope) as tx:
            turns = _visible(tx, conversation, due.first, due.last)
            before = _visible(tx, conversation, max(1, due.first - BEFORE), due.first - 1)
            record = tx.conversation(conversation)
        zone = ZoneInfo(record.zone) if record is not None else None
        date = day(turns[0].said_at, zone) if turns and zone and turns[0].said_at else None
        if not turns:
            return self._keep(conversation, due, replace(due, status=DescriptionStatus.PLAIN, error="nothing to read"))
        try:
            made = self.describer.describe(turns, before, date)
        except (ContextManagerError, TypeError, ValueError, LookupError) as error:
            raise failure_of(error) from error
        return self._keep(conversation, due, made)

    def _keep(self, conversation: str, due: Description, made: Description) -> int:
        with self.store.writing(self.scope) as tx:
            now = tx.descriptions.get(conversation, due.first)
            if now is None or now.status is not DescriptionStatus.WAITING:
                return 0  # erased, or done by another process meanwhile
            read = [n for n, _ in made.coverage]
            turns = _visible(tx, conversation, min(read, default=1), max(read, default=0))
            if any(pair not in _coverage(turns) for pair in made.coverage):
                tx.descriptions.put(conversation, replace(due, leased_until=0, attempts=due.attempts))
                return 0  # a turn changed while it was read
            kept = replace(made, first=due.first, last=due.last, attempts=due.attempts, at=self.clock())
            tx.descriptions.put(conversation, kept)
            _entitle(tx, conversation, kept)
        return 1

    def _fail(self, conversation: str, due: Description, error: WriterError) -> None:
        """Give it back to be tried later, or, after the last attempt, keep a plain description and the reason."""
        final = not error.retryable or due.attempts >= MAX_ATTEMPTS
        pause = max(PAUSE * 2 ** (due.attempts - 1), timedelta(seconds=error.retry_after or 0))
        failed = replace(due, leased_until=0, not_before=to_micros(self.clock() + pause), error=str(error)[:300])
        with self.store.writing(self.scope) as tx:
            now = tx.descriptions.get(conversation, due.first)
            if now is None or (now.status, now.attempts) != (DescriptionStatus.WAITING, due.attempts):
                return  # erased, or another process has it since the lease ran out
            turns = _visible(tx, conversation, due.first, due.last)
            if final and turns:
                line, coverage = plain(turns), _coverage(turns)
                failed = replace(failed, status=DescriptionStatus.PLAIN, text=line, coverage=coverage, writer=PLAIN)
            tx.descriptions.put(conversation, failed)
        what = f"{due.first}-{due.last} failed ({error.reason})"
        _LOG.warning("describing turns %s, attempt %d of %d", what, due.attempts, MAX_ATTEMPTS)


def _entitle(tx: Transaction, conversation: str, first: Description) -> None:
    """Let what a writer says of the first episode be the title of a conversation that has none."""
    record = tx.conversation(conversation)
    if record is not None and record.title is None and first.first == 1 and first.status is DescriptionStatus.READY:
        tx.set_title(conversation, shorten(first.text, TITLE, placeholder="…"), made=True)


def _finished(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """First and last turn of the episodes that another one follows; of a longer one as many turns as were given."""
    if any(t.is_open for t in turns):
        turns = turns[: next(i for i, t in enumerate(turns) if t.is_open)]
    found = [(e.first, e.last) for e in episodes(turns)]
    return found if len(found) == 1 and len(turns) == STRETCH else found[:-1]


def _visible(tx: Transaction, conversation: str, first: int, last: int) -> list[Turn]:
    return [t for t in tx.turns(conversation, first, last) if is_visible(t)] if first <= last else []


def _coverage(turns: Sequence[Turn]) -> tuple[tuple[int, str], ...]:
    return tuple((t.number, fingerprint(t)) for t in turns)
