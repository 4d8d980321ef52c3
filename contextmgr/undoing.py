"""Taking back what a conversation shows: withdrawn turns, summaries undone, turns erased; open epochs end with it."""

from __future__ import annotations

from dataclasses import replace

from contextmgr.errors import ConflictError, NotFoundError
from contextmgr.pinning import find_turn
from contextmgr.store import Transaction
from contextmgr.summaries import Segment, SegmentStatus, outdated
from contextmgr.turns import Status, Turn


def break_epoch(tx: Transaction, conversation: str, reason: str) -> None:
    """Let the next request begin an epoch."""
    last = tx.last_request(conversation)
    if last is not None:
        tx.break_epoch(conversation, last.epoch, reason)
    tx.raise_version(conversation)


def set_withdrawn(tx: Transaction, conversation: str, number: int, reason: str | None) -> Turn:
    """Withdraw a turn with a reason, or restore it with None.  Raises `NotFoundError`."""
    turn = find_turn(tx, conversation, number)
    if turn.status is Status.ERASED:
        raise NotFoundError(f"turn {number} was erased; there is nothing to withdraw or restore")
    tx.set_withdrawn(conversation, number, reason)
    if reason:
        _outdate(tx, conversation, number)
    if turn.is_open:
        tx.set_status(conversation, number, Status.INTERRUPTED)
        tx.set_open(conversation, None)
    break_epoch(tx, conversation, "withdrawn" if reason else "restored")
    return find_turn(tx, conversation, number)


def undo(tx: Transaction, conversation: str, compaction: str) -> Segment:
    """Take a summary segment back.  Raises `NotFoundError` or `ConflictError`."""
    segment = tx.segment(conversation, compaction)
    if segment is None:
        raise NotFoundError(f"there is no compaction {compaction!r} in conversation {conversation!r}")
    if segment.status not in (SegmentStatus.READY, SegmentStatus.ACTIVE):
        raise ConflictError(f"compaction {compaction!r} is {segment.status}; undo() the one in force")
    tx.set_segment(conversation, compaction, SegmentStatus.UNDONE, None)
    break_epoch(tx, conversation, "undone")
    return replace(segment, status=SegmentStatus.UNDONE)


def erase_turn(tx: Transaction, conversation: str, number: int) -> None:
    """Erase a turn and every copy of it.  Raises `NotFoundError`."""
    turn = find_turn(tx, conversation, number)
    if turn.is_open:
        tx.set_open(conversation, None)
    tx.erase_turn(conversation, number)
    tx.raise_version(conversation)


def _outdate(tx: Transaction, conversation: str, number: int) -> None:
    """Take summaries that read a turn out of requests; parts of theirs that did not read it stand again."""
    gone, again = outdated(tx.segments(conversation, every=True), number)
    for segment in gone:
        if segment.status is not SegmentStatus.UNDONE:
            tx.set_segment(conversation, segment.id, SegmentStatus.STALE, None)
    for segment in again:
        tx.set_segment(conversation, segment.id, SegmentStatus.ACTIVE, None)
