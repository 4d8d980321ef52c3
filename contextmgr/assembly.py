"""``assemble``: read once, decide purely, lay out, check, prove, and write once.

Laws: the same state gives the same bytes, without clock, search or write; a request is committed only against the
state it was decided on; nothing unproved or invalid is ever issued.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from contextmgr import jsontext
from contextmgr.enriching import with_evidence, with_memory
from contextmgr.epochs import Decision, Snapshot, Terms
from contextmgr.errors import (
    BudgetError,
    ContentionError,
    ErasedError,
    InputError,
    InvalidRequestError,
    NotFoundError,
    NothingToAnswerError,
)
from contextmgr.features import Features
from contextmgr.heads import Head, make_head
from contextmgr.layout import Laid, Plan, layout
from contextmgr.micros import to_micros
from contextmgr.models import ModelEntry, ModelTable, model_entry
from contextmgr.params import CountParams, RequestParams
from contextmgr.preparing import work
from contextmgr.profiles import Profile
from contextmgr.proof import PinProof, Proof, prove
from contextmgr.reading import read_snapshot
from contextmgr.recording import open_turn_error
from contextmgr.report import Report, make_report
from contextmgr.retrieval import Searcher
from contextmgr.rollover import decide
from contextmgr.scope import Scope
from contextmgr.store import Job, Store, Transaction
from contextmgr.store.state_base import AuditRecord
from contextmgr.summaries import SegmentStatus
from contextmgr.telemetry import Attribute, span
from contextmgr.tokens import Calibration, Count, head_features
from contextmgr.turns import Status, Turn
from contextmgr.validity import validate
from contextmgr.views import Epoch, RequestRecord, RowKind, ViewRow

_LOG = logging.getLogger(__name__)
ATTEMPTS = 8
RETRIEVE = "retrieve"  # how a search for evidence stands in the audit
SUMMARISE = "summarise"  # the kind of job that summarising answers


@dataclass(frozen=True, slots=True)
class AssembledRequest:
    """A request as issued.  ``params`` unpacks into ``client.messages.create`` or ``stream``, ``count_params`` into
    ``count_tokens``; ``number`` names it for ``add_reply(request=...)`` and ``request_at()``.
    """

    params: RequestParams
    report: Report
    proof: Proof
    number: int

    @property
    def count_params(self) -> CountParams:
        """The same request for ``client.messages.count_tokens``, which takes no ``max_tokens``."""
        rest = {k: v for k, v in self.params.items() if k != "max_tokens"}
        return cast(CountParams, rest)


@dataclass(slots=True)
class Assembler:
    """Assembles requests in one scope.  ``clock`` is read only when a turn is new; ``on_work`` is told of a
    conversation that has summarising to do, and None where nothing summarises.  ``searcher`` finds evidence.
    """

    store: Store
    scope: Scope
    profile: Profile
    table: ModelTable | None
    count: Count
    clock: Callable[[], datetime]
    on_work: Callable[[str], None] | None = None
    searcher: Searcher | None = None
    head_weights: dict[str, Features] = field(default_factory=dict)

    def assemble(
        self,
        conversation: str,
        *,
        model: str,
        max_tokens: int,
        system: str | Iterable[Mapping[str, Any]] | None = None,
        tools: Iterable[Mapping[str, Any]] = (),
        thinking: Mapping[str, Any] | None = None,
    ) -> AssembledRequest:
        """The next request.  See ``Conversation.assemble`` for what it raises."""
        if isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 0:
            raise InputError(f"max_tokens must be a whole number of tokens from 0 up, not {max_tokens!r}")
        given = make_head(model, system, tools, thinking)
        names: dict[str, Attribute] = {"gen_ai.conversation.id": conversation, "gen_ai.request.model": given.model}
        with span("assemble", names) as under_way:
            request = self._assemble(conversation, given, max_tokens)
            under_way.set(_measures(request))
        return request

    def _assemble(self, conversation: str, given: Head, max_tokens: int) -> AssembledRequest:
        for _ in range(ATTEMPTS):
            with self.store.reading(self.scope) as tx:
                snapshot = read_snapshot(tx, conversation, self.profile)
                head = _same_head(snapshot, given)
                if _is_repeat(snapshot, head, max_tokens):
                    return self._repeat(snapshot)
                calibration = self._calibration(tx, conversation, head.model)
                outbox = [j for j in tx.jobs(conversation) if j.kind == SUMMARISE] if self.on_work is not None else []
            snapshot = with_evidence(snapshot, self.searcher, self.profile)
            snapshot = with_memory(snapshot, self.store, self.scope, self.profile, self.count)
            request = self._issue(conversation, snapshot, head, max_tokens, calibration, outbox)
            if request is not None:
                return request
        raise ContentionError(
            f"conversation {conversation!r}: other processes won {ATTEMPTS} commits in a row; call assemble() again"
        )

    def request_at(self, conversation: str, number: int) -> AssembledRequest:
        """Request ``number`` again, byte for byte.

        Raises `NotFoundError` for a number never issued, `ErasedError` where part of it was erased.
        """
        with self.store.reading(self.scope) as tx:
            record = tx.request(conversation, number)
            if record is None:
                raise NotFoundError(f"conversation {conversation!r} has no request {number} in this scope")
            return self._rebuild(tx, conversation, record)

    def _issue(
        self,
        conversation: str,
        snapshot: Snapshot,
        head: Head,
        max_tokens: int,
        calibration: Calibration,
        outbox: Sequence[Job],
    ) -> AssembledRequest | None:
        entry = model_entry(head.model, self.table)
        terms = Terms(
            head=head,
            model=entry,
            profile=self.profile,
            room=room(self.profile, entry, max_tokens),
            head_weight=self._head_weight(head),
            calibration=calibration,
            count=self.count,
            now=self.clock(),
        )
        changed = snapshot.epoch is not None and head is not snapshot.epoch.head
        decision = decide(snapshot, terms, head_changed=changed)
        record, plan = _record(snapshot, decision, terms, max_tokens)
        laid = layout(plan, snapshot.pins)
        params = {**laid.params, "max_tokens": max_tokens}
        check(params, paused=snapshot.tail.waits_for_server)
        proof = prove(params, snapshot.pins, laid.places)
        report = make_report(snapshot, decision, terms, number=record.number, max_tokens=max_tokens)
        planned = [(j.first, j.last) for j in outbox]
        jobs = work(snapshot, decision, terms, planned) if self.on_work is not None else []
        if not self._commit(conversation, snapshot, decision, record, report, proof, jobs):
            return None
        now = to_micros(terms.now)
        if self.on_work is not None and (jobs or any(j.is_due(now) for j in outbox)):
            self.on_work(conversation)
        return AssembledRequest(cast(RequestParams, params), report, proof, record.number)

    def _commit(
        self,
        conversation: str,
        snapshot: Snapshot,
        decision: Decision,
        record: RequestRecord,
        report: Report,
        proof: Proof,
        jobs: Sequence[tuple[int, int]],
    ) -> bool:
        with self.store.writing(self.scope) as tx:
            if not tx.win_version(conversation, snapshot.version):
                return False
            if decision.opens:
                tx.add_epoch(conversation, decision.epoch)
            tx.add_rows(conversation, decision.epoch.number, decision.added)
            shown = {r.ref for r in decision.added if r.kind is RowKind.LATE}
            for note in snapshot.late:
                if note.ref in shown:
                    tx.mark_shown(conversation, note.turn.number, note.order)
            if snapshot.recalled:
                tx.state.recall(conversation, snapshot.recalled)
            if snapshot.searched:
                tx.state.audit(_search_record(snapshot, report, cast(datetime, record.at)))
            if decision.opens:
                _keep_summaries(tx, conversation, snapshot, decision)
            for first, last in jobs:
                tx.add_job(conversation, Job(kind=SUMMARISE, first=first, last=last))
            entries = tuple(p.to_json() for p in proof.pins)
            tx.add_request(conversation, replace(record, report=report.to_json(), proof=entries))
        _LOG.debug("request %d: epoch %d, %d tokens", record.number, record.epoch, record.tokens)
        return True

    def _repeat(self, snapshot: Snapshot) -> AssembledRequest:
        """The last request again, from the snapshot that was just read: it holds all of it."""
        record, epoch = cast(RequestRecord, snapshot.last), cast(Epoch, snapshot.epoch)
        return self._again(record, epoch, snapshot.turns, snapshot.rows)

    def _rebuild(self, tx: Transaction, conversation: str, record: RequestRecord) -> AssembledRequest:
        epoch = tx.epoch(conversation, record.epoch)
        if epoch is None:
            raise NotFoundError(f"request {record.number} has lost its epoch {record.epoch}")
        before = [(a, min(b, epoch.first - 1)) for a, b in epoch.kept if a < epoch.first]
        kept = [t for a, b in before for t in tx.turns(conversation, a, b)]
        stored = [*kept, *tx.turns(conversation, epoch.first, record.tail)]
        turns = tuple(t for t in stored if t.number not in epoch.hidden)
        return self._again(record, epoch, turns, tx.rows(conversation, epoch.number))

    def _again(
        self, record: RequestRecord, epoch: Epoch, turns: tuple[Turn, ...], rows: Sequence[ViewRow]
    ) -> AssembledRequest:
        laid = self._laid(record, epoch, turns, tuple(rows[: record.rows]))
        params = {**laid.params, "max_tokens": record.max_tokens}
        proof = Proof(tuple(PinProof.from_json(p) for p in record.proof))
        return AssembledRequest(cast(RequestParams, params), Report.from_json(record.report), proof, record.number)

    def _laid(self, record: RequestRecord, epoch: Epoch, turns: tuple[Turn, ...], rows: tuple[ViewRow, ...]) -> Laid:
        erased = any(t.status is Status.ERASED for t in turns)
        if erased or not all(p.block for p in epoch.preface) or not all(r.block for r in rows):
            raise ErasedError(f"request {record.number} showed a turn that was erased since; it cannot be rebuilt")
        return layout(
            Plan(
                epoch=epoch,
                turns=turns,
                rows=rows,
                previous_tail=record.previous_tail,
                previous_rows=record.previous_rows,
            ),
            (),
        )

    def _calibration(self, tx: Transaction, conversation: str, model: str) -> Calibration:
        text, entry = tx.calibration(conversation, model), model_entry(model, self.table)
        learned = Calibration.prior(entry.family) if text is None else Calibration.from_text(text)
        return replace(learned, safety=entry.size_factor)

    def _head_weight(self, head: Head) -> Features:
        """Features of a head, counted once per process: system prompts and schemas are large and stay the same."""
        key = jsontext.sha256(head.to_text())
        if key not in self.head_weights:
            if len(self.head_weights) > 64:
                self.head_weights.clear()
            self.head_weights[key] = head_features(list(head.system), head.tools, self.count)
        return self.head_weights[key]


def _measures(request: AssembledRequest) -> dict[str, Attribute]:
    """What a span tells of a request."""
    report = request.report
    tiers = {f"contextmgr.tokens.{name.replace(' ', '_')}": size for name, size in report.tiers.items()}
    return {
        "contextmgr.request": request.number,
        "contextmgr.epoch": report.why,
        "contextmgr.tokens": report.tokens,
        "contextmgr.budget": report.budget,
        "contextmgr.cached_tokens": report.cached,
        "contextmgr.cost_usd": report.cost,
        "contextmgr.pins": report.pins,
        **tiers,
    }


def _search_record(snapshot: Snapshot, report: Report, at: datetime) -> AuditRecord:
    """The record of a search for evidence; the query is the turn itself, so it is not copied."""
    found = [{"chat": snapshot.conversation, "turns": list(e.turns), "score": e.score} for e in report.evidence]
    asked = cast(Turn, snapshot.in_hand).number
    return AuditRecord(action=RETRIEVE, conversation=snapshot.conversation, turn=asked, found=tuple(found), at=at)


def room(profile: Profile, model: ModelEntry, max_tokens: int) -> int:
    """The input budget of one request in tokens: the profile's, or what the model's window leaves beside the answer.

    Raises `BudgetError` where nothing is left.
    """
    left = min(profile.budget, model.window - max_tokens - model.safety)
    if left <= 0:
        raise BudgetError(
            f"max_tokens={max_tokens} leaves no room for input in the window of {model.window} tokens; lower it",
            tiers={},
            budget=left,
        )
    return left


def check(params: Mapping[str, Any], *, paused: bool) -> None:
    """Raise `InvalidRequestError` for a request that the API would refuse."""
    findings = validate(params, paused_tail=paused)
    if findings:
        named = "; ".join(f"{f.rule} at {f.where}: {f.message}" for f in findings[:5])
        raise InvalidRequestError(f"the request was not issued, it breaks the API's rules: {named}", findings)


def _same_head(snapshot: Snapshot, given: Head) -> Head:
    """The epoch's head where the given one is equal in value: its bytes are the cached ones."""
    if snapshot.epoch is None:
        return given
    own = snapshot.epoch.head
    return own if own == given or own.value == given.value else given


def _is_repeat(snapshot: Snapshot, head: Head, max_tokens: int) -> bool:
    if snapshot.tail.is_open:
        raise open_turn_error(snapshot.tail)
    if snapshot.tail.ends_exchange:
        raise NothingToAnswerError(
            f"turn {snapshot.tail.number} ends the assistant's answer; add_user() first, then assemble()"
        )
    last, epoch = snapshot.last, snapshot.epoch
    if last is None or epoch is None or epoch.broken is not None or head is not epoch.head:
        return False
    if (last.epoch, last.tail, last.max_tokens) != (epoch.number, snapshot.tail.number, max_tokens):
        return False
    return {p["pin"] for p in last.proof} == {p.id for p in snapshot.pins}


def _record(snapshot: Snapshot, decision: Decision, terms: Terms, max_tokens: int) -> tuple[RequestRecord, Plan]:
    last = snapshot.last if not decision.opens else None
    record = RequestRecord(
        number=(snapshot.last.number if snapshot.last else 0) + 1,
        epoch=decision.epoch.number,
        tail=snapshot.tail.number,
        rows=len(decision.rows),
        max_tokens=max_tokens,
        tokens=decision.tokens,
        features=decision.features,
        previous_tail=last.tail if last else 0,
        previous_rows=last.rows if last else 0,
        anchor=decision.anchor,
        at=terms.now,
    )
    plan = Plan(
        epoch=decision.epoch,
        turns=decision.turns,
        rows=decision.rows,
        previous_tail=record.previous_tail,
        previous_rows=record.previous_rows,
    )
    return record, plan


def _keep_summaries(tx: Transaction, conversation: str, snapshot: Snapshot, decision: Decision) -> None:
    """Record what a new epoch's summary tier is made of, and that what was undone stands in it as turns."""
    number = decision.epoch.number
    made = {s.id: s for s in decision.made}
    for segment in decision.made:
        tx.add_segment(conversation, replace(segment, at=decision.epoch.at))
        for part in segment.parts:
            tx.set_segment(conversation, part, SegmentStatus.MERGED, segment.id)
    for segment in decision.shown:
        if segment.id not in made and segment.status is SegmentStatus.READY:
            tx.set_segment(conversation, segment.id, SegmentStatus.ACTIVE, None)
    for segment in snapshot.undone:
        tx.set_segment(conversation, segment.id, SegmentStatus.UNDONE, f"epoch {number}")
