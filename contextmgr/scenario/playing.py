"""A scenario played through the real ``Manager``, call by call, and through the baselines beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.manager import Manager
from contextmgr.profiles import load_profile
from contextmgr.scenario.files import Assistant, Exchange, Scenario

_BETWEEN = timedelta(seconds=20)  # from one event of an exchange to the next


@dataclass(slots=True)
class Clock:
    """A clock that moves only when told to: the same scenario gives the same requests on any day."""

    now: datetime

    def __call__(self) -> datetime:
        """The time it is."""
        return self.now

    def pass_by(self, time: timedelta) -> None:
        """Let time pass."""
        self.now += time


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One request of ours: the exchange and the assistant turn of it that it asks for (both from 1).

    ``starts`` maps each exchange so far to the number of its first turn.
    """

    exchange: int
    call: int
    request: AssembledRequest
    chat: Conversation
    starts: dict[int, int]
    answer: Assistant


@dataclass(slots=True)
class Player:
    """Plays a scenario.  ``store`` is where the conversation is kept; with ``reopen`` it is closed and opened again

    before every exchange, as when each one is another process.
    """

    scenario: Scenario
    store: str | Path = "sqlite://"
    reopen: bool = False
    _clock: Clock = field(init=False)
    _system: str = field(init=False)

    def __post_init__(self) -> None:
        self._clock = Clock(self.scenario.begins)
        self._system = self.scenario.system

    def steps(self) -> Iterator[Step]:
        """Every request, in order; the scripted answer is stored when the next step is asked for."""
        starts: dict[int, int] = {}
        if not self.reopen:
            with self._manager() as manager:
                for number, exchange in enumerate(self.scenario.exchanges, 1):
                    yield from self._exchange(manager, number, exchange, starts)
            return
        for number, exchange in enumerate(self.scenario.exchanges, 1):
            with self._manager() as manager:
                yield from self._exchange(manager, number, exchange, starts)

    def _manager(self) -> Manager:
        profile = load_profile(self.scenario.profile).with_budget(self.scenario.budget)
        return Manager(self.store, profile=profile, clock=self._clock)

    def _chat(self, manager: Manager) -> Conversation:
        return manager.conversation(self.scenario.name, tenant="scenario")

    def _exchange(self, manager: Manager, number: int, exchange: Exchange, starts: dict[int, int]) -> Iterator[Step]:
        chat = self._chat(manager)
        self._system = self._system if exchange.system is None else exchange.system
        self._clock.pass_by(timedelta(minutes=exchange.after))
        turn = chat.add_user(exchange.user, pin=exchange.pin, quote=exchange.quote, author=exchange.author)
        starts[number] = turn.number
        for call, answer in enumerate(exchange.turns, 1):
            manager.flush()  # what is found must not depend on how far a thread has come
            request = chat.assemble(
                model=self.scenario.model,
                max_tokens=self.scenario.max_tokens,
                system=self._system or None,
                tools=[tool.schema_block for tool in self.scenario.tools],
            )
            yield Step(exchange=number, call=call, request=request, chat=chat, starts=starts, answer=answer)
            self._answer(chat, answer, f"toolu_{number:02}_{call:02}")

    def _answer(self, chat: Conversation, answer: Assistant, ids: str) -> None:
        self._clock.pass_by(_BETWEEN)
        blocks, results = blocks_of(answer, ids)
        reason = "tool_use" if results else "end_turn"
        chat.add_reply({"role": "assistant", "content": blocks, "stop_reason": reason, "model": self.scenario.model})
        if results:
            self._clock.pass_by(_BETWEEN)
            chat.add_tool_results(results)


def blocks_of(answer: Assistant, ids: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """An assistant turn as blocks, and the results of its calls; ``ids`` begins the ids of the calls."""
    said = [{"type": "text", "text": answer.text}] if answer.text.strip() else []
    calls = [
        {"type": "tool_use", "id": f"{ids}_{i}", "name": call.tool, "input": dict(call.input)}
        for i, call in enumerate(answer.calls)
    ]
    results = [
        {"type": "tool_result", "tool_use_id": f"{ids}_{i}", "content": call.result}
        | ({"is_error": True} if call.error else {})
        for i, call in enumerate(answer.calls)
    ]
    return [*said, *calls], results
