"""Row operations in one transaction, the same for every store that runs compiled statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from contextmgr.heads import Head
from contextmgr.micros import to_micros
from contextmgr.pins import Pin, PinStatus
from contextmgr.scope import Scope
from contextmgr.store import erasure, rows, summary_rows
from contextmgr.store.base import ConversationRecord, Job, LateResult
from contextmgr.store.description_rows import DescriptionRows
from contextmgr.store.search_rows import SearchRows
from contextmgr.store.state_rows import StateRows
from contextmgr.store.statements import Compiled
from contextmgr.summaries import Segment, SegmentStatus
from contextmgr.tasks import TaskDocument
from contextmgr.turns import Status, ToolResult, Turn
from contextmgr.views import Epoch, RequestRecord, ViewRow

_FOREVER = 1 << 62  # microseconds: later than any time


class Cursor(Protocol):
    """The part of a DB-API cursor that is used."""

    @property
    def rowcount(self) -> int:
        """Rows changed."""
        ...

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows left."""
        ...


class Driver(Protocol):
    """The part of a driver connection that is used."""

    def execute(self, text: str, parameters: Any, /) -> Cursor:
        """Run one statement."""
        ...


class RowTransaction:
    """A `Transaction` over compiled statements, run on the driver's connection."""

    def __init__(self, scope: Scope, driver: Driver, statements: Mapping[str, Compiled]) -> None:
        self._scope = scope
        self._execute = driver.execute
        self._statements = statements
        self._keys: dict[str, str] = {}
        self.search = SearchRows(self.run, self._key, scope)
        self.state = StateRows(self.run, self._key, scope)
        self.descriptions = DescriptionRows(self.run, self.search)

    def run(self, name: str, conversation: str | None = None, values: Mapping[str, Any] | None = None) -> Cursor:
        """Run a named statement; tenant and conversation key always come from the scope."""
        statement = self._statements[name]
        bound = {"tenant": self._scope.tenant, "conv": self._key(conversation), **(values or {})}
        return self._execute(statement.text, statement.bind(bound))

    def _key(self, conversation: str | None) -> str | None:
        if conversation is None:
            return None
        if conversation not in self._keys:
            self._keys[conversation] = rows.conversation_key(self._scope, conversation)
        return self._keys[conversation]

    def _owner(self) -> dict[str, Any]:
        return {"user": self._scope.user, "project": self._scope.project}

    # conversations

    def conversation(self, conversation: str) -> ConversationRecord | None:
        row = self.run("conversation", conversation).fetchone()
        return rows.read_conversation(row) if row else None

    def conversations(self, most: int) -> list[ConversationRecord]:
        values = self._owner() | {"most": most}
        return [rows.read_conversation(r) for r in self.run("conversations", None, values).fetchall()]

    def chats(
        self,
        most: int,
        *,
        before: datetime | None,
        after: datetime | None,
        cursor: tuple[int, str] | None,
        newest: bool,
    ) -> list[ConversationRecord]:
        highest = to_micros(before) if before is not None else _FOREVER
        lowest = to_micros(after) if after is not None else -_FOREVER
        at, name = cursor if cursor is not None else (_FOREVER if newest else -_FOREVER, "")
        values = self._owner() | {"most": most, "lowest": lowest, "highest": highest, "at": at, "after": name}
        found = self.run("chats" if newest else "chats_oldest", None, values).fetchall()
        return [rows.read_conversation(r) for r in found]

    def set_title(self, conversation: str, title: str | None, *, made: bool) -> None:
        self.run("set_title", conversation, {"new_title": title, "new_title_made": int(made)})

    def create_conversation(self, record: ConversationRecord) -> None:
        self.run("insert_conversation", record.id, rows.conversation_row(record) | self._owner())

    def next_turn(self, conversation: str, at: datetime) -> tuple[int, int | None]:
        row = self.run("next_turn", conversation, {"new_updated_at": to_micros(at)}).fetchone()
        if row is None:
            raise LookupError(conversation)
        return row[0], row[1]

    def set_open(self, conversation: str, turn: int | None) -> None:
        self.run("set_open", conversation, {"new_open_turn": turn})

    def raise_version(self, conversation: str) -> None:
        self.run("raise_version", conversation)

    def win_version(self, conversation: str, expect: int) -> bool:
        return self.run("win_version", conversation, {"expect": expect}).rowcount == 1

    # turns

    def add_turn(self, conversation: str, turn: Turn, key: str | None) -> None:
        self.run("insert_turn", conversation, rows.turn_row(turn, key))

    def turn_by_key(self, conversation: str, key: str) -> Turn | None:
        return self._one_turn(conversation, self.run("turn_by_key", conversation, {"idem_key": key}).fetchone())

    def turn(self, conversation: str, number: int) -> Turn | None:
        return self._one_turn(conversation, self.run("turn", conversation, {"n": number}).fetchone())

    def newest_user(self, conversation: str, last: int) -> Turn | None:
        row = self.run("newest_user", conversation, {"last": last}).fetchone()
        return rows.read_turn(row, ()) if row else None

    def has_user(self, conversation: str, last: int) -> bool:
        return self.run("has_user", conversation, {"last": last}).fetchone() is not None

    def turns(self, conversation: str, first: int, last: int) -> list[Turn]:
        found = self.run("turns", conversation, {"first": first, "last": last}).fetchall()
        return self._with_results(conversation, found)

    def turns_before(self, conversation: str, last: int, most: int) -> list[Turn]:
        found = self.run("turns_before", conversation, {"last": last, "most": most}).fetchall()
        return self._with_results(conversation, found[::-1])

    def _one_turn(self, conversation: str, row: Any) -> Turn | None:
        return self._with_results(conversation, [row])[0] if row else None

    def _with_results(self, conversation: str, found: Sequence[Any]) -> list[Turn]:
        if not found:
            return []
        results: dict[int, list[ToolResult]] = defaultdict(list)
        span = {"first": found[0]["n"], "last": found[-1]["n"]}
        for row in self.run("results", conversation, span).fetchall():
            results[row["n"]].append(rows.read_result(row))
        return [rows.read_turn(row, tuple(results[row["n"]])) for row in found]

    def set_status(self, conversation: str, number: int, status: Status) -> None:
        self.run("set_status", conversation, {"n": number, "new_status": status.value})

    def set_withdrawn(self, conversation: str, number: int, reason: str | None) -> None:
        self.run("set_withdrawn", conversation, {"n": number, "new_withdrawn": reason})

    def add_result(self, conversation: str, turn: int, order: int, result: ToolResult) -> None:
        self.run("insert_result", conversation, rows.result_row(turn, order, result))
        if result.late:
            self.search.outdate(conversation, turn)

    def late_results(self, conversation: str, most: int) -> list[LateResult]:
        found = self.run("late_results", conversation, {"most": most}).fetchall()
        return [LateResult(turn=r["n"], order=r["ord"], result=rows.read_result(r)) for r in found]

    def mark_shown(self, conversation: str, turn: int, order: int) -> None:
        self.run("mark_shown", conversation, {"n": turn, "ord": order})

    # pins and tasks

    def add_pin(self, conversation: str | None, pin: Pin) -> None:
        self.run("insert_pin", conversation, rows.pin_row(pin) | self._pin_owner(conversation))

    def pin(self, conversation: str | None, pin_id: str) -> Pin | None:
        row = self.run("pin", None, {"id": pin_id}).fetchone()
        if row is None:
            return None
        owner = self._pin_owner(conversation)
        mine = (self._key(conversation), owner["user"], owner["project"])
        return rows.read_pin(row) if (row["conv"], row["user"], row["project"]) == mine else None

    def _pin_owner(self, conversation: str | None) -> dict[str, Any]:
        """A project pin belongs to the operator of the project, whoever its users are."""
        return {"user": self._scope.user if conversation is not None else None, "project": self._scope.project}

    def pins(self, conversation: str) -> list[Pin]:
        return [rows.read_pin(r) for r in self.run("conversation_pins", conversation).fetchall()]

    def live_pins(self, conversation: str, first: int) -> list[Pin]:
        return [rows.read_pin(r) for r in self.run("live_pins", conversation, {"first": first}).fetchall()]

    def project_pins(self) -> list[Pin]:
        if self._scope.project is None:
            return []
        found = self.run("project_pins", None, {"project": self._scope.project}).fetchall()
        return [rows.read_pin(r) for r in found]

    def end_pin(self, pin_id: str, status: PinStatus, replaced_by: str | None, reason: str | None) -> None:
        values = {"id": pin_id, "new_status": status.value, "new_replaced_by": replaced_by, "new_reason": reason}
        self.run("end_pin", None, values)

    def tasks(self, conversation: str) -> list[TaskDocument]:
        return [rows.read_task(r) for r in self.run("tasks", conversation).fetchall()]

    def set_task(self, conversation: str, document: TaskDocument, at: datetime) -> None:
        self.run("delete_task", conversation, {"name": document.name})
        self.run("insert_task", conversation, rows.task_row(document, at))

    def drop_task(self, conversation: str, name: str) -> bool:
        return self.run("delete_task", conversation, {"name": name}).rowcount > 0

    # epochs and requests

    def last_epoch(self, conversation: str) -> Epoch | None:
        return self._epoch(self.run("last_epoch", conversation).fetchone())

    def epoch(self, conversation: str, number: int) -> Epoch | None:
        return self._epoch(self.run("epoch", conversation, {"no": number}).fetchone())

    def _epoch(self, row: Any) -> Epoch | None:
        if row is None:
            return None
        head = self.run("head", None, {"sha256": row["head_sha"]}).fetchone()
        return rows.read_epoch(row, Head.from_text(head["body"]))

    def add_epoch(self, conversation: str, epoch: Epoch) -> None:
        row, body = rows.epoch_row(epoch), epoch.head.to_text()
        if self.run("head", None, {"sha256": row["head_sha"]}).fetchone() is None:
            self.run("insert_head", None, {"sha256": row["head_sha"], "body": body})
        self.run("insert_epoch", conversation, row)

    def break_epoch(self, conversation: str, number: int, reason: str) -> None:
        self.run("break_epoch", conversation, {"no": number, "new_broken": reason})

    def rows(self, conversation: str, epoch: int) -> list[ViewRow]:
        return [rows.read_view(r) for r in self.run("rows", conversation, {"epoch": epoch}).fetchall()]

    def add_rows(self, conversation: str, epoch: int, new: Sequence[ViewRow]) -> None:
        for row in new:
            self.run("insert_row", conversation, rows.view_row(epoch, row))

    def last_request(self, conversation: str) -> RequestRecord | None:
        return _request(self.run("last_request", conversation).fetchone())

    def request(self, conversation: str, number: int) -> RequestRecord | None:
        return _request(self.run("request", conversation, {"seq": number}).fetchone())

    def add_request(self, conversation: str, request: RequestRecord) -> None:
        self.run("insert_request", conversation, rows.request_row(request))

    def set_true_input(self, conversation: str, number: int, tokens: int) -> None:
        self.run("set_true_input", conversation, {"seq": number, "new_true_input": tokens})

    def calibration(self, conversation: str, model: str) -> str | None:
        row = self.run("calibration", conversation, {"model": model}).fetchone()
        return str(row["body"]) if row else None

    def set_calibration(self, conversation: str, model: str, body: str) -> None:
        self.run("delete_calibration", conversation, {"model": model})
        self.run("insert_calibration", conversation, {"model": model, "body": body})

    # summaries and the outbox

    def segments(self, conversation: str, *, every: bool = False) -> list[Segment]:
        found = self.run("summaries" if every else "live_summaries", conversation).fetchall()
        return [summary_rows.read_summary(r) for r in found]

    def segment(self, conversation: str, segment_id: str) -> Segment | None:
        row = self.run("summary", conversation, {"id": segment_id}).fetchone()
        return summary_rows.read_summary(row) if row else None

    def add_segment(self, conversation: str, segment: Segment) -> None:
        self.run("insert_summary", conversation, summary_rows.summary_row(segment))

    def set_segment(self, conversation: str, segment_id: str, status: SegmentStatus, into: str | None) -> None:
        self.run("set_summary", conversation, {"id": segment_id, "new_status": status.value, "new_into": into})

    def jobs(self, conversation: str) -> list[Job]:
        return [summary_rows.read_job(r) for r in self.run("jobs", conversation).fetchall()]

    def add_job(self, conversation: str, job: Job) -> None:
        self.run("insert_job", conversation, summary_rows.job_row(job))

    def lease_job(self, conversation: str, job: Job, now: int, until: int) -> bool:
        values = {"kind": job.kind, "first": job.first, "now": now, "new_leased_until": until}
        return self.run("lease_job", conversation, values).rowcount == 1

    def fail_job(self, conversation: str, job: Job) -> None:
        changed = {"new_not_before": job.not_before, "new_error": job.error, "new_attempts": job.attempts}
        self.run("fail_job", conversation, {"kind": job.kind, "first": job.first, **changed})

    def drop_job(self, conversation: str, job: Job) -> bool:
        return self.run("delete_job", conversation, {"kind": job.kind, "first": job.first}).rowcount == 1

    # erasing

    def erase_turn(self, conversation: str, number: int) -> None:
        self.search.drop(conversation, number)
        self.descriptions.forget(conversation, number)
        erasure.erase_turn(self.run, conversation, number)

    def erase_conversation(self, conversation: str) -> None:
        self.search.drop_all(conversation)
        erasure.erase_conversation(self.run, conversation)


def _request(row: Any) -> RequestRecord | None:
    return rows.read_request(row) if row else None
