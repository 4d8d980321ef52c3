"""What a store offers: transactions in one scope, and row operations inside them.

Law: the scope is the first argument of every way in, and rows of another scope cannot be named.  The rules of
history live above, in ``recording`` and ``assembly``; a store only keeps what it is given, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contextmgr.pins import Pin, PinStatus
from contextmgr.scope import Scope, Visibility
from contextmgr.store.description_base import DescriptionTables
from contextmgr.store.search_base import SearchTables
from contextmgr.store.state_base import StateTables
from contextmgr.summaries import Segment, SegmentStatus
from contextmgr.tasks import TaskDocument
from contextmgr.turns import Status, ToolResult, Turn
from contextmgr.views import Epoch, RequestRecord, ViewRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRecord:
    """One conversation's own row.  ``open_turn`` is the turn waiting for results; ``version`` guards commits;
    ``title_made`` says that the title was made from what was said, and so goes when a turn is erased.
    """

    id: str
    title: str | None = None
    zone: str = "UTC"
    visibility: Visibility = Visibility.NORMAL
    last_turn: int = 0
    open_turn: int | None = None
    version: int = 0
    created_at: datetime
    updated_at: datetime
    title_made: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LateResult:
    """A result that came after its turn had gone on: turn number, position among the turn's results, the result."""

    turn: int
    order: int
    result: ToolResult


MAX_ATTEMPTS = 3
"""How often a job is tried; after that it stays in the outbox as failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work in the outbox: summarise turns ``first..last``.  Times are microseconds since 1970, UTC.

    ``attempts`` counts those begun, `MAX_ATTEMPTS` at most; ``error`` says why the last one failed.
    """

    kind: str
    first: int
    last: int
    attempts: int = 0
    not_before: int = 0
    leased_until: int = 0
    error: str | None = None

    def has_failed(self, now: int) -> bool:
        """Whether nobody works on it and it will not be tried again, at a time in microseconds since 1970, UTC."""
        return self.attempts >= MAX_ATTEMPTS and self.leased_until <= now

    def is_due(self, now: int) -> bool:
        """Whether it may be begun, at a time in microseconds since 1970, UTC."""
        return self.attempts < MAX_ATTEMPTS and self.not_before <= now and self.leased_until <= now


class Transaction(Protocol):
    """Row operations in one scope.  Every ``conversation`` argument is an id within that scope."""

    def conversation(self, conversation: str) -> ConversationRecord | None:
        """The conversation's row, or None."""
        ...

    def conversations(self, most: int) -> list[ConversationRecord]:
        """The scope's conversations, last used first."""
        ...

    def chats(
        self,
        most: int,
        *,
        before: datetime | None,
        after: datetime | None,
        cursor: tuple[int, str] | None,
        newest: bool,
    ) -> list[ConversationRecord]:
        """Visible conversations with turns, last used before a time and not before another, in the order of that use.

        ``cursor`` is the last use (microseconds since 1970, UTC) and id of the one to go on after.
        """
        ...

    def set_title(self, conversation: str, title: str | None, *, made: bool) -> None:
        """Set the title; ``made`` says that it was made from what was said."""
        ...

    def create_conversation(self, record: ConversationRecord) -> None:
        """Begin a conversation."""
        ...

    def next_turn(self, conversation: str, at: datetime) -> tuple[int, int | None]:
        """The next turn number, taken, and the turn that is still open, if any.  LookupError: no such row."""
        ...

    def set_open(self, conversation: str, turn: int | None) -> None:
        """Note which turn waits for results; None for none."""
        ...

    def raise_version(self, conversation: str) -> None:
        """Make every commit decided on an older state fail."""
        ...

    def win_version(self, conversation: str, expect: int) -> bool:
        """Raise the version if it is still ``expect``; False means another writer was first."""
        ...

    def add_turn(self, conversation: str, turn: Turn, key: str | None) -> None:
        """Store a turn under its number, and its idempotency key."""
        ...

    def turn_by_key(self, conversation: str, key: str) -> Turn | None:
        """The turn stored under an idempotency key, or None."""
        ...

    def turn(self, conversation: str, number: int) -> Turn | None:
        """One turn with its results, or None."""
        ...

    def turns(self, conversation: str, first: int, last: int) -> list[Turn]:
        """Turns ``first`` to ``last``, both included, in order."""
        ...

    def turns_before(self, conversation: str, last: int, most: int) -> list[Turn]:
        """The newest ``most`` turns up to ``last``, in ascending order."""
        ...

    def newest_user(self, conversation: str, last: int) -> Turn | None:
        """The newest user turn up to ``last`` that is neither withdrawn nor erased, without results, or None."""
        ...

    def has_user(self, conversation: str, last: int) -> bool:
        """Whether `newest_user` would find one."""
        ...

    def set_status(self, conversation: str, number: int, status: Status) -> None:
        """Change a turn's status."""
        ...

    def set_withdrawn(self, conversation: str, number: int, reason: str | None) -> None:
        """Withdraw a turn with a reason, or restore it with None."""
        ...

    def add_result(self, conversation: str, turn: int, order: int, result: ToolResult) -> None:
        """Store a result as number ``order`` of its turn."""
        ...

    def late_results(self, conversation: str, most: int) -> list[LateResult]:
        """Late results that no request has shown yet."""
        ...

    def mark_shown(self, conversation: str, turn: int, order: int) -> None:
        """Note that a late result has been shown."""
        ...

    def add_pin(self, conversation: str | None, pin: Pin) -> None:
        """Store a pin of a conversation, or of the scope's project with None."""
        ...

    def pin(self, conversation: str | None, pin_id: str) -> Pin | None:
        """A pin of the conversation, or of the project with None; None where there is none."""
        ...

    def pins(self, conversation: str) -> list[Pin]:
        """Every pin of a conversation, in the order they were made."""
        ...

    def live_pins(self, conversation: str, first: int) -> list[Pin]:
        """Active pins, and those of any status said from turn ``first`` on."""
        ...

    def project_pins(self) -> list[Pin]:
        """Every pin of the scope's project, in the order they were made."""
        ...

    def end_pin(self, pin_id: str, status: PinStatus, replaced_by: str | None, reason: str | None) -> None:
        """Mark a pin as replaced or revoked."""
        ...

    def tasks(self, conversation: str) -> list[TaskDocument]:
        """The task documents, by name."""
        ...

    def set_task(self, conversation: str, document: TaskDocument, at: datetime) -> None:
        """Set a task document, or change it."""
        ...

    def drop_task(self, conversation: str, name: str) -> bool:
        """Take a task document away; False where there was none."""
        ...

    def last_epoch(self, conversation: str) -> Epoch | None:
        """The newest epoch, or None."""
        ...

    def epoch(self, conversation: str, number: int) -> Epoch | None:
        """One epoch with its head, or None."""
        ...

    def add_epoch(self, conversation: str, epoch: Epoch) -> None:
        """Store an epoch; its head is stored once per tenant."""
        ...

    def break_epoch(self, conversation: str, number: int, reason: str) -> None:
        """Note what ended an epoch; the first reason stays."""
        ...

    def rows(self, conversation: str, epoch: int) -> list[ViewRow]:
        """The rows of an epoch, in order."""
        ...

    def add_rows(self, conversation: str, epoch: int, rows: Sequence[ViewRow]) -> None:
        """Add rows to an epoch."""
        ...

    def last_request(self, conversation: str) -> RequestRecord | None:
        """The newest request, or None."""
        ...

    def request(self, conversation: str, number: int) -> RequestRecord | None:
        """One request, or None."""
        ...

    def add_request(self, conversation: str, request: RequestRecord) -> None:
        """Store an issued request."""
        ...

    def set_true_input(self, conversation: str, number: int, tokens: int) -> None:
        """Note what the API counted for a request, in tokens."""
        ...

    def calibration(self, conversation: str, model: str) -> str | None:
        """What was learned about a model in this conversation, or None."""
        ...

    def set_calibration(self, conversation: str, model: str, body: str) -> None:
        """Keep what was learned."""
        ...

    def segments(self, conversation: str, *, every: bool = False) -> list[Segment]:
        """Ready and active segments, and those undone that no epoch has heard of, by first turn; ``every`` gives all of
        any status, as they were made.
        """
        ...

    def segment(self, conversation: str, segment_id: str) -> Segment | None:
        """One segment, or None."""
        ...

    def add_segment(self, conversation: str, segment: Segment) -> None:
        """Store a segment."""
        ...

    def set_segment(self, conversation: str, segment_id: str, status: SegmentStatus, into: str | None) -> None:
        """Change a segment's status; ``into`` names the segment it was merged into."""
        ...

    def jobs(self, conversation: str) -> list[Job]:
        """Work that is left, failed work included."""
        ...

    def add_job(self, conversation: str, job: Job) -> None:
        """Put work into the outbox."""
        ...

    def lease_job(self, conversation: str, job: Job, now: int, until: int) -> bool:
        """Take a job, counting the attempt; False where another worker holds it or it is gone."""
        ...

    def fail_job(self, conversation: str, job: Job) -> None:
        """Give a job back with its error, attempts and earliest next time."""
        ...

    def drop_job(self, conversation: str, job: Job) -> bool:
        """Take a job out of the outbox; False where it is gone already."""
        ...

    @property
    def search(self) -> SearchTables:
        """The search index of the scope's conversations."""
        ...

    @property
    def descriptions(self) -> DescriptionTables:
        """Descriptions of episodes."""
        ...

    @property
    def state(self) -> StateTables:
        """Facts, notes, recall and audit of the scope."""
        ...

    def erase_turn(self, conversation: str, number: int) -> None:
        """Erase a turn and every copy of it; its number stays."""
        ...

    def erase_conversation(self, conversation: str) -> None:
        """Erase everything the conversation owns."""
        ...


class Store(Protocol):
    """Where turns live.  A transaction sees one state; a writing one is all or nothing."""

    def reading(self, scope: Scope) -> AbstractContextManager[Transaction]:
        """A read transaction: one state from its first read on."""
        ...

    def writing(self, scope: Scope) -> AbstractContextManager[Transaction]:
        """A write transaction: all or nothing, holding the write lock from its start."""
        ...

    def scrub(self) -> None:
        """Make erased bytes unreadable in every file of the store."""
        ...

    def close(self) -> None:
        """Close the store.  Closing twice is fine."""
        ...
