"""Summarising in the background: a job from the outbox becomes a segment that waits for a rollover.

Laws: the slow part runs outside any transaction; a segment is kept only if every turn it read is still what it was;
an answer that failed, or says more than its source, replaces nothing; retries are bounded.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contextmgr.checks import Checked, checked
from contextmgr.compaction import weighed
from contextmgr.episodes import source_tokens
from contextmgr.extractive import extract
from contextmgr.preparing import item_budget
from contextmgr.profiles import Profile
from contextmgr.reading import is_visible
from contextmgr.recording import new_id
from contextmgr.scope import Scope
from contextmgr.sources import chunks, language_of, rendered
from contextmgr.store import Job, Store, Transaction
from contextmgr.summaries import Item, Segment, fingerprint, joined
from contextmgr.templates import Templates
from contextmgr.tokens import Count
from contextmgr.turns import Turn
from contextmgr.writers import SUMMARY_SCHEMA, Writer, WriterError, call_writer, items_of, summary_values, writer_name

_LOG = logging.getLogger(__name__)
KIND = "summarise"
ATTEMPTS = 3
PAUSE = timedelta(seconds=30)  # before the second attempt; doubled after each
LEASE = timedelta(minutes=10)
SOURCE_WINDOW = 24_000  # unweighted tokens that one prompt may read
TIMEOUT = 120.0  # seconds for one piece, retries included
EXTRACTIVE = "extractive"


@dataclass(frozen=True, slots=True)
class Summariser:
    """How turns become items: verbatim sentences, picked without a model, or what a `Writer` says of them."""

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

    def _ask(self, writer: Writer, turns: Sequence[Turn], budget: int) -> list[Item]:
        lines = rendered(turns, tokens=SOURCE_WINDOW, count=self.count)
        values = summary_values(
            first=turns[0].number,
            last=turns[-1].number,
            turns=[{"turn": n.turn, "role": n.role, "text": n.text} for n in lines],
            language=language_of(turns),
            max_tokens=budget,
        )
        prompt = self.templates.render(KIND, values)
        answer = call_writer(writer, prompt, SUMMARY_SCHEMA, timeout=self.timeout)
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

    def run(self, conversation: str) -> int:
        """Do every job that is due; returns how many segments are ready now."""
        ready = 0
        while (job := self._lease(conversation)) is not None:
            ready += self._do(conversation, job)
        return ready

    def _lease(self, conversation: str) -> Job | None:
        now = _micros(self.clock())
        with self.store.writing(self.scope) as tx:
            for job in tx.jobs(conversation):
                due = job.kind == KIND and job.attempts < ATTEMPTS and job.not_before <= now
                if due and tx.lease_job(conversation, job, now, now + _span(LEASE)):
                    return replace(job, attempts=job.attempts + 1)
        return None

    def _do(self, conversation: str, job: Job) -> int:
        with self.store.reading(self.scope) as tx:
            source = self._source(tx, conversation, job)
        try:
            segment = self._segment(source) if source else None
        except WriterError as error:
            self._fail(conversation, job, error)
            return 0
        return self._keep(conversation, job, source, segment)

    def _source(self, tx: Transaction, conversation: str, job: Job) -> list[Turn]:
        """The turns to be read: visible ones whose words no pin keeps in view anyway."""
        pinned = {p.turn for p in tx.live_pins(conversation, job.last + 1) if p.is_active}
        turns = tx.turns(conversation, job.first, job.last)
        return [t for t in turns if is_visible(t) and t.number not in pinned]

    def _segment(self, source: Sequence[Turn]) -> Segment:
        budget = item_budget(self.profile.summary.cap)
        result: Checked = checked(self.summariser.items(source, budget), {t.number: t for t in source})
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
        size = sum(map(source_tokens, source))
        if segment.tokens >= size:
            message = f"the summary of {size} tokens would take {segment.tokens}"
            raise WriterError("longer than its source", message)
        return segment

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
        attempts = job.attempts if error.retryable else ATTEMPTS
        pause = PAUSE * 2 ** (job.attempts - 1)
        failed = replace(job, attempts=attempts, not_before=_micros(self.clock() + pause), error=str(error)[:300])
        with self.store.writing(self.scope) as tx:
            tx.fail_job(conversation, failed)
        _LOG.warning(
            "summary of turns %d-%d failed (%s), attempt %d of %d",
            job.first,
            job.last,
            error.reason,
            attempts,
            ATTEMPTS,
        )


def _micros(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)


def _span(time: timedelta) -> int:
    return int(time.total_seconds() * 1_000_000)
