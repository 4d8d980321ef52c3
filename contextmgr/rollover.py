"""Roll over to a new epoch: what it shows is decided once, from the old window and nothing older.

Summaries that are ready come in here and nowhere else; what leaves without one stands in the gap line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contextmgr import jsontext
from contextmgr.allocator import Allocation, Candidate, Fixed, Limits, ResultSize, allocate
from contextmgr.attachments import Attachments, form_rows, tail_rows
from contextmgr.compaction import Compacted, SummaryTier
from contextmgr.epochs import Decision, Snapshot, Terms, extend, turn_weight
from contextmgr.errors import BudgetError
from contextmgr.evidence import Evidence, out_of_view
from contextmgr.features import ZERO, Features, total
from contextmgr.forms import masked as masked_form
from contextmgr.preface import Material, Weigher, preface, tiers
from contextmgr.state import State, StateTier
from contextmgr.summaries import joined
from contextmgr.tokens import block_features, blocks_features, message_frame
from contextmgr.turns import Block, Turn, open_round
from contextmgr.views import Epoch, Form, PrefaceBlock, Why


def decide(snapshot: Snapshot, terms: Terms, *, head_changed: bool) -> Decision:
    """Extend the epoch where that keeps every law, else roll over.  Raises `BudgetError`, before anything is kept."""
    outcome = extend(snapshot, terms, head_changed=head_changed)
    return outcome if isinstance(outcome, Decision) else open_epoch(snapshot, terms, outcome)


def open_epoch(snapshot: Snapshot, terms: Terms, why: Why) -> Decision:
    """A new epoch over the old window.  Raises `BudgetError` where even the smallest view exceeds ``terms.room``.

    Turns kept since a summary was undone stand ahead of others while they fit; those undone just now must.
    """
    for smaller in _ways_out(snapshot):
        try:
            return _open(smaller, terms, why)
        except BudgetError as error:
            refused = error
    raise refused


def _ways_out(snapshot: Snapshot) -> Iterator[Snapshot]:
    """The snapshot, then what can wait or leave where it does not fit: late results, the state's floor, turns kept for
    long.
    """
    yield snapshot
    if snapshot.late:
        snapshot = replace(snapshot, late=())
        yield snapshot
    if snapshot.state.facts or snapshot.state.notes:
        snapshot = replace(snapshot, state=State(change=snapshot.state.change))
        yield snapshot
    must = {n for n in snapshot.kept for s in snapshot.undone if s.covers(n)}
    if snapshot.kept != must:
        start = next(t.number for t in snapshot.turns if t.number not in snapshot.kept)
        loose = {n for n in snapshot.kept - must if n < start}
        turns = tuple(t for t in snapshot.turns if t.number not in loose)
        yield replace(snapshot, turns=turns, kept=frozenset(must))


def _open(snapshot: Snapshot, terms: Terms, why: Why) -> Decision:
    pinned = [p.text for p in snapshot.pins]
    material = Material(
        pins=snapshot.pins,
        retired=snapshot.retired,
        contexts=snapshot.contexts,
        tasks=snapshot.tasks,
        in_hand=snapshot.in_hand,
        shown={t.number: t for t in snapshot.turns},
        kept=snapshot.kept,
        summary=SummaryTier(
            snapshot.segments, terms.profile.summary.cap, terms.count, pinned, terms.calibration.tokens
        ),
        tools=terms.head.tool_names,
        zone=snapshot.zone,
    )
    state = _state(snapshot, terms)
    rollover = _Rollover(
        snapshot, terms, why, material, state, _kept_round(snapshot, terms), _kept_caps(snapshot, terms)
    )
    extra = tail_rows(snapshot.tail.number, rollover.attached(()), terms.setting(snapshot.zone, snapshot.pins), 0)
    fixed = Fixed(
        head=total([terms.head_weight, *rollover.kept_weights(), *(r.features for r in extra)]),
        preface=Weigher(material, terms.count),
        state=blocks_features(state[0], terms.count),
        state_floor=blocks_features(state[1], terms.count),
    )
    decision = rollover.settle(fixed)
    found = rollover.evidence(decision.epoch.first)
    if not found:
        return decision
    weights = tuple(block_features(e.render(snapshot.zone), terms.count) for e in found)
    try:
        return rollover.settle(replace(fixed, evidence=weights))
    except BudgetError:
        return decision


@dataclass(frozen=True, slots=True)
class _Rollover:
    """One rollover: what it is decided on; ``state`` is the state tier whole and at its floor; ``keeps`` are turns
    whose thinking the model demands back, ``kept_caps`` the results over their cap in turns that stay since a summary
    was undone.
    """

    snapshot: Snapshot
    terms: Terms
    why: Why
    material: Material
    state: tuple[Sequence[Block], Sequence[Block]]
    keeps: frozenset[int]
    kept_caps: Mapping[tuple[int, int], int]

    def kept_weights(self) -> list[Features]:
        """What the turns weigh that stay since a summary was undone."""
        kept = [t for t in self.snapshot.turns if t.number in self.snapshot.kept]
        setting = self.terms.setting(self.snapshot.zone, self.snapshot.pins)
        rows = form_rows(kept, dict.fromkeys(self.kept_caps, Form.CUT), self.kept_caps, setting, 0)
        return [*(turn_weight(t, rows, thinks=t.number in self.keeps) for t in kept), *(r.features for r in rows)]

    def settle(self, fixed: Fixed) -> Decision:
        """Allocate, render, weigh what was rendered; where that came out larger than reckoned, allocate tighter."""
        candidates, repeats = self._candidates()
        slack = 0
        for _ in range(4):
            allocation = allocate(candidates, fixed, _limits(self.terms, self.why, candidates, fixed, slack))
            if not allocation.fits:
                break
            decision = self._render(allocation, repeats)
            if decision.tokens <= self.terms.room:
                return decision
            slack += decision.tokens - self.terms.room
        raise budget_error(self.snapshot, self.terms, self.material, candidates[-1])

    def _candidates(self) -> tuple[list[Candidate], dict[tuple[int, int], int]]:
        window = [t for t in self.snapshot.turns if t.number not in self.snapshot.kept]
        repeats = repeated(window)
        torn = self.material.summary.torn(t.number for t in window) if self.material.summary else frozenset()
        found = [
            _candidate(t, self.terms, repeats, thinks=t.number in self.keeps, torn=t.number in torn) for t in window
        ]
        return found, repeats

    def evidence(self, first: int) -> tuple[Evidence, ...]:
        """What is quoted in a view that begins at turn ``first``, strongest first."""
        kept, in_hand = self.snapshot.kept, self.snapshot.in_hand
        shown = {*kept, in_hand.number} if in_hand is not None else kept
        return out_of_view(self.snapshot.evidence, lambda n: n >= first or n in shown, self.terms.profile.retrieved.k)

    def attached(self, evidence: Sequence[Evidence]) -> Attachments:
        """What a new epoch attaches at its tail; pins and notices are in its preface.

        Nothing may follow where the API itself owes results.
        """
        if self.snapshot.tail.waits_for_server:
            return Attachments()
        return Attachments(late=self.snapshot.late, evidence=evidence)

    def _render(self, allocation: Allocation, repeats: Mapping[tuple[int, int], int]) -> Decision:
        snapshot, terms = self.snapshot, self.terms
        turns = tuple(t for t in snapshot.turns if t.number >= allocation.first or t.number in snapshot.kept)
        setting = replace(terms.setting(snapshot.zone, snapshot.pins), repeats=repeats)
        forms = {**allocation.forms, **dict.fromkeys(self.kept_caps, Form.CUT)}
        rows = form_rows(turns, forms, {**allocation.caps, **self.kept_caps}, setting, 0)
        evidence = self.evidence(allocation.first)[: allocation.evidence]
        rows += tail_rows(snapshot.tail.number, self.attached(evidence), setting, len(rows))
        state = self.state[1] if allocation.state_at_floor else self.state[0]
        blocks = preface(replace(self.material, state=state), allocation.first)
        weights = {"system": terms.head_weight, **tiers(blocks, terms.count)}
        weighed = [turn_weight(t, rows, thinks=t.number in self.keeps) for t in turns]
        features = total([*weights.values(), message_frame(1), *weighed, *(r.features for r in rows)])
        compacted = self.material.summary.at(allocation.first) if self.material.summary else Compacted(())
        return Decision(
            epoch=self._epoch(allocation.first, blocks, weights),
            opens=True,
            turns=turns,
            rows=rows,
            added=rows,
            features=features,
            tokens=terms.calibration.tokens(features),
            shown=compacted.shown,
            made=compacted.made,
        )

    def _epoch(self, first: int, blocks: tuple[PrefaceBlock, ...], weights: Mapping[str, Features]) -> Epoch:
        snapshot = self.snapshot
        return Epoch(
            number=(snapshot.last.epoch if snapshot.last else 0) + 1,
            first=first,
            opened_at=snapshot.tail.number,
            head=self.terms.head,
            why=self.why,
            preface=blocks,
            tiers=weights,
            hidden=frozenset(n for n in snapshot.hidden if n >= first),
            kept=joined((n, n) for n in snapshot.kept),
            ttl=self.terms.profile.cache_ttl,
            keeps_round=self.terms.model.thinking_in_tool_round,
            at=self.terms.now,
            state=snapshot.state.change,
        )


def _state(snapshot: Snapshot, terms: Terms) -> tuple[Sequence[Block], Sequence[Block]]:
    """The state tier within its cap, and within its floor."""
    tier = StateTier(snapshot.state, snapshot.wording(), terms.count, terms.calibration.tokens)
    return tier.blocks(terms.profile.state.cap), tier.blocks(terms.profile.state.floor)


def repeated(turns: Sequence[Turn]) -> dict[tuple[int, int], int]:
    """Results that a later call repeats (same tool, input and result): turn and call number, and the newest turn."""
    newest: dict[str, int] = {}
    found: dict[tuple[int, int], int] = {}
    for turn in reversed(turns):
        for call, result in sorted(turn.in_place.items(), reverse=True):
            use = turn.calls[call]
            content = jsontext.canonical(result.body.get("content"))
            key = jsontext.sha256(jsontext.canonical([use.get("name"), use.get("input")]) + content)
            if newest.setdefault(key, turn.number) != turn.number:
                found[turn.number, call] = newest[key]
    return found


def _limits(terms: Terms, why: Why, candidates: Sequence[Candidate], fixed: Fixed, slack: int) -> Limits:
    room = terms.room - slack
    whole = total([fixed.head, fixed.preface(candidates[0].number), *fixed.evidence, *map(_whole, candidates)])
    fits = terms.calibration.tokens(whole) <= room and why is not Why.FULL
    return Limits(
        goal=room if fits else min(room, int(terms.profile.fill * terms.room)),
        room=room,
        recent=terms.profile.recent.min_turns,
        result_cap=terms.profile.recent.result_cap,
        size=terms.calibration.tokens,
        mask_all=why is Why.COLD,
    )


def _whole(candidate: Candidate) -> Features:
    return candidate.own.plus(total(r.whole for r in candidate.results))


def _candidate(
    turn: Turn, terms: Terms, repeats: Mapping[tuple[int, int], int], *, thinks: bool, torn: bool
) -> Candidate:
    results = tuple(
        ResultSize(
            call=call,
            whole=result.features,
            masked=block_features(masked_form(turn, result, terms.head.tool_names), terms.count),
            repeated=(turn.number, call) in repeats,
        )
        for call, result in sorted(turn.in_place.items())
    )
    own = turn.features.plus(turn.thinking_features) if thinks else turn.features
    frames = message_frame(2 if turn.calls else 1)
    fillers = Features(fixed=30 * len(turn.missing))
    return Candidate(
        number=turn.number,
        is_user=turn.role == "user",
        own=total([own, frames, fillers]),
        results=results,
        torn=torn,
    )


def _kept_caps(snapshot: Snapshot, terms: Terms) -> dict[tuple[int, int], int]:
    cap = terms.profile.recent.result_cap
    kept = [t for t in snapshot.turns if t.number in snapshot.kept]
    return {(t.number, c): cap for t in kept for c, r in t.in_place.items() if sum(r.features) > cap}


def _kept_round(snapshot: Snapshot, terms: Terms) -> frozenset[int]:
    """Turns whose thinking the model demands back: the tool round that is open, where thinking is on."""
    if not (terms.model.thinking_in_tool_round and terms.head.thinks):
        return frozenset()
    return open_round(snapshot.turns, terms.head.model)


def budget_error(snapshot: Snapshot, terms: Terms, material: Material, tail: Candidate) -> BudgetError:
    """Names every tier that may never give way, and its tokens."""
    size: Callable[[Features], int] = terms.calibration.tokens
    blocks = preface(material, tail.number)
    kept = total(turn_weight(t, (), thinks=False) for t in snapshot.turns if t.number in snapshot.kept)
    parts = {"system": terms.head_weight, **tiers(blocks, terms.count), "undone": kept, "tail": _whole(tail)}
    tokens = {name: size(weight) for name, weight in parts.items() if weight != ZERO}
    pins = {p.id: p.tokens for p in snapshot.pins}
    listed = ", ".join(f"{name} {n}" for name, n in tokens.items())
    shares = f"; pins: {', '.join(f'{i} {n}' for i, n in pins.items())}" if pins else ""
    return BudgetError(
        f"the smallest request is larger than the budget of {terms.room} tokens ({listed}{shares}); raise the budget, "
        "lower max_tokens, revoke pins, shorten system or tools, or withdraw() the turn that is too large",
        tiers=tokens,
        budget=terms.room,
        pins=pins,
    )
