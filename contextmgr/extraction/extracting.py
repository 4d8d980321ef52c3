"""Extraction over a store: what waits in the outbox is read, checked, and what is new is kept as facts.

Laws: the slow part runs outside any transaction; only user and operator turns of visible conversations are read, each
once; a fact is kept only if its turn is still what it was; a writer that fails stores nothing and is asked a bounded
number of times.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from contextmgr.errors import ContextManagerError, FactError, NotFoundError
from contextmgr.extraction.checking import Said, verdict
from contextmgr.extraction.material import chunks, said_in
from contextmgr.extraction.novelty import news
from contextmgr.extraction.progress import KIND, ask_for, is_bookmark, move, row_of, stop
from contextmgr.extraction.proposals import EXTRACT_SCHEMA, Proposal, extract_values, proposals_of
from contextmgr.extraction.rules import rules
from contextmgr.facts import Fact, FactAuthor, FactScope
from contextmgr.keeping import Keeping
from contextmgr.micros import span_micros, to_micros
from contextmgr.reading import is_visible
from contextmgr.recording import no_conversation
from contextmgr.scope import Scope, Visibility
from contextmgr.sources import UNKNOWN, language_of
from contextmgr.store import MAX_ATTEMPTS, ConversationRecord, Job, Store, Transaction
from contextmgr.telemetry import span
from contextmgr.templates import Templates
from contextmgr.tokens import Count
from contextmgr.turns import Status, Turn
from contextmgr.writers import Writer, WriterError, call_writer, failure_of

_LOG = logging.getLogger(__name__)
BATCH = 256  # turns read at a time
HEARD = 256  # turns before them that are read as well, so that quotations of them are known
KNOWN = 500  # facts of each wider scope that a proposal is compared with, the newest
SHOWN = 100  # of them, that a writer is shown
RULED = 400  # proposals by rule from one chunk
PAUSE = timedelta(seconds=30)  # before the second attempt; doubled after each
LEASE = timedelta(minutes=10)
TIMEOUT = 120.0  # seconds for one prompt
_UNREADABLE = (ContextManagerError, TypeError, ValueError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Extractor:
    """Reads one scope's conversations for facts; without a ``writer`` by plain rules.

    ``timeout`` is the limit in seconds for one prompt.
    """

    store: Store
    scope: Scope
    keeping: Keeping
    writer: Writer | None
    templates: Templates
    count: Count
    clock: Callable[[], datetime]
    timeout: float = TIMEOUT

    def ask(self, conversation: str) -> int:
        """Put what was said since the last time into the outbox; returns how many turns wait.

        None do in an incognito or excluded conversation.  Raises `NotFoundError`.
        """
        with self.store.writing(self.scope) as tx:
            record = tx.conversation(conversation)
            if record is None:
                raise no_conversation(conversation)
            return ask_for(tx, record) if record.visibility is Visibility.NORMAL else 0

    def run(self, conversation: str, going: Callable[[], bool] = lambda: True) -> int:
        """Read what waits, chunk by chunk while ``going()``; returns how many facts were kept."""
        kept = 0
        while going() and (job := self._lease(conversation)) is not None:
            try:
                with span("extract", {"gen_ai.conversation.id": conversation}) as under_way:
                    found = self._do(conversation, job)
                    under_way.set({"contextmgr.facts": found})
            except _UNREADABLE as error:
                self._fail(conversation, job, failure_of(error))
                break
            kept += found
        return kept

    def left(self, tx: Transaction, conversation: str) -> int:
        """How many jobs are left, failed ones included: 0 or 1."""
        return sum(1 for j in tx.jobs(conversation) if j.kind == KIND and not is_bookmark(j))

    def _lease(self, conversation: str) -> Job | None:
        now = to_micros(self.clock())
        with self.store.writing(self.scope) as tx:
            row = row_of(tx, conversation)
            if row is None or is_bookmark(row) or not row.is_due(now):
                return None
            if not tx.lease_job(conversation, row, now, now + span_micros(LEASE)):
                return None
            return replace(row, attempts=row.attempts + 1)

    def _do(self, conversation: str, job: Job) -> int:
        """Read one batch; what its first chunks tell is kept before the next is asked for."""
        last = min(job.last, job.first + BATCH - 1)
        with self.store.reading(self.scope) as tx:
            record = tx.conversation(conversation)
            readable = record is not None and record.visibility is Visibility.NORMAL
            turns = tx.turns(conversation, max(1, job.first - HEARD), last) if readable else []
            known = self._known(tx, conversation)
        if record is None or not readable:
            return self._keep(conversation, job, job.first, [], {})
        zone = ZoneInfo(record.zone)
        said = said_in(turns, job.first)
        group, lines = next(chunks(said, zone, self.count), ([], []))
        here = {s.turn.number: s for s in group}
        found = self._proposals(conversation, group, lines, known) if group else []
        verdicts = [verdict(p, here, zone) for p in found]
        refused = [v.reason for v in verdicts if v.fact is None]
        if refused:
            _LOG.info(
                "%d of %d proposed facts were refused: %s", len(refused), len(found), ", ".join(sorted({*refused}))
            )
        rest = next((s.turn.number for s in said if s.turn.number not in here), last + 1)
        return self._keep(conversation, job, rest, [v.fact for v in verdicts if v.fact is not None], here)

    def _proposals(
        self, conversation: str, group: Sequence[Said], lines: Sequence[dict[str, object]], known: Sequence[Fact]
    ) -> list[Proposal]:
        """What is proposed for one chunk.  Raises `WriterError`, or `InputError` for a template that cannot be used."""
        if self.writer is None:
            return list(islice((p for s in group for p in rules(s)), RULED))
        language = language_of([s.turn for s in group])
        values = extract_values(
            lines=lines,
            known=known[:SHOWN],
            language=None if language == UNKNOWN else language,
            conversation=conversation,
        )
        prompt = self.templates.render(KIND, values)
        answer = call_writer(self.writer, prompt, EXTRACT_SCHEMA, timeout=self.timeout, retries=0)  # the outbox retries
        return proposals_of(answer)

    def _known(self, tx: Transaction, conversation: str) -> list[Fact]:
        """Facts in force that reach beyond their conversation, the newest first."""
        found = [f for s in (FactScope.PROJECT, FactScope.USER) for f in tx.state.facts(conversation, s, KNOWN)]
        return sorted(found, key=lambda f: f.valid_from, reverse=True)

    def _keep(self, conversation: str, job: Job, rest: int, facts: Sequence[Proposal], said: dict[int, Said]) -> int:
        """Keep what is new and move on to turn ``rest``, in one transaction; returns how many facts are."""
        with self.store.writing(self.scope) as tx:
            row, record = row_of(tx, conversation), tx.conversation(conversation)
            if row is None or record is None or (row.first, row.attempts) != (job.first, job.attempts):
                return 0  # erased, or another worker has it since the lease ran out
            if record.visibility is not Visibility.NORMAL:
                stop(tx, conversation, row)
                return 0
            kept = sum(self._store(tx, record, fact, said[fact.turn].turn) for fact in facts)
            move(tx, conversation, row, rest)
        return kept

    def _store(self, tx: Transaction, record: ConversationRecord, proposal: Proposal, read: Turn) -> bool:
        now = tx.turn(record.id, proposal.turn)
        if now is None or not is_visible(now) or now.sha256 != read.sha256:
            return False
        author: FactAuthor = "operator" if now.author == "operator" else "user"
        held = [tx.state.current(record.id, s, proposal.key) for s in (FactScope.PROJECT, FactScope.USER)]
        known = {f.id: f for f in (*self._known(tx, record.id), *held) if f is not None}  # by key, however old
        fact = news(proposal, list(known.values()), author)
        if fact is None:
            return False
        try:
            stored = self.keeping.set_fact(
                tx,
                record.id,
                fact.key,
                fact.value,
                author=author,
                turn=fact.turn,
                scope=FactScope.PROJECT,
                kind=fact.kind,
                quote=fact.quote,
            )
        except (FactError, NotFoundError):
            return False
        return (stored.turn, stored.conversation, stored.value) == (fact.turn, record.id, fact.value)

    def _fail(self, conversation: str, job: Job, error: WriterError) -> None:
        attempts = job.attempts if error.retryable else MAX_ATTEMPTS
        pause = max(PAUSE * 2 ** (job.attempts - 1), timedelta(seconds=error.retry_after or 0))
        failed = replace(job, attempts=attempts, not_before=to_micros(self.clock() + pause), error=str(error)[:300])
        with self.store.writing(self.scope) as tx:
            row = row_of(tx, conversation)
            if row is None or (row.first, row.attempts) != (job.first, job.attempts):
                return
            if _has_erased(tx.turns(conversation, job.first, min(job.last, job.first + BATCH))):
                failed = replace(failed, error=error.reason)  # the message may quote what was read
            tx.fail_job(conversation, failed)
        _LOG.warning(
            "extraction from turn %d failed (%s), attempt %d of %d", job.first, error.reason, attempts, MAX_ATTEMPTS
        )


def _has_erased(turns: Iterable[Turn]) -> bool:
    return any(t.status is Status.ERASED for t in turns)
