"""Extend the open epoch where that keeps every law, or say why it cannot be.

Law: inside an epoch rows are only added, at turns not sent yet or (a pin that is due) at the end of the last one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo

from contextmgr.attachments import Attachments, LateNote, Setting, form_rows, tail_rows
from contextmgr.evidence import Evidence, out_of_view, quoted_turns
from contextmgr.features import Features, total
from contextmgr.heads import Head
from contextmgr.labels import repeats
from contextmgr.models import ModelEntry
from contextmgr.pins import Pin
from contextmgr.preface import said_in_view
from contextmgr.profiles import Profile
from contextmgr.state import NOTHING, State, Wording, change_block, due, ref_of
from contextmgr.summaries import Segment
from contextmgr.tasks import TaskDocument
from contextmgr.tokens import Calibration, Count, block_features, message_frame
from contextmgr.turns import Block, Turn, server_answers, server_calls
from contextmgr.views import Anchor, Epoch, Form, Part, RequestRecord, RowKind, ViewRow, Why

_FRAME, _TWO_FRAMES = message_frame(1), message_frame(2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One consistent reading of what the next request depends on.

    ``turns`` are the visible candidates in order, at least one: those of the epoch, or the newest where there is
    none; ``hidden`` the numbers among them that are withdrawn or erased.  ``pins`` are active, ``retired`` no
    longer.  ``evidence`` is what a search found, strongest first, in view or not; ``segments`` are ready or active;
    ``kept`` are the numbers among ``turns`` that stay, ahead of others, because a summary of them was undone: turns
    before the window, or older ones in it; ``undone`` are the segments undone since the last epoch began.  ``state``
    are facts and notes; ``recalled`` the ids of those facts that a new conversation is about to begin with;
    ``searched`` says that evidence was looked for just now.
    """

    version: int
    turns: tuple[Turn, ...]
    hidden: frozenset[int] = frozenset()
    last: RequestRecord | None = None
    epoch: Epoch | None = None
    rows: tuple[ViewRow, ...] = ()
    in_hand: Turn | None = None
    pins: tuple[Pin, ...] = ()
    retired: tuple[Pin, ...] = ()
    contexts: Mapping[int, Turn] = field(default_factory=dict)
    tasks: tuple[TaskDocument, ...] = ()
    late: tuple[LateNote, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    segments: tuple[Segment, ...] = ()
    undone: tuple[Segment, ...] = ()
    kept: frozenset[int] = frozenset()
    state: State = NOTHING
    recalled: tuple[str, ...] = ()
    searched: bool = False
    conversation: str = ""
    zone: tzinfo

    @property
    def tail(self) -> Turn:
        """The last visible turn."""
        return self.turns[-1]

    @property
    def new(self) -> tuple[Turn, ...]:
        """The turns that the last request has not shown."""
        if self.last is None:
            return self.turns
        return tuple(t for t in self.turns if t.number > self.last.tail)

    def wording(self) -> Wording:
        """How the state is rendered."""
        return Wording(conversation=self.conversation, zone=self.zone, pinned=tuple(p.text for p in self.pins))

    def shows(self, pin: Pin) -> bool:
        """Whether the open epoch shows a pin already."""
        epoch = self.epoch
        if epoch is None:
            return False
        if any(
            p.pin == pin.id or (p.part is Part.IN_HAND and (p.turn, p.index) == (pin.turn, pin.block))
            for p in epoch.preface
        ):
            return True
        if any(r.kind is RowKind.PIN and r.ref == pin.id for r in self.rows):
            return True
        return said_in_view(pin, {t.number: t for t in self.turns}, epoch.first, self.kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a plan is made under.  ``room`` is the input budget of this request in tokens; ``head_weight`` the
    features of ``head``; ``count`` counts cl100k tokens of a text; ``now`` is when the request is made.
    """

    head: Head
    model: ModelEntry
    profile: Profile
    room: int
    head_weight: Features
    calibration: Calibration
    count: Count
    now: datetime

    def setting(self, zone: tzinfo, pins: Sequence[Pin]) -> Setting:
        """How rows are rendered under these terms, beside these active pins."""
        cap, pinned = self.profile.recent.result_cap, tuple(p.text for p in pins)
        return Setting(tools=self.head.tool_names, zone=zone, result_cap=cap, count=self.count, pinned=pinned)

    @property
    def ttl(self) -> timedelta:
        """How long a cache entry lives."""
        return timedelta(seconds=3600 if self.profile.cache_ttl == "1h" else self.model.cache_lifetime)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the next request shows.  ``opens`` says that ``epoch`` is new; ``added`` are the new rows; ``tokens`` the
    size of the whole input, reckoned from ``anchor`` where there is one; ``features`` its weight.  ``shown`` are the
    segments of a new epoch's summary tier, ``made`` those among them that merging made.
    """

    epoch: Epoch
    opens: bool
    turns: tuple[Turn, ...]
    rows: tuple[ViewRow, ...]
    added: tuple[ViewRow, ...]
    features: Features
    tokens: int
    anchor: Anchor | None = None
    shown: tuple[Segment, ...] = ()
    made: tuple[Segment, ...] = ()


def extend(snapshot: Snapshot, terms: Terms, *, head_changed: bool) -> Decision | Why:
    """A decision that only adds to the open epoch, or the reason why that cannot be."""
    epoch, last = snapshot.epoch, snapshot.last
    if epoch is None or last is None:
        return Why.FIRST
    if epoch.broken is not None:
        return Why.BROKEN
    if head_changed:
        return Why.HEAD
    due = [p for p in snapshot.pins if not snapshot.shows(p)]
    if _is_broken(snapshot, terms, last, due):
        return Why.BROKEN
    if terms.profile.policy == "rolling" and any(t.role == "user" for t in snapshot.new):
        return Why.EACH_USER_TURN
    evidence, anchor = _due_evidence(snapshot, terms, epoch), _anchor(last)
    for most in range(len(evidence), -1, -1):  # it gives way before anything has to leave for it
        rows = _new_rows(snapshot, terms, due, evidence[:most])
        added = total([*(turn_weight(t, rows, thinks=True) for t in snapshot.new), *(r.features for r in rows)])
        features = last.features.plus(added)
        tokens = _tokens(terms.calibration, features, anchor)
        if tokens <= terms.room:
            break
    if tokens > terms.room:
        return Why.FULL
    if snapshot.new and _is_cold(snapshot, terms, last, tokens):
        return Why.COLD
    return Decision(
        epoch=epoch,
        opens=False,
        turns=snapshot.turns,
        rows=(*snapshot.rows, *rows),
        added=rows,
        features=features,
        tokens=tokens,
        anchor=anchor,
    )


def _is_broken(snapshot: Snapshot, terms: Terms, last: RequestRecord, due: Sequence[Pin]) -> bool:
    """Whether adding would change what was sent, or put thinking behind a prefix it was not produced with."""
    if due and snapshot.tail.waits_for_server:
        return True  # nothing may follow there, so the pin needs a new preface
    if _repeats_new_pin(snapshot, last):
        return True  # what was derived said it before it was pinned, and may no longer
    before = next((t for t in snapshot.turns if t.number == last.tail), None)
    if before is None or (before.waits_for_server and snapshot.new and not _answers(before, snapshot.new[0])):
        return True  # the dangling server call can no longer be sent as it was
    if not terms.model.binds_thinking:
        return False
    return any(t.has_thinking and t.request != last.number for t in snapshot.new)


def _repeats_new_pin(snapshot: Snapshot, last: RequestRecord) -> bool:
    """Whether text of our own in the open epoch holds that of a pin which the last request did not know."""
    known = {p["pin"] for p in last.proof}
    new = [p.text for p in snapshot.pins if p.id not in known]
    if not new or snapshot.epoch is None:
        return False
    made = [p.block for p in snapshot.epoch.preface if p.part in (Part.STATE, Part.SUMMARY)]
    made += [r.block for r in snapshot.rows if r.kind is RowKind.STATE]
    return any(repeats(str(block.get("text")), new) for block in made)


def _answers(waiting: Turn, following: Turn) -> bool:
    """Whether a turn brings the results that the API owed."""
    return server_calls(waiting.blocks) - server_answers(waiting.blocks) <= server_answers(following.blocks)


def _is_cold(snapshot: Snapshot, terms: Terms, last: RequestRecord, tokens: int) -> bool:
    if last.at is None or terms.now - last.at <= terms.ttl:
        return False
    masked = {(r.turn, r.call) for r in snapshot.rows if r.form is Form.MASKED}
    old = snapshot.turns[: -terms.profile.recent.min_turns]
    loose = [r.features for t in old for r in t.results if (t.number, r.call) not in masked and not r.late]
    return terms.calibration.tokens(total(loose)) > terms.profile.cold_mask_share * tokens


def _anchor(last: RequestRecord) -> Anchor | None:
    if last.true_input is not None:
        return Anchor(request=last.number, true_input=last.true_input, features=last.features)
    return last.anchor


def _tokens(calibration: Calibration, features: Features, anchor: Anchor | None) -> int:
    if anchor is None:
        return calibration.tokens(features)
    return anchor.true_input + calibration.tokens(features.minus(anchor.features))


def turn_weight(turn: Turn, rows: Sequence[ViewRow], *, thinks: bool) -> Features:
    """What a turn weighs in a request, the results in their forms of ``rows`` left out where a row stands for them."""
    return total(turn_parts(turn, rows, thinks=thinks))


def turn_parts(turn: Turn, rows: Sequence[ViewRow], *, thinks: bool) -> list[Features]:
    """The parts that `turn_weight` adds up."""
    parts = [turn.features, _TWO_FRAMES if turn.calls else _FRAME]
    if thinks:
        parts.append(turn.thinking_features)
    if turn.results:
        formed = {r.call for r in rows if r.turn == turn.number and r.kind is RowKind.FORM}
        parts += [r.features for c, r in turn.in_place.items() if c not in formed]
    return parts


def _due_evidence(snapshot: Snapshot, terms: Terms, epoch: Epoch) -> tuple[Evidence, ...]:
    """Evidence about turns that the epoch does not show yet, whole or quoted for an earlier question."""
    if not (snapshot.new and snapshot.evidence):
        return ()
    shown = {t.number for t in snapshot.turns} | quoted_turns(snapshot.rows)
    shown |= {p.turn for p in epoch.preface if p.turn is not None and p.part is Part.IN_HAND}
    return out_of_view(snapshot.evidence, shown.__contains__, terms.profile.retrieved.k)


def _new_rows(
    snapshot: Snapshot, terms: Terms, due: Sequence[Pin], evidence: Sequence[Evidence]
) -> tuple[ViewRow, ...]:
    cap, start = terms.profile.recent.result_cap, len(snapshot.rows)
    caps = {(t.number, c): cap for t in snapshot.new for c, r in t.in_place.items() if sum(r.features) > cap}
    setting = terms.setting(snapshot.zone, snapshot.pins)
    rows = form_rows(snapshot.new, dict.fromkeys(caps, Form.CUT), caps, setting, start)
    if snapshot.tail.waits_for_server:
        return rows
    attached = Attachments(
        pins=due,
        notices=_due_notices(snapshot),
        late=snapshot.late if snapshot.new else (),
        changes=_due_changes(snapshot, terms) if snapshot.new else (),
        evidence=evidence,
        named={p.id: p for p in (*snapshot.pins, *snapshot.retired)},
    )
    return rows + tail_rows(snapshot.tail.number, attached, setting, start + len(rows))


def _due_changes(snapshot: Snapshot, terms: Terms) -> list[tuple[str, Block]]:
    """Changes of the state that the epoch does not show yet, as made, while they fit the tier; the rest waits."""
    since = snapshot.epoch.state if snapshot.epoch is not None else 0
    told = (r.ref for r in snapshot.rows if r.kind is RowKind.STATE)
    changes = due(snapshot.state, snapshot.conversation, since, told, (t.number for t in snapshot.turns))
    wording, left, found = snapshot.wording(), terms.profile.state.cap, list[tuple[str, Block]]()
    for change in changes:
        block = change_block(change, wording)
        left -= terms.calibration.tokens(block_features(block, terms.count))
        if left < 0 and found:
            break
        found.append((ref_of(change), block))
    return found


def _due_notices(snapshot: Snapshot) -> list[Pin]:
    """Pins no longer in force that the epoch shows and has not spoken of yet."""
    if snapshot.epoch is None:
        return []
    told = {r.ref for r in snapshot.rows if r.kind is RowKind.NOTICE}
    told |= {p.pin for p in snapshot.epoch.preface if p.part is Part.NOTICE}
    return [p for p in snapshot.retired if p.id not in told and snapshot.shows(p)]
