"""Drives the real `Manager` through a recorded session, one `assemble` per recorded model call."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from contextmgr.assembly import AssembledRequest, room
from contextmgr.conversation import Conversation
from contextmgr.counters import default_counter
from contextmgr.errors import BudgetError, ContextManagerError, InputError, InvalidRequestError, PinError, ProofError
from contextmgr.heads import Head
from contextmgr.manager import Manager
from contextmgr.meter import Meter, identity_key
from contextmgr.models import ModelEntry, model_entry
from contextmgr.pins import Pin
from contextmgr.policies import PlainHistory, Policy, SendEverything, SlideEveryCall
from contextmgr.profiles import Profile
from contextmgr.proof import text_at
from contextmgr.replay.compacting import Compactions, compactions
from contextmgr.replay.metering import RememberingCounter, Tally, Weigher
from contextmgr.replay.outcome import Outcome
from contextmgr.replay.standins import head_of
from contextmgr.replay.timing import Clock, moments
from contextmgr.replay.words import Words
from contextmgr.scope import Scope
from contextmgr.store import Store, open_store
from contextmgr.transcripts import Replied, Returned, Said, Session
from contextmgr.writers import Writer

MAX_TOKENS = 8_192
"""Tokens reserved for each answer, or the model's own limit where that is smaller."""

NAME = "replay"
"""Tenant and conversation of every replay, each in a store of its own."""

POLICIES = (SendEverything.name, SlideEveryCall.name)

PinWish = int | tuple[int, ...] | Literal["first"] | None
OnRequest = Callable[[AssembledRequest], None]
OnPolicy = Callable[[str, Mapping[str, Any]], None]


def replay_session(
    session: Session,
    *,
    profile: Profile,
    model: str,
    pin: PinWish = None,
    summarizer: Literal["extractive"] | Writer | None = None,
    on_request: OnRequest | None = None,
    on_policy: OnPolicy | None = None,
    policies: Collection[str] = POLICIES,
    keep_going: bool = False,
) -> Outcome:
    """Replay one recorded conversation and return what was found.

    Each recorded model call becomes one ``assemble`` in a fresh store in memory, at its recorded time, followed by the
    recorded answer.  ``pin`` pins the first message of a person (``"first"``), or the user turns of these numbers, as
    they are written.  ``summarizer`` is the manager's; what is due is summarised before each call.  ``on_request`` is
    given every request as issued, then ``on_policy`` the name and the request of each other policy for that call.
    ``policies`` names those that are played.  Recorded usage is left out: it belongs to other requests.

    Raises `InputError` for a pin that is no user turn, and whatever stops the conversation; with ``keep_going`` the
    outcome up to there tells of it as ``error``.
    """
    started = time.perf_counter()
    entry = model_entry(model)
    counter = RememberingCounter(default_counter())
    weigher = Weigher(entry, counter.count)
    head, stand_in = head_of(session, model, weigher.head)
    clock, store, error = Clock(), open_store("sqlite://"), None
    with Manager(
        store, profile=profile, counter=counter, clock=clock, summarizer=summarizer, background=False
    ) as manager:
        chat = manager.conversation(NAME, tenant=NAME)
        drive = _Drive(
            chat, manager.flush, store, clock, head, entry, profile, weigher, on_request, on_policy, policies
        )
        try:
            drive.run(session, pin)
        except ContextManagerError as stopped:
            if not keep_going:
                raise
            error = f"{type(stopped).__name__}: {stopped}"
        return drive.outcome(session, error=error, stand_in=stand_in, seconds=time.perf_counter() - started)


def pinned_events(session: Session, pin: PinWish) -> frozenset[int]:
    """Positions of the events to be pinned.  Raises `InputError` where ``pin`` names no user turn."""
    if pin is None:
        return frozenset()
    turns = [i for i, e in enumerate(session.events) if not isinstance(e, Returned)]
    if pin == "first":
        people = (i for i in turns if isinstance(e := session.events[i], Said) and e.human)
        return frozenset([next(people, turns[0])])
    numbers = pin if isinstance(pin, tuple) else (pin,)
    return frozenset(_pinned_event(session, turns, int(number)) for number in numbers)


def _pinned_event(session: Session, turns: list[int], number: int) -> int:
    where = f"conversation {session.index} of {session.file}"
    if not 1 <= number <= len(turns):
        raise InputError(f"pin {number}: {where} has turns 1 to {len(turns)}; name one of them, or 'first'")
    if isinstance(session.events[turns[number - 1]], Replied):
        raise InputError(f"pin {number}: turn {number} of {where} is the assistant's; only user turns can be pinned")
    return turns[number - 1]


@dataclass(slots=True)
class _Compared:
    """A policy and its figures."""

    policy: Policy
    tally: Tally


@dataclass(slots=True)
class _Drive:
    """One conversation on its way."""

    chat: Conversation
    flush: Callable[[], int]
    store: Store
    clock: Clock
    head: Head
    entry: ModelEntry
    profile: Profile
    weigher: Weigher
    on_request: OnRequest | None
    on_policy: OnPolicy | None
    wanted: Collection[str]
    calls: int = 0
    over_budget: int = 0
    pins_expected: int = 0
    pins_proven: int = 0
    peak: int = 0
    summary_peak: int = 0
    pin_refused: str | None = None
    pins: tuple[Pin, ...] = ()
    refusals: Counter[str] = field(default_factory=Counter)
    rollovers: Counter[str] = field(default_factory=Counter)
    words: Words = field(default_factory=Words)
    paused: bool = False
    tally: Tally = field(init=False)
    history: PlainHistory = field(init=False)
    compared: list[_Compared] = field(init=False)

    def __post_init__(self) -> None:
        self.tally = Tally(self._meter(), self.words)
        self.history = PlainHistory(self.weigher)
        key = identity_key()
        policies = (p for p in self._policies() if p.name in self.wanted)
        self.compared = [_Compared(p, Tally(self._meter(key), self.words)) for p in policies]

    def _meter(self, key: Callable[[Mapping[str, Any]], bytes] | None = None) -> Meter:
        return Meter(self.entry, self.weigher, ttl_seconds=float(self.entry.cache_lifetime), key=key)

    def _policies(self) -> tuple[Policy, ...]:
        ttl, limit = self.profile.cache_ttl, self.max_tokens
        left = room(self.profile, self.entry, limit)
        return (
            SendEverything(self.head, max_tokens=limit, ttl=ttl),
            SlideEveryCall(self.head, max_tokens=limit, room=left, tokens=self.weigher, ttl=ttl),
        )

    @property
    def max_tokens(self) -> int:
        return min(MAX_TOKENS, self.entry.max_output)

    def run(self, session: Session, pin: PinWish) -> None:
        """Take all events."""
        pinned = pinned_events(session, pin)
        for number, (event, at) in enumerate(zip(session.events, moments(session.events), strict=True)):
            self.event(event, at, pin=number in pinned)

    def event(self, event: Said | Replied | Returned, at: datetime, *, pin: bool) -> None:
        """Take one event; a reply is preceded by the request it answers, made at the time of what it answers."""
        if isinstance(event, Replied):
            request = self._call()
            self.clock.now = at
            self._reply(event, request)
        elif isinstance(event, Returned):
            self.clock.now = at
            self.chat.add_tool_results(event.blocks)
            self.history.results(event.blocks)
        else:
            self.clock.now = at
            self._said(event, pin=pin)

    def _said(self, said: Said, *, pin: bool) -> None:
        self.chat.interrupt()
        try:
            self.chat.add_user(said.blocks, pin=pin)
        except PinError as error:
            if not pin:
                raise
            self.pin_refused = f"{type(error).__name__}: {error}"
            self.chat.add_user(said.blocks)
        self.pins = tuple(self.chat.pins.list())
        self.paused = False
        self.history.user(said.blocks)
        self.words.add(said.blocks)

    def _reply(self, replied: Replied, request: AssembledRequest | None) -> None:
        answer = {"content": replied.blocks, "stop_reason": replied.stop_reason, "model": self.head.model}
        self.chat.add_reply(answer, request=request)
        self.paused = replied.stop_reason == "pause_turn" and not replied.calls
        self.history.reply(replied.blocks, paused=self.paused)
        self.words.add(replied.blocks)

    def _call(self) -> AssembledRequest | None:
        self.calls += 1
        self.history.settle()
        self.flush()  # a replay is faster than life: what is due in the background is done first
        try:
            request = self.chat.assemble(
                model=self.head.model, max_tokens=self.max_tokens, system=self.head.system, tools=self.head.tools
            )
        except ContextManagerError as error:
            self._refused(error)
            return None
        self._check(request)
        now = self.clock.now
        self.tally.add(request.params, now, paused=self.paused)
        if self.on_request is not None:
            self.on_request(request)
        for one in self.compared:
            params = one.policy.request(self.history)
            one.tally.add(params, now, paused=self.paused)
            if self.on_policy is not None:
                self.on_policy(one.policy.name, params)
        return request

    def _refused(self, error: ContextManagerError) -> None:
        self.refusals[type(error).__name__] += 1
        if isinstance(error, InvalidRequestError):
            self.tally.invalid += 1
        elif isinstance(error, ProofError):
            self.pins_expected += len(self.pins)
        elif not isinstance(error, BudgetError):
            raise error

    def _check(self, request: AssembledRequest) -> None:
        report = request.report
        self.over_budget += report.tokens > min(report.budget, self.profile.budget)
        self.peak = max(self.peak, report.tokens)
        self.summary_peak = max(self.summary_peak, report.tiers.get("summary", 0))
        if report.why != "extended":
            self.rollovers[report.why] += 1
        self.pins_expected += len(self.pins)
        self.pins_proven += proven(request, self.pins)

    def _compactions(self) -> Compactions:
        with self.store.reading(Scope(tenant=NAME)) as tx:
            return compactions(tx, NAME, summary_tokens_max=self.summary_peak)

    def outcome(self, session: Session, *, error: str | None, stand_in: bool, seconds: float) -> Outcome:
        """What was found."""
        return Outcome(
            file=session.file,
            format=session.format,
            index=session.index,
            model=self.head.model,
            profile=self.profile.name,
            budget=self.profile.budget,
            calls=self.calls,
            refusals=dict(self.refusals),
            over_budget=self.over_budget,
            pins_expected=self.pins_expected,
            pins_proven=self.pins_proven,
            pin_refused=self.pin_refused,
            peak_tokens=self.peak,
            sent=self.tally.outcome(),
            policies={one.policy.name: one.tally.outcome() for one in self.compared},
            rollovers=dict(self.rollovers),
            compactions=self._compactions(),
            seconds=seconds,
            client_compactions=session.client_compactions,
            skipped=session.skipped,
            stand_in=stand_in,
            error=error,
        )


def proven(request: AssembledRequest, pins: Iterable[Pin]) -> int:
    """How many of the pins stand at the place that the request's proof names, character for character."""
    params: Any = request.params
    try:
        request.proof.check(params)
    except ProofError:
        return 0
    places = {entry.pin: entry.place for entry in request.proof.pins}
    return sum(pin.id in places and text_at(params, places[pin.id]) == pin.text for pin in pins)
