"""A conversation with a summariser at work, driven in a few words, and a writer that does as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from contextmgr import Manager
from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.profiles import Profile
from contextmgr.store import Job
from contextmgr.summaries import Segment, SegmentStatus
from contextmgr.summarising import KIND
from tests.field_reports.talk import ask, profile, prose, reply, step, text
from tests.request_check import blocks_of

Lines = Sequence[Mapping[str, Any]]
Answer = Callable[[Lines], Any]
SUMMARY = "[Summary of turns"
GAP = "[Out of view: turns"


def material(prompt: str) -> list[dict[str, Any]]:
    """The turns, or notes, that a prompt gives to read."""
    found = re.search(r"^begin (\w+)\n(.*?)^end \1$", prompt, re.DOTALL | re.MULTILINE)
    assert found is not None, prompt[:400]
    return [json.loads(line) for line in found[2].splitlines() if line]


def note(words: str, *turns: int, kind: str = "result") -> dict[str, Any]:
    """An item as a model writes it."""
    return {"text": words, "kind": kind, "turns": list(turns)}


def first_sentences(lines: Lines) -> dict[str, Any]:
    """Good notes: the first sentence of every turn that a person or the model said."""
    said = [x for x in lines if x["role"] != "tool"]
    return {"items": [note(x["text"].partition(".")[0] + ".", x["turn"]) for x in said]}


@dataclass
class Scribe:
    """A writer that keeps every prompt and answers as told; ``answer`` may be changed on the way."""

    answer: Answer = first_sentences
    prompts: list[str] = field(default_factory=list)
    name: str = "scribe"

    def __call__(self, prompt: str, schema: Mapping[str, Any]) -> Any:
        self.prompts.append(prompt)
        return self.answer(material(prompt))


def raising(error: BaseException) -> Answer:
    """An answer that is an exception."""

    def answer(lines: Lines) -> Any:
        raise error

    return answer


@dataclass
class Clock:
    """A clock that moves a second per look, and further when told to."""

    at: datetime = datetime(2026, 11, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at

    def pass_by(self, **time: float) -> None:
        self.at += timedelta(**time)


def summarising(budget: int, *, cap: int = 800, prepare_at: float = 0.8, **recent: Any) -> Profile:
    """The coding profile at a budget, with a summary tier of ``cap`` tokens and without retrieval."""
    data = profile(budget, **{"min_turns": 4, **recent}).model_dump()
    quiet = {"retrieved": {**data["retrieved"], "enabled": False}}
    return Profile(**{**data, **quiet, "summary": {"cap": cap, "prepare_at": prepare_at}})


@dataclass
class Talk:
    """One conversation and the manager that summarises it."""

    manager: Manager
    chat: Conversation
    clock: Clock
    said: int = 0

    def exchange(self, *, flush: bool = True, **given: Any) -> AssembledRequest:
        """The next exchange: a question, its request, its answer; then the background work that is due."""
        i = self.said
        self.said += 1
        self.chat.add_user(f"Module_{i} has to listen on port {8000 + i}. {prose(80, f'Check {i},')}")
        request = ask(self.chat, **given)
        self.chat.add_reply(reply(text(f"Module_{i} listens on port {8000 + i} since commit {i:07x}. {prose(120)}")))
        if flush:
            self.manager.flush()
        return request

    @property
    def waiting(self) -> list[Job]:
        """The summaries that are in the outbox, failed ones included."""
        return [j for j in self.chat.pending() if j.kind == KIND]

    def flush(self, timeout: float = 60.0) -> int:
        """Do the background work that is due; returns how many summaries are left."""
        self.manager.flush(timeout)
        return len(self.waiting)

    def exchanges(self, count: int, **given: Any) -> list[AssembledRequest]:
        """Several of them."""
        return [self.exchange(**given) for _ in range(count)]

    def until(self, status: SegmentStatus, **given: Any) -> Segment:
        """Talk until a segment has a status; returns the first that has."""
        for _ in range(120):
            self.exchange(**given)
            if found := self.segments(status):
                return found[0]
        raise AssertionError(f"no segment became {status}")

    def until_failed(self) -> None:
        """Talk until a job has failed."""
        for _ in range(120):
            self.exchange()
            if any(j.error for j in self.waiting):
                return
        raise AssertionError("no job failed")

    def until_rollover(self, **given: Any) -> AssembledRequest:
        """Talk until an epoch begins because the view was full."""
        for _ in range(120):
            if (request := self.exchange(**given)).report.why == "full":
                return request
        raise AssertionError("no rollover")

    def segments(self, *status: SegmentStatus) -> list[Segment]:
        """The segments that have one of these statuses."""
        return [s for s in self.chat.compactions() if s.status in status]

    def tool_step(self, output: object, **given: Any) -> None:
        """A question that is answered with a tool call and its output."""
        self.chat.add_user(f"Run step {self.said}.")
        self.said += 1
        ask(self.chat)
        step(self.chat, f"tu_{self.said}", output, **given)
        ask(self.chat)
        self.chat.add_reply(reply(text(f"Step {self.said - 1} ran. {prose(40)}")))
        self.manager.flush()


@contextmanager
def talking(
    summarizer: Any = "extractive", *, path: Path | str = "sqlite://", budget: Profile | int = 6_000, **more: Any
) -> Iterator[Talk]:
    """A conversation whose background work is done only by ``flush()``."""
    chosen = summarising(budget) if isinstance(budget, int) else budget
    clock = more.pop("clock", None) or Clock()
    given = {"background": False, **more}
    with Manager(path, profile=chosen, clock=clock, summarizer=summarizer, **given) as manager:
        yield Talk(manager, manager.conversation("talk", tenant="t-1"), clock)


def made_texts(request: AssembledRequest, start: str) -> list[str]:
    """The blocks of a request that begin so."""
    return [b["text"] for _, b in blocks_of(request.params) if b["type"] == "text" and b["text"].startswith(start)]


def summary_of(request: AssembledRequest) -> str:
    """The summary tier as rendered; "" where there is none."""
    (found,) = made_texts(request, SUMMARY) or [""]
    return found


def gap_of(request: AssembledRequest) -> str:
    """The gap line; "" where there is none."""
    (found,) = made_texts(request, GAP) or [""]
    return found
