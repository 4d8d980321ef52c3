"""Writing history: one turn, one transaction, stored before the call returns.

Laws: numbers come from the store, in append order; a call and its result are one turn; a refused call changes
nothing; the same thing said again under the same key is one turn.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from contextmgr import jsontext
from contextmgr.errors import (
    IdempotencyError,
    NotFoundError,
    OpenTurnError,
    ResultConflictError,
    StaleReplyError,
    TurnError,
)
from contextmgr.features import Features
from contextmgr.scope import Scope
from contextmgr.store import Store, Transaction
from contextmgr.tokens import Calibration, Count, blocks_features
from contextmgr.turns import Author, Block, Role, Status, ToolResult, Turn, Usage, is_thinking, pair
from contextmgr.views import RequestRecord

_LOG = logging.getLogger(__name__)
LATE_REACH = 500  # turns: how far back a late result may find its call
_PLAUSIBLE = (0.3, 3.0)  # a reported input outside these ratios to the estimate is no measurement of this request


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An assistant message to be stored."""

    blocks: tuple[Block, ...]
    stop_reason: str | None = None
    model: str | None = None
    usage: Usage | None = None


class _Said(NamedTuple):
    """Blocks that are to become a turn, and what is reckoned from them."""

    blocks: tuple[Block, ...]
    sendable: bool
    sha256: str
    features: Features


@dataclass(frozen=True, slots=True)
class Recorder:
    """Writes the history of one scope."""

    store: Store
    scope: Scope
    count: Count
    family: Callable[[str], str]

    def user(
        self,
        conversation: str,
        blocks: Sequence[Block],
        *,
        results: Sequence[Block] = (),
        author: Author = "user",
        key: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        at: datetime,
        then: Callable[[Transaction, Turn], None] | None = None,
    ) -> Turn:
        """Store a user turn, after ``results`` of the open turn if it carries any.

        A turn that is still open is marked interrupted: the user has gone on.  ``then`` runs in the same
        transaction.  Raises `IdempotencyError` where ``key`` was used for other content.
        """
        said, weighed = self._weigh(blocks, blocks), self._weigh_results(results, at)
        with self.store.writing(self.scope) as tx:
            known = _known(tx, conversation, key, (said.sha256, "user", author))
            if known is not None:
                if weighed:
                    self._add_results(tx, conversation, weighed)  # the same again, or a conflict
                return known
            if weighed:
                self._add_results(tx, conversation, weighed)
            number, open_turn = _next(tx, conversation, at)
            if open_turn is not None:
                _interrupt(tx, conversation, open_turn)
            turn = Turn(
                number=number,
                role="user",
                author=author,
                blocks=said.blocks,
                said_at=at,
                metadata=dict(metadata or {}),
                sendable=said.sendable,
                sha256=said.sha256,
                features=said.features,
            )
            tx.add_turn(conversation, turn, key)
            if then is not None:
                then(tx, turn)
        return turn

    def reply(
        self, conversation: str, reply: Reply, *, request: int | None = None, key: str | None = None, at: datetime
    ) -> Turn:
        """Store an assistant turn; it is open while its calls wait for results.

        Raises `OpenTurnError` while the turn before it waits for results, `StaleReplyError` where the conversation
        has gone on since ``request``.
        """
        own = [b for b in reply.blocks if not is_thinking(b)]
        thinking = [b for b in reply.blocks if is_thinking(b)]
        said, thought = self._weigh(reply.blocks, own), blocks_features(thinking, self.count)
        with _rolled_back() as outcome, self.store.writing(self.scope) as tx:
            known = _known(tx, conversation, key, (said.sha256, "assistant", "model"))
            if known is not None:
                return known
            number, open_turn = _next(tx, conversation, at)
            record, given = _answered(tx, conversation, request, number, said.sha256)
            if given is not None:
                raise _Known(given)
            if open_turn is not None:
                raise _still_open(tx, conversation, open_turn)
            turn = Turn(
                number=number,
                role="assistant",
                author="model",
                blocks=said.blocks,
                status=Status.OPEN if any(b["type"] == "tool_use" for b in said.blocks) else Status.CLOSED,
                stop_reason=reply.stop_reason,
                model=reply.model,
                usage=reply.usage,
                request=record.number if record else None,
                said_at=at,
                sendable=said.sendable,
                sha256=said.sha256,
                features=said.features,
                thinking_features=thought,
            )
            tx.add_turn(conversation, turn, key)
            if turn.is_open:
                tx.set_open(conversation, number)
            if record is not None and reply.usage is not None:
                self._measure(tx, conversation, record, reply.usage.true_input)
            outcome.append(turn)
        return outcome[0]

    def results(self, conversation: str, blocks: Sequence[Block], *, at: datetime) -> Turn:
        """Store results of tool calls and return the turn they belong to.

        A result for a turn that has gone on is stored as late.  The same result again changes nothing; another one
        for the same call raises `ResultConflictError`, an id that no call has raises `TurnError`.
        """
        weighed = self._weigh_results(blocks, at)
        with self.store.writing(self.scope) as tx:
            return self._add_results(tx, conversation, weighed)

    def interrupt(self, conversation: str) -> Turn | None:
        """Mark the open turn as interrupted and return it; None where no turn is open."""
        with self.store.writing(self.scope) as tx:
            record = tx.conversation(conversation)
            if record is None:
                raise no_conversation(conversation)
            if record.open_turn is None:
                return None
            _interrupt(tx, conversation, record.open_turn)
            return tx.turn(conversation, record.open_turn)

    def _weigh(self, blocks: Sequence[Block], weighed: Sequence[Block]) -> _Said:
        """What takes time is done before the write lock is asked for."""
        body = jsontext.dumps(list(blocks))
        if "\\ud" in body:
            blocks = jsontext.loads(body)  # as it will be read back: two halves of a pair are one character
        return _Said(
            blocks=tuple(blocks),
            sendable=jsontext.is_sendable_value(body),
            sha256=jsontext.sha256(body),
            features=blocks_features(weighed, self.count),
        )

    def _weigh_results(self, blocks: Sequence[Block], at: datetime) -> list[ToolResult]:
        weighed = []
        for block in blocks:
            body = jsontext.dumps(block)
            weighed.append(
                ToolResult(
                    call=0,
                    body=jsontext.loads(body) if "\\ud" in body else dict(block),
                    sendable=jsontext.is_sendable_value(body),
                    sha256=jsontext.sha256(body),
                    features=blocks_features((block,), self.count),
                    said_at=at,
                )
            )
        return weighed

    def _add_results(self, tx: Transaction, conversation: str, weighed: Sequence[ToolResult]) -> Turn:
        record = tx.conversation(conversation)
        if record is None:
            raise no_conversation(conversation)
        turn = tx.turn(conversation, record.open_turn) if record.open_turn is not None else None
        latest: Turn | None = turn
        for result in weighed:
            call_id = str(result.body["tool_use_id"])
            if turn is not None and any(c.get("id") == call_id for c in turn.calls):
                turn = latest = _place_result(tx, conversation, turn, result, call_id, late=False)
            else:
                latest = _late(tx, conversation, record.last_turn, result, call_id, turn)
        if turn is not None and not turn.missing:
            tx.set_status(conversation, turn.number, Status.CLOSED)
            tx.set_open(conversation, None)
            turn = replace(turn, status=Status.CLOSED)
        if latest is None:
            raise TurnError("add_tool_results() was given no results; give at least one tool_result block")
        return turn if turn is not None else latest

    def _measure(self, tx: Transaction, conversation: str, record: RequestRecord, true_input: int) -> None:
        """Keep what the API counted, and learn from it, unless it cannot be a count of this request."""
        low, high = _PLAUSIBLE
        if not low * record.tokens <= true_input <= high * record.tokens:
            _LOG.info(
                "request %d: reported input %d ignored beside estimate %d", record.number, true_input, record.tokens
            )
            return
        tx.set_true_input(conversation, record.number, true_input)
        epoch = tx.epoch(conversation, record.epoch)
        if epoch is None:
            return
        model = epoch.head.model
        text = tx.calibration(conversation, model)
        calibration = Calibration.from_text(text) if text else Calibration.prior(self.family(model))
        anchor = record.anchor
        added, true_added = Features(), 0
        if anchor is not None:
            added, true_added = record.features.minus(anchor.features), true_input - anchor.true_input
        learned = calibration.learn(added, true_added, record.features, true_input)
        tx.set_calibration(conversation, model, learned.to_text())


def no_conversation(conversation: str) -> NotFoundError:
    """The error for an id that this scope does not hold: the same whether it is foreign or unknown."""
    return NotFoundError(
        f"there is no conversation {conversation!r} in this scope; open it with manager.conversation()"
    )


def new_id(prefix: str) -> str:
    """A random id."""
    return f"{prefix}_{uuid.uuid4().hex[:16]}"


def _next(tx: Transaction, conversation: str, at: datetime) -> tuple[int, int | None]:
    try:
        return tx.next_turn(conversation, at)
    except LookupError as error:
        raise no_conversation(conversation) from error


def _known(tx: Transaction, conversation: str, key: str | None, said: tuple[str, Role, Author]) -> Turn | None:
    """The turn stored under a key, if it is what is ``said``: digest, role and author.

    Raises `IdempotencyError` where it is another.
    """
    if key is None:
        return None
    known = tx.turn_by_key(conversation, key)
    if known is not None and (known.sha256, known.role, known.author) != said:
        raise IdempotencyError(
            f"key {key!r} was used for turn {known.number} with other content; use a new key for a new turn"
        )
    return known


def _interrupt(tx: Transaction, conversation: str, number: int) -> None:
    tx.set_status(conversation, number, Status.INTERRUPTED)
    tx.set_open(conversation, None)


def _still_open(tx: Transaction, conversation: str, number: int) -> OpenTurnError:
    turn = tx.turn(conversation, number)
    return open_turn_error(turn) if turn is not None else OpenTurnError(f"turn {number} is still open")


def open_turn_error(turn: Turn) -> OpenTurnError:
    """Names the calls that wait and the ways out."""
    ids = ", ".join(turn.missing_ids)
    return OpenTurnError(
        f"turn {turn.number} waits for the results of {ids}; give them to add_tool_results(), "
        "or call interrupt() if they will not come",
        turn.missing_ids,
    )


def _answered(
    tx: Transaction, conversation: str, request: int | None, number: int, sha256: str
) -> tuple[RequestRecord | None, Turn | None]:
    """The request that turn ``number`` answers, and the turn that holds this very answer already, if any.

    Without ``request`` it is the last one, where nothing has been said since.  Raises `StaleReplyError` where the
    conversation has gone on, unless replies are being recorded that no request was made for.
    """
    record = tx.last_request(conversation) if request is None else tx.request(conversation, request)
    if record is None:
        if request is None:
            return None, None
        raise NotFoundError(f"there is no request {request} in this conversation; leave request= out")
    between = tx.turns(conversation, record.tail + 1, min(number - 1, record.tail + LATE_REACH))
    seen = [t for t in between if t.withdrawn is None and t.status is not Status.ERASED]
    if not seen:
        return record, None
    answer = seen[0]
    if answer.role == "assistant" and answer.request in (record.number, None):
        if answer.sha256 == sha256 and (request is not None or len(seen) == 1):
            return record, answer
        if request is None:
            return None, None
    raise StaleReplyError(
        f"request {record.number} ended at turn {record.tail}, and the conversation has gone on since; "
        "assemble() again and answer that, or withdraw() the turns in between"
    )


class _Known(Exception):
    """Carries a turn that is stored already out of a transaction that has to be rolled back."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(turn.number)
        self.turn = turn


@contextmanager
def _rolled_back() -> Iterator[list[Turn]]:
    outcome: list[Turn] = []
    try:
        yield outcome
    except _Known as known:
        outcome.append(known.turn)


def _place_result(
    tx: Transaction, conversation: str, turn: Turn, result: ToolResult, call_id: str, *, late: bool
) -> Turn:
    taken = {r.call for r in turn.results}
    call = pair(turn.calls, taken, call_id)
    if call is None:
        same = [r for r in turn.results if turn.calls[r.call].get("id") == call_id]
        if any(r.sha256 == result.sha256 for r in same):
            return turn
        raise ResultConflictError(
            f"call {call_id!r} of turn {turn.number} has another result already; a result cannot be changed"
        )
    placed = replace(result, call=call, late=late)
    tx.add_result(conversation, turn.number, len(turn.results), placed)
    return replace(turn, results=(*turn.results, placed))


def _late(
    tx: Transaction, conversation: str, last: int, result: ToolResult, call_id: str, open_turn: Turn | None
) -> Turn:
    for turn in reversed(tx.turns_before(conversation, last, LATE_REACH)):
        if any(c.get("id") == call_id for c in turn.calls):
            return _place_result(tx, conversation, turn, result, call_id, late=True)
    waiting = f"waiting are {', '.join(open_turn.missing_ids)}" if open_turn else "no call is waiting"
    raise TurnError(f"no call has the id {call_id!r} ({waiting}); tool_use_id must be that of a stored tool_use")
