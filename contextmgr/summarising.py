"""Summarising in the background: a job from the outbox becomes a segment that waits for a rollover.

Laws: the slow part runs outside any transaction; a segment is kept only if every turn it read is still what it was;
an answer that failed, says nothing true, or says more than its source, replaces nothing; retries are bounded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contextmgr.checks import Checked, checked
from contextmgr.compaction import merge, weighed
from contextmgr.episodes import source_tokens
from contextmgr.extractive import extract
from contextmgr.micros import span_micros, to_micros
from contextmgr.preparing import item_budget, readable
from contextmgr.profiles import Profile
from contextmgr.reading import is_visible
from contextmgr.recording import new_id
from contextmgr.scope import Scope
from contextmgr.sources import chunks, language_of, rendered, source_text
from contextmgr.store import MAX_ATTEMPTS, Job, Store, Transaction
from contextmgr.summaries import Item, Segment, fingerprint, joined
from contextmgr.telemetry import Span, span
from contextmgr.templates import Templates
from contextmgr.tokens import Count
from contextmgr.turns import Status, Turn
from contextmgr.writers import (
    SUMMARY_SCHEMA,
    Writer,
    WriterError,
    call_writer,
    failure_of,
    items_of,
    summary_values,
    writer_name,
)

_LOG = logging.getLogger(__name__)
KIND = "summarise"
PAUSE = timedelta(seconds=30)  # before the second attempt; doubled after each
LEASE = timedelta(minutes=10)
SOURCE_WINDOW = 24_000  # unweighted tokens that one prompt may read
TIMEOUT = 120.0  # seconds for one prompt
LOOSE = 2  # times its share that a segment may say before it is cut down to its share
FAILURES = 32  # failed jobs that stay on record; older ones are forgotten, their turns stand in the gap line
EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Summariser:
    """How turns become items: verbatim sentences, picked without a model, or what a `Writer` says of them.

    ``timeout`` is the limit in seconds for one prompt.
    """

    writer: Writer | None
    templates: Templates
    count: Count
    timeout: float = TIMEOUT

    @property
    def name(self) -> str:
        """What wrote a segment."""
        return EXTRACTIVE if self.writer is None else writer_name(self.writer)

    @property
    def template(self) -> str:
        """The version of the prompt, or of the plain function."""
        return f"{EXTRACTIVE}-1" if self.writer is None else self.templates.version(KIND)[:16]

    def items(self, turns: Sequence[Turn], budget: int) -> list[Item]:
        """Items about ``turns`` within ``budget`` unweighted tokens.  Raises `WriterError`."""
        if self.writer is None:
            return extract(turns, budget=budget, count=self.count)
        items: list[Item] = []
        pieces = chunks(turns, tokens=SOURCE_WINDOW, count=self.count)
        for piece in pieces:
            items += self._ask(self.writer, piece, budget // max(1, len(pieces)))
        return items

    def read(self, turns: Sequence[Turn]) -> int:
        """Unweighted tokens of what may be read of ``turns``: no thinking, no encoded data, the ends of results."""
        return min(sum(map(source_tokens, turns)), sum(self.count(source_text(t)) for t in turns))

    def _ask(self, writer: Writer, turns: Sequence[Turn], budget: int) -> list[Item]:
        lines = rendered(turns, tokens=SOURCE_WINDOW, count=self.count)
        if not lines:
            return []
        values = summary_values(
            first=turns[0].number,
            last=turns[-1].number,
            turns=[{"turn": n.turn, "role": n.role, "text": n.text} for n in lines],
            language=language_of(turns),
            max_tokens=budget,
        )
        prompt = self.templates.render(KIND, values)
        answer = call_writer(writer, prompt, SUMMARY_SCHEMA, timeout=self.timeout, retries=0)  # the outbox retries
        found, skipped = items_of(answer)
        if not found and skipped:
            raise WriterError("schema", f"all {skipped} items of the answer were malformed")
        return found


@dataclass(frozen=True, slots=True)
class SummaryWorker:
    """Does the summarising that one scope's conversations have in the outbox."""

    store: Store
    scope: Scope
    profile: Profile
    summariser: Summariser
    clock: Callable[[], datetime]

    def run(self, conversation: str, going: Callable[[], bool] = lambda: True) -> int:
        """Do the jobs that are due, one after the other while ``going()``; returns how many segments are ready now.

        A failure that may pass ends the run: the others would meet it too.
        """
        ready = 0
        while going() and (job := self._lease(conversation)) is not None:
            try:
                with span("summarise", {"gen_ai.conversation.id": conversation}) as under_way:
                    ready += self._do(conversation, job, under_way)
            except WriterError as error:
                self._fail(conversation, job, error)
                if error.retryable:
                    break
        return ready

    def _lease(self, conversation: str) -> Job | None:
        now = to_micros(self.clock())
        with self.store.reading(self.scope) as tx:
            due = [j for j in tx.jobs(conversation) if j.kind == KIND and j.is_due(now)]
        for job in due:
            with self.store.writing(self.scope) as tx:
                if tx.lease_job(conversation, job, now, now + span_micros(LEASE)):
                    return replace(job, attempts=job.attempts + 1)
        return None

    def _do(self, conversation: str, job: Job, under_way: Span) -> int:
        """Write one segment and keep it; returns how many were kept.  Raises `WriterError`."""
        with self.store.reading(self.scope) as tx:
            source = self._source(tx, conversation, job)
        try:
            segment = self._segment(source) if source else None
        except Exception as error:
            raise failure_of(error) from error
        if segment is not None:
            sizes = {"contextmgr.tokens": segment.tokens, "contextmgr.source_tokens": self.summariser.read(source)}
            under_way.set({"contextmgr.items": len(segment.items), **sizes})
        return self._keep(conversation, job, source, segment)

    def _source(self, tx: Transaction, conversation: str, job: Job) -> list[Turn]:
        """The turns to be read: visible ones, some of whose words no pin keeps in view anyway."""
        turns = [t for t in tx.turns(conversation, job.first, job.last) if is_visible(t)]
        return readable(turns, tx.live_pins(conversation, job.last + 1))

    def _segment(self, source: Sequence[Turn]) -> Segment:
        budget = item_budget(self.profile.summary.cap)
        result: Checked = checked(self.summariser.items(source, budget), {t.number: t for t in source})
        if result.dropped and not result.items:
            raise WriterError("empty", f"none of {result.dropped} items is borne out by the turns it cites")
        segment = Segment(
            id=new_id("sum"),
            level=0,
            ranges=joined((t.number, t.number) for t in source),
            items=tuple(result.items),
            coverage=tuple((t.number, fingerprint(t)) for t in source),
            template=self.summariser.template,
            writer=self.summariser.name,
            replaced=result.replaced,
            dropped=result.dropped,
            at=self.clock(),
        )
        segment = weighed(segment, self.summariser.count)
        if segment.items and segment.tokens >= (size := self.summariser.read(source)):
            raise WriterError("longer than its source", f"{size} tokens were read, {segment.tokens} written")
        return self._within(segment, budget)

    def _within(self, segment: Segment, budget: int) -> Segment:
        """A segment that says far more than its share, cut down to it; else it would push others out of the tier."""
        if segment.tokens <= LOOSE * budget:
            return segment
        items, dropped = merge(segment.items, budget=budget, count=self.summariser.count)
        smaller = replace(segment, items=tuple(items), dropped=segment.dropped + dropped)
        return weighed(smaller, self.summariser.count)

    def _keep(self, conversation: str, job: Job, source: Sequence[Turn], segment: Segment | None) -> int:
        with self.store.writing(self.scope) as tx:
            if not tx.drop_job(conversation, job):
                return 0  # erased, or done by another worker meanwhile
            if segment is None:
                return 0
            now = {t.number: fingerprint(t) for t in tx.turns(conversation, job.first, job.last) if is_visible(t)}
            if any(now.get(n) != digest for n, digest in segment.coverage):
                tx.add_job(conversation, replace(job, attempts=0, not_before=0, leased_until=0, error=None))
                return 0
            if any(s.covers(n) for s in tx.segments(conversation) for n, _ in segment.coverage):
                return 0  # one summary per range
            tx.add_segment(conversation, segment)
        _LOG.debug("summary of %d turns ready: %d items", len(source), len(segment.items))
        return 1

    def _fail(self, conversation: str, job: Job, error: WriterError) -> None:
        attempts = job.attempts if error.retryable else MAX_ATTEMPTS
        now, pause = self.clock(), max(PAUSE * 2 ** (job.attempts - 1), timedelta(seconds=error.retry_after or 0))
        failed = replace(job, attempts=attempts, not_before=to_micros(now + pause), error=str(error)[:300])
        with self.store.writing(self.scope) as tx:
            held = (KIND, job.first, job.attempts)
            if not any((j.kind, j.first, j.attempts) == held for j in tx.jobs(conversation)):
                return  # erased, or another worker has it since the lease ran out
            if any(t.status is Status.ERASED for t in tx.turns(conversation, job.first, job.last)):
                failed = replace(failed, error=error.reason)  # the message may quote what was read
            tx.fail_job(conversation, failed)
            jobs = [j for j in tx.jobs(conversation) if j.kind == KIND and j.has_failed(to_micros(now))]
            for old in jobs[:-FAILURES]:
                tx.drop_job(conversation, old)
        what = f"{job.first}-{job.last} failed ({error.reason})"
        _LOG.warning("summary of turns %s, attempt %d of %d", what, attempts, MAX_ATTEMPTS)
