"""How far a conversation was read for facts, and what waits to be read: one row of the outbox says both.

The row begins at the first turn that was not read.  Where nothing waits it is a bookmark: it ends before it begins and
is never due.  It moves in the transaction that stores what was found, so killing the process reads nothing twice.
"""

from __future__ import annotations

from dataclasses import replace

from contextmgr.store import MAX_ATTEMPTS, ConversationRecord, Job, Transaction

KIND = "extract"
_NEVER = (1 << 62) - 1  # microseconds: no clock gets there


def is_bookmark(job: Job) -> bool:
    """Whether a job of the outbox only marks how far was read: it is no work, and not pending."""
    return job.kind == KIND and job.last < job.first


def row_of(tx: Transaction, conversation: str) -> Job | None:
    """The row, or None where nothing was read or asked for yet."""
    return next((j for j in tx.jobs(conversation) if j.kind == KIND), None)


def ask_for(tx: Transaction, record: ConversationRecord) -> int:
    """Let every turn that is closed and was not read be read; returns their number.

    What failed for good may be tried again.
    """
    row = row_of(tx, record.id)
    last = record.last_turn if record.open_turn is None else record.open_turn - 1
    if row is None:
        if last > 0:
            tx.add_job(record.id, Job(kind=KIND, first=1, last=last))
        return last
    last = max(last, row.last)
    if last < row.first:
        return 0
    is_new = is_bookmark(row) or row.error is not None or row.attempts >= MAX_ATTEMPTS
    if last > row.last or is_new:
        again = Job(kind=KIND, first=row.first, last=last) if is_new else row
        tx.drop_job(record.id, row)
        tx.add_job(record.id, replace(again, last=last))
    return last - row.first + 1


def move(tx: Transaction, conversation: str, row: Job, first: int) -> None:
    """Let the row begin at ``first``: what is before it was read."""
    tx.drop_job(conversation, row)
    waits = row.last >= first
    tx.add_job(
        conversation,
        Job(kind=KIND, first=first, last=row.last if waits else first - 1, not_before=0 if waits else _NEVER),
    )


def stop(tx: Transaction, conversation: str, row: Job) -> None:
    """Let nothing wait any more, without having read it."""
    move(tx, conversation, replace(row, last=row.first - 1), row.first)
