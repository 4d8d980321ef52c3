"""RV1-RV8 on a request the product assembled, checked against what the store holds and what was sent before.

`conftest.py` hangs a `Watch` over every test, so that no request of the whole suite goes unchecked; a test that counts
reads or writes of its own takes the mark ``unwatched`` with its reason.  In another process:

    with rv.watching():
        ...

What is read here is the store's records; what is checked is the request.  None of the product's own checks is used.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from contextmgr.assembly import AssembledRequest, Assembler
from contextmgr.models import model_entry
from contextmgr.pins import Pin
from contextmgr.store import Transaction
from contextmgr.store.sqlite import SqliteStore
from contextmgr.turns import Turn
from contextmgr.views import Epoch, Form, Part, RequestRecord, RowKind, ViewRow
from tests.request_check import Answered, blocks_of, check_request, check_thinking, without_marks

THINKING = ("thinking", "redacted_thinking")
MADE_PARTS = frozenset({Part.LABEL, Part.NOTICE, Part.STATE, Part.SUMMARY, Part.GAP})
MADE_ROWS = frozenset({RowKind.LABEL, RowKind.NOTICE, RowKind.STATE})
MIN_REPEAT = 13  # characters: a shorter pin may stand in a label by chance
MOST_KEPT = 8  # whole requests kept per conversation; beyond that thinking is checked along the chain of prefixes


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as issued: the epoch it belongs to, its params, and the digest of their bytes."""

    epoch: int
    params: Mapping[str, Any] | None
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """What the store holds about one request, read in one transaction."""

    request: RequestRecord
    is_last: bool
    epoch: Epoch
    rows: tuple[ViewRow, ...]
    turns: tuple[Turn, ...]
    pins: tuple[Pin, ...]
    made_in: Mapping[int, int]

    @property
    def shown(self) -> dict[int, Turn]:
        """The turns that the request shows, by number."""
        return {t.number: t for t in self.turns if t.number not in self.epoch.hidden}


def read_records(tx: Transaction, conversation: str, number: int) -> Records:
    """Read what the checks need; the rows read depend on the view only."""
    request, newest = tx.request(conversation, number), tx.last_request(conversation)
    assert request is not None, f"request {number} was not recorded"
    epoch = tx.epoch(conversation, request.epoch)
    assert epoch is not None
    spans = [(a, min(b, epoch.first - 1)) for a, b in epoch.kept if a < epoch.first]  # kept since a summary was undone
    turns = tuple(t for a, b in [*spans, (epoch.first, request.tail)] for t in tx.turns(conversation, a, b))
    asked = {t.request for t in turns if t.has_thinking and t.request is not None}
    made = {n: found.epoch for n in asked if (found := tx.request(conversation, n)) is not None}
    return Records(
        request=request,
        is_last=newest is not None and newest.number == number,
        epoch=epoch,
        rows=tuple(tx.rows(conversation, epoch.number)[: request.rows]),
        turns=turns,
        pins=active_pins(tx, conversation),
        made_in=made,
    )


def active_pins(tx: Transaction, conversation: str) -> tuple[Pin, ...]:
    """The pins that must be in a request made now."""
    return tuple(p for p in (*tx.project_pins(), *tx.pins(conversation)) if p.is_active)


def digest(params: Mapping[str, Any]) -> str:
    """SHA-256 of the request's bytes, key order included."""
    return hashlib.sha256(json.dumps(params, ensure_ascii=True).encode()).hexdigest()


# --- the checks -------------------------------------------------------------------------------------------------------


def check_budget(request: AssembledRequest, window: int) -> list[str]:
    """RV5 by the product's own count, and the account adds up."""
    report, faults = request.report, []
    if report.tokens > report.budget:
        faults.append(f"RV5 {report.tokens} tokens; the budget is {report.budget}")
    if report.tokens + request.params["max_tokens"] > window:
        faults.append(f"RV5 {report.tokens} tokens and the answer exceed the window of {window}")
    if sum(report.tiers.values()) != report.tokens:
        faults.append(f"RV5 the tiers {dict(report.tiers)} do not add up to {report.tokens}")
    return faults


def check_growth(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> list[str]:
    """Law 6: cache marks left out, the later request of an epoch begins with the whole earlier one."""
    for key in ("model", "system", "tools", "thinking"):
        if _unmarked(earlier.get(key)) != _unmarked(later.get(key)):
            return [f"LAW6 {key} changed inside an epoch"]
    before = [(role, without_marks(b)) for role, b in blocks_of(earlier)]
    after = [(role, without_marks(b)) for role, b in blocks_of(later)]
    for n, (old, new) in enumerate(zip(before, after, strict=False)):
        if old != new or json.dumps(old) != json.dumps(new):
            return [f"LAW6 block {n} changed inside an epoch: {str(old)[:200]} became {str(new)[:200]}"]
    return ["LAW6 the later request is shorter"] if len(after) < len(before) else []


def _unmarked(value: object) -> str:
    if isinstance(value, list):
        return json.dumps([without_marks(v) for v in value])
    return json.dumps(value)


def check_thoughts(request: AssembledRequest, records: Records, *, binds: bool) -> list[str]:
    """RV4 against the store: whole turns' thinking, in order, byte-equal, and none from before the epoch if bound."""
    thoughts = [without_marks(b) for _, b in blocks_of(request.params) if b["type"] in THINKING]
    if not thoughts:
        return []
    turns = [(t, [b for b in t.blocks if b["type"] in THINKING]) for t in records.shown.values() if t.has_thinking]
    reach: dict[int, tuple[int, ...]] = {0: ()}
    for turn, own in turns:
        for at, used in list(reach.items()):
            if thoughts[at : at + len(own)] == own:
                reach[at + len(own)] = (*used, turn.number)  # the same thinking twice: the later one
    if len(thoughts) not in reach:
        return ["RV4 the thinking is not that of whole stored turns, in order"]
    if not binds:
        return []
    by_number = {t.number: t for t, _ in turns}
    strays = [n for n in reach[len(thoughts)] if records.made_in.get(by_number[n].request or 0) != records.epoch.number]
    return [f"RV4 the thinking of turns {strays} was not made in this epoch"] if strays else []


def check_pins(request: AssembledRequest, records: Records) -> list[str]:
    """RV6: each active pin has one place by the records, proved there byte for byte, and no label repeats it."""
    proofs = {p.pin: p for p in request.proof.pins}
    faults = []
    if sorted(proofs) != sorted(p.id for p in records.pins) or len(proofs) != len(request.proof.pins):
        faults.append(f"RV6 {sorted(proofs)} are proved, active are {sorted(p.id for p in records.pins)}")
    for pin in records.pins:
        places = places_of(pin, records)
        if len(places) != 1:
            faults.append(f"RV6 pin {pin.id} has {len(places)} places: {places}")
        elif pin.id in proofs:
            faults += check_place(request.params, pin, proofs[pin.id], places[0])
    return faults + check_repeats(records)


def places_of(pin: Pin, records: Records) -> list[str]:
    """Where the records put a pin: its own block in the preface, an attached block, or the turn that said it."""
    own = [p for p in records.epoch.preface if p.part is Part.PIN and p.pin == pin.id]
    rows = [r for r in records.rows if r.kind is RowKind.PIN and r.ref == pin.id]
    said = [t for t in records.shown.values() if t.number == pin.turn and t.sendable]
    held = [p for p in records.epoch.preface if p.part is Part.IN_HAND and (p.turn, p.index) == (pin.turn, pin.block)]
    counts = {"preface": len(own) + len(held), "attached": len(rows), "turn": len(said)}
    return [where for where, count in counts.items() for _ in range(count)]


def check_place(params: Mapping[str, Any], pin: Pin, proof: Any, where: str) -> list[str]:
    """The proof names that place, in a user message, and exactly the pin's bytes stand there."""
    place = proof.place
    message = params["messages"][place.message]
    block = message["content"][place.block]
    found = block.get("text", "")[place.start : place.end]
    faults = []
    if where != place.where or message["role"] != "user" or block["type"] != "text":
        faults.append(f"RV6 pin {pin.id} is at {place}, the records say {where}")
    if found != pin.text or hashlib.sha256(found.encode()).hexdigest() != pin.sha256 or proof.sha256 != pin.sha256:
        faults.append(f"RV6 pin {pin.id} is not what stands at {place}: {found[:80]!r}")
    if where == "attached" and block["text"] != pin.text:
        faults.append(f"RV6 pin {pin.id} shares its block")
    return faults


def check_repeats(records: Records) -> list[str]:
    """RV6: what the manager itself writes repeats no pin."""
    made = [p.block for p in records.epoch.preface if p.part in MADE_PARTS]
    made += [r.block for r in records.rows if r.kind in MADE_ROWS or r.form in (Form.MASKED, Form.FILLER)]
    texts = [text for block in made for text in _strings(block)]
    long = [p for p in records.pins if len(p.text) >= MIN_REPEAT]
    return [f"RV6 {text[:160]!r} repeats pin {p.id}" for p in long for text in texts if p.text in text]


def _strings(block: Mapping[str, Any]) -> list[str]:
    content = block.get("text", block.get("content"))
    if isinstance(content, str):
        return [content]
    return [text for part in content or () for text in _strings(part)]


# --- the watch --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Watch:
    """Everything issued while it lasts, by store and conversation; ``check`` raises AssertionError on any fault."""

    past: dict[tuple[str, ...], dict[int, Sent]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    checked: int = 0

    def check(
        self, assembler: Assembler, conversation: str, request: AssembledRequest, settled: bool
    ) -> dict[int, Sent]:
        """RV1-RV7 and the growth of epochs.  ``settled`` says that nothing was added meanwhile."""
        with assembler.store.reading(assembler.scope) as tx:
            records = read_records(tx, conversation, request.number)
        entry = model_entry(request.params["model"], assembler.table)
        with self.lock:
            self.checked += 1
            known = self.past.setdefault(key_of(assembler, conversation), {})
            faults = self._against_past(known, request, records, binds=entry.binds_thinking)
        tail = records.turns[-1]
        faults += check_request(request.params, paused_tail=tail.stop_reason == "pause_turn")
        faults += check_budget(request, entry.window)
        faults += check_thoughts(request, records, binds=entry.binds_thinking)
        if settled and records.is_last:
            faults += check_pins(request, records)
        assert faults == [], f"request {request.number} of {conversation!r}: " + "; ".join(faults)
        return known

    def _against_past(
        self, known: dict[int, Sent], request: AssembledRequest, records: Records, *, binds: bool
    ) -> list[str]:
        number, epoch, bytes_now = request.number, records.epoch.number, digest(request.params)
        if number in known:
            return [] if known[number].digest == bytes_now else [f"RV8 request {number} has changed its bytes"]
        earlier = max((n for n in known if n < number and known[n].epoch == epoch), default=None)
        faults = []
        if earlier is not None and (before := known[earlier].params) is not None:
            faults += check_growth(before, request.params)
            if len(known) >= MOST_KEPT:
                known[earlier] = Sent(epoch, None, known[earlier].digest)
        faults += _past_thinking(known, request, records, binds=binds)
        known[number] = Sent(epoch, request.params, bytes_now)
        return faults


def _past_thinking(known: Mapping[int, Sent], request: AssembledRequest, records: Records, *, binds: bool) -> list[str]:
    """RV4 against whole earlier requests, where all that were answered with thinking are still at hand."""
    turns = [t for t in records.turns if t.has_thinking]
    requests = [known.get(t.request or 0) for t in turns]
    answered: list[Answered] = [
        (sent.params, turn.blocks)
        for turn, sent in zip(turns, requests, strict=True)
        if sent is not None and sent.params is not None
    ]
    thoughts = [json.dumps(b) for turn in turns for b in turn.blocks if b["type"] in THINKING]
    if len(answered) < len(turns) or len(set(thoughts)) < len(thoughts):
        return []  # the same block twice would be taken for the earlier one
    return check_thinking(request.params, answered, bound=binds)


def key_of(assembler: Assembler, conversation: str) -> tuple[str, ...]:
    """A conversation's name across managers and processes; a copy or a new file is another store."""
    store, scope = assembler.store, assembler.scope
    born = str(id(store))
    if isinstance(store, SqliteStore):
        with store._lock:
            made = store._connect().execute("SELECT min(applied_at) FROM migration").fetchone()[0]
        born = f"{store._path or id(store)} {made}"
    return (born, scope.tenant, scope.user or "", scope.project or "", conversation)


def _changes(assembler: Assembler) -> int:
    """Rows that this process has written so far."""
    store = assembler.store
    connection: sqlite3.Connection | None = store._connect() if isinstance(store, SqliteStore) else None
    return connection.total_changes if connection is not None else 0


def _state(assembler: Assembler, conversation: str) -> tuple[Any, ...]:
    """What an assembly depends on and must leave alone: counters of the conversation, its pins and their state."""
    with assembler.store.reading(assembler.scope) as tx:
        record = tx.conversation(conversation)
        last = tx.last_request(conversation)
        pins = (*tx.project_pins(), *tx.pins(conversation))
    return record, last.number if last else 0, tuple((p.id, p.status, p.sha256) for p in pins)


def _given(state: tuple[Any, ...]) -> tuple[Any, ...]:
    """The part of a state that assembling itself never changes."""
    record, _, pins = state
    own = (record.last_turn, record.open_turn, record.updated_at) if record is not None else ()
    return own, pins


@contextmanager
def watching() -> Iterator[Watch]:
    """Check every request that any assembler of this process issues or gives again."""
    watch = Watch()
    assemble, request_at = Assembler.assemble, Assembler.request_at

    def watched(self: Assembler, conversation: str, **arguments: Any) -> AssembledRequest:
        arguments = {k: list(v) if isinstance(v, Iterator) else v for k, v in arguments.items()}
        before = _given(_state(self, conversation))
        request = assemble(self, conversation, **arguments)
        state = _state(self, conversation)
        settled = before == _given(state)
        watch.check(self, conversation, request, settled=settled)
        if settled and state[1] == request.number:
            _check_repeat(self, conversation, request, arguments, state)
        return request

    def again(self: Assembler, conversation: str, number: int) -> AssembledRequest:
        request = request_at(self, conversation, number)
        known = watch.past.get(key_of(self, conversation), {}).get(number)
        if known is not None:
            assert digest(request.params) == known.digest, f"RV8 request_at({number}) gives other bytes"
        return request

    def _check_repeat(
        self: Assembler, conversation: str, request: AssembledRequest, arguments: Mapping[str, Any], state: Any
    ) -> None:
        """RV8, where no other thread or process has moved the conversation on meanwhile."""
        with self.store._lock if isinstance(self.store, SqliteStore) else threading.Lock():
            written = _changes(self)
            if _state(self, conversation) != state:
                return
            second = assemble(self, conversation, **arguments)
            if _given(_state(self, conversation)) != _given(state):
                return  # another process went on
            assert _changes(self) == written, "RV8 assembling again wrote to the store"
        assert second.number == request.number, "RV8 assembling again made a new request"
        assert digest(second.params) == digest(request.params), "RV8 assembling again gave other bytes"
        assert second.proof == request.proof, "RV8 assembling again gave another proof"
        assert second.report.to_json() == request.report.to_json(), "RV8 assembling again gave another report"

    Assembler.assemble = watched  # type: ignore[method-assign]
    Assembler.request_at = again  # type: ignore[method-assign]
    try:
        yield watch
    finally:
        Assembler.assemble = assemble  # type: ignore[method-assign]
        Assembler.request_at = request_at  # type: ignore[method-assign]
