"""What a recording says beyond the turns that are stored.

Laws: the past is never changed, only gone on from; an erased turn stays erased; a reply that was imported while it was
being written goes on in a turn of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from contextmgr import jsontext
from contextmgr.errors import HistoryConflictError
from contextmgr.incoming import result_block
from contextmgr.transcripts import Event, Replied, Returned, Said
from contextmgr.turns import Block, Status, ToolResult, Turn


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to be stored: event ``index`` of the recording, or what of it is not stored yet.

    ``start`` counts the blocks of it that are stored; ``is_last`` says that nothing was said or replied after it.
    """

    index: int
    event: Event
    start: int = 0
    is_last: bool = False


@dataclass(slots=True)
class _Step:
    """Something said or replied, with the results of its calls that are not stored yet; ``known`` blocks are."""

    index: int
    event: Said | Replied
    results: list[tuple[int, Block]] = field(default_factory=list)
    known: int = 0

    @property
    def role(self) -> str:
        return "assistant" if isinstance(self.event, Replied) else "user"

    @property
    def rest(self) -> tuple[Block, ...]:
        return self.event.blocks[self.known :]

    def results_of(self, calls: Sequence[Block]) -> Iterator[tuple[int, Block]]:
        """Results that answer one of these calls, taken out."""
        ids = {call.get("id") for call in calls if call["type"] == "tool_use"}
        taken = [r for r in self.results if r[1].get("tool_use_id") in ids]
        self.results = [r for r in self.results if r[1].get("tool_use_id") not in ids]
        return iter(taken)


def beyond(events: Sequence[Event], turns: Sequence[Turn]) -> list[Piece]:
    """What is to be stored after ``turns``, all turns of the conversation, in order.

    Nothing where the conversation has gone beyond the recording.  Raises `HistoryConflictError` where a turn is not
    what the recording says.
    """
    steps = _steps(events)
    at = 0
    for turn in turns:
        if at == len(steps):
            break
        if _passes(steps[at], turn):
            at += 1
    return list(_pieces(steps, at))


def _steps(events: Sequence[Event]) -> list[_Step]:
    steps: list[_Step] = []
    for index, event in enumerate(events):
        if isinstance(event, Returned):
            steps[-1].results += [(index, result_block(b)) for b in event.blocks]  # nothing stands before its call
        else:
            steps.append(_Step(index, event))
    return steps


def _passes(step: _Step, turn: Turn) -> bool:
    """Take note that a turn holds a step, or the next part of it; whether it holds the end of it."""
    if turn.status is Status.ERASED:
        step.results = []
        return True
    said = step.rest[: len(turn.blocks)]
    is_end = len(said) == len(step.rest)
    if turn.role != step.role or not _same(said, turn.blocks) or not (is_end or turn.role == "assistant"):
        raise _conflict(turn, step.index)
    for result in turn.results:
        _take_result(step, turn, result)
    step.known += len(said)
    return is_end


def _take_result(step: _Step, turn: Turn, result: ToolResult) -> None:
    call = result.body.get("tool_use_id")
    place = next((i for i, (_, block) in enumerate(step.results) if block.get("tool_use_id") == call), None)
    if place is None:
        return  # it came from elsewhere than this recording
    index, block = step.results.pop(place)
    if not _same((block,), (result.body,)):
        raise _conflict(turn, index)


def _same(recorded: Sequence[Block], stored: Sequence[Block]) -> bool:
    return len(recorded) == len(stored) and jsontext.dumps(list(recorded)) == jsontext.dumps(list(stored))


def _conflict(turn: Turn, index: int) -> HistoryConflictError:
    return HistoryConflictError(
        f"stored turn {turn.number} is not what the recording says at event {index}: the past cannot be changed; it is "
        "left as it is. Import the recording for another tenant, user or project to have both"
    )


def _pieces(steps: Sequence[_Step], at: int) -> Iterator[Piece]:
    last = len(steps) - 1
    for number, step in enumerate(steps):
        is_last = number == last
        if number >= at:
            known = step.event.blocks[: step.known]
            yield from _returned(step.results_of(known), is_last)
            event = replace(step.event, blocks=step.rest)
            yield Piece(step.index, event, step.known, is_last)
        yield from _returned(iter(step.results), is_last)


def _returned(results: Iterator[tuple[int, Block]], is_last: bool) -> Iterator[Piece]:
    for index, block in results:
        yield Piece(index, Returned(blocks=(block,)), is_last=is_last)
