"""One consistent reading of what the next request depends on.

Law: the rows read depend on the window and the pins, never on how long the history is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from zoneinfo import ZoneInfo

from contextmgr.attachments import LateNote
from contextmgr.epochs import Snapshot
from contextmgr.errors import NothingToAnswerError
from contextmgr.pins import Pin
from contextmgr.profiles import Profile
from contextmgr.recording import no_conversation
from contextmgr.state import State
from contextmgr.store import ConversationRecord, Transaction
from contextmgr.summaries import SegmentStatus, joined
from contextmgr.turns import Status, Turn
from contextmgr.views import Epoch, RequestRecord, ViewRow

BATCH = 64  # turns read at a time where there is no window yet
WINDOW_TURNS = 1_024  # turns: the widest first window
BACKLOG = 512  # turns: a window with more unsent turns than this is read anew
FACTS = 256  # facts said in the conversation that are read, the newest
LATE_AT_ONCE = 8  # late results shown in one request


def read_snapshot(tx: Transaction, conversation: str, profile: Profile) -> Snapshot:
    """Read the state of a conversation.  Raises `NotFoundError` or `NothingToAnswerError`."""
    record = tx.conversation(conversation)
    if record is None:
        raise no_conversation(conversation)
    last = tx.last_request(conversation)
    epoch = tx.epoch(conversation, last.epoch) if last is not None else None
    rows = tuple(tx.rows(conversation, epoch.number)) if epoch is not None else ()
    stored = _window(tx, conversation, record, profile, last, epoch)
    turns = tuple(t for t in stored if is_visible(t))
    if not turns:
        raise NothingToAnswerError(f"conversation {conversation!r} has nothing to answer; add_user() first")
    live = tx.segments(conversation)
    undone = tuple(s for s in live if s.status is SegmentStatus.UNDONE)
    ranges = joined([*(epoch.kept if epoch is not None else ()), *(r for s in undone for r in s.ranges)])
    kept = _before(tx, conversation, ranges, turns[0].number)
    inside = (t.number for t in turns[:-1] if any(a <= t.number <= b for a, b in ranges))
    pins = _pins(tx, conversation, (*kept, *turns)[0].number, epoch, rows)
    active = tuple(p for p in pins if p.is_active)
    return Snapshot(
        version=record.version,
        turns=(*kept, *turns),
        kept=frozenset([*(t.number for t in kept), *inside]),
        segments=tuple(s for s in live if s.status is not SegmentStatus.UNDONE),
        undone=undone,
        hidden=frozenset(t.number for t in stored if not is_visible(t)),
        last=last,
        epoch=epoch,
        rows=rows,
        in_hand=_in_hand(tx, conversation, turns),
        pins=active,
        retired=tuple(p for p in pins if not p.is_active and p.sha256),
        contexts=_contexts(tx, conversation, active),
        tasks=tuple(tx.tasks(conversation)),
        late=_late(tx, conversation),
        state=_state(tx, conversation),
        conversation=conversation,
        zone=ZoneInfo(record.zone),
    )


def is_visible(turn: Turn) -> bool:
    """Whether a turn may stand in requests."""
    return turn.withdrawn is None and turn.status is not Status.ERASED


def _window(
    tx: Transaction,
    conversation: str,
    record: ConversationRecord,
    profile: Profile,
    last: RequestRecord | None,
    epoch: Epoch | None,
) -> list[Turn]:
    """The turns of the open epoch; without one, or behind a long backlog, the newest that could fit."""
    if epoch is not None and last is not None and record.last_turn - last.tail <= BACKLOG:
        turns = tx.turns(conversation, epoch.first, record.last_turn)
        if any(map(is_visible, turns)):
            return turns
    turns, weight, at = [], 0, record.last_turn
    while at > 0 and weight <= profile.budget and len(turns) < WINDOW_TURNS:
        batch = tx.turns_before(conversation, at, BATCH)
        turns = batch + turns
        weight += sum(sum(t.features) for t in batch)
        at = batch[0].number - 1 if batch else 0
    return turns


def _before(tx: Transaction, conversation: str, ranges: Iterable[tuple[int, int]], first: int) -> tuple[Turn, ...]:
    """Visible turns of ``ranges`` that stand before the window, which begins at turn ``first``."""
    found = [t for a, b in ranges if a < first for t in tx.turns(conversation, a, min(b, first - 1))]
    return tuple(t for t in found if is_visible(t))


def _in_hand(tx: Transaction, conversation: str, turns: Sequence[Turn]) -> Turn | None:
    shown = next((t for t in reversed(turns) if t.role == "user"), None)
    return shown if shown is not None else tx.newest_user(conversation, turns[0].number - 1)


def _pins(tx: Transaction, conversation: str, first: int, epoch: Epoch | None, rows: Sequence[ViewRow]) -> list[Pin]:
    """Active pins in the order they were said, project pins first, and retired ones that the view still shows."""
    pins = {p.id: p for p in (*tx.project_pins(), *tx.live_pins(conversation, first))}
    shown = {p.pin for p in epoch.preface if p.pin} if epoch is not None else set()
    for ref in sorted((shown | {r.ref for r in rows if r.ref}) - set(pins)):
        pin = tx.pin(conversation, ref)
        if pin is not None:
            pins[pin.id] = pin
    return sorted(pins.values(), key=lambda p: (p.turn is not None, p.turn or 0, p.block or 0, p.start or 0, p.order))


def _contexts(tx: Transaction, conversation: str, pins: Sequence[Pin]) -> dict[int, Turn]:
    numbers = sorted({p.context for p in pins if p.context is not None})
    found = {n: tx.turn(conversation, n) for n in numbers}
    return {n: t for n, t in found.items() if t is not None and is_visible(t)}


def _state(tx: Transaction, conversation: str) -> State:
    """Facts said here or recalled from elsewhere, each once, and the scratchpad."""
    change, has_recalled = tx.state.size(conversation)
    said = tx.state.said(conversation, FACTS) if change else []
    recalled = tx.state.recalled(conversation) if has_recalled else []
    facts = {f.id: f for f in (*said, *recalled)}
    notes = tx.state.notes(conversation) if change else []
    return State(facts=tuple(facts.values()), notes=tuple(notes), change=change)


def _late(tx: Transaction, conversation: str) -> tuple[LateNote, ...]:
    notes = []
    for late in tx.late_results(conversation, LATE_AT_ONCE):
        turn = tx.turn(conversation, late.turn)
        if turn is not None and is_visible(turn):
            notes.append(LateNote(turn=turn, order=late.order, result=late.result))
    return tuple(notes)
