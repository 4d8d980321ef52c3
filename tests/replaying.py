"""Made sessions for the tests of replaying, and one call to replay them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from contextmgr.assembly import AssembledRequest
from contextmgr.profiles import Profile, load_profile
from contextmgr.replay import Outcome, replay_session
from contextmgr.replay.driving import PinWish
from contextmgr.transcripts import Event, Replied, Returned, Said, Session
from contextmgr.turns import Block, Usage

MODEL = "claude-sonnet-5-5"


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def said(words: str, at: datetime | None = None, *, human: bool = True) -> Said:
    return Said(blocks=(text(words),), at=at, human=human)


def replied(*blocks: Block, stop_reason: str | None = "end_turn") -> Replied:
    return Replied(blocks=blocks, stop_reason=stop_reason, usage=Usage(input_tokens=1_000))


def call(call_id: str) -> Block:
    return {"type": "tool_use", "id": call_id, "name": "run", "input": {"command": "ls"}}


def returned(call_id: str, content: str) -> Returned:
    return Returned(blocks=({"type": "tool_result", "tool_use_id": call_id, "content": content},))


def session(*events: Event, system: str | None = "Be exact.") -> Session:
    return Session(file="made.json", format="made", index=0, events=events, system=system, tool_names=("run",))


def exchanges(count: int, words: str) -> list[Event]:
    pairs = [(said(f"question {i} {words}"), replied(text(f"answer {i} {words}"))) for i in range(count)]
    return [event for pair in pairs for event in pair]


def profile(budget: int, **changes: Any) -> Profile:
    return Profile(**(load_profile("coding-agent").with_budget(budget).model_dump() | changes))


def replayed(
    one: Session, budget: int = 20_000, *, pin: PinWish = None, **changes: Any
) -> tuple[Outcome, list[AssembledRequest]]:
    requests: list[AssembledRequest] = []
    kept = profile(budget, **changes)
    return replay_session(one, profile=kept, model=MODEL, pin=pin, on_request=requests.append), requests
