"""D07: a summariser that fails must not damage what was there: nothing is replaced, and the gap is marked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import pytest

from contextmgr.summaries import Segment, SegmentStatus
from contextmgr.writers import AnthropicWriter
from tests.compaction.driving import Lines, Scribe, Talk, first_sentences, gap_of, raising, summarising, talking
from tests.field_reports.talk import ask
from tests.writers.scripted import GOOD_TEXT, TOOL_CALL, Reply, scripted, text

MARK = "upstream-7c2 says no"
WORDS = " ".join(f"word{i}" for i in range(30))
ONE = summarising(6_000, fill=0.8)


def hangs(lines: Lines) -> Any:
    """No answer within any limit; the thread that waits is left behind."""
    threading.Event().wait(3)


def as_long(lines: Lines) -> Any:
    """An answer as long as what was read."""
    parts = [(x["turn"], x["text"][i : i + 590]) for x in lines for i in range(0, len(x["text"]), 590)]
    return {"items": [{"text": words, "kind": "result", "turns": [turn]} for turn, words in parts]}


def invented(lines: Lines) -> Any:
    """An answer of which nothing is true."""
    return {"items": [{"text": f"The user confirmed: {MARK}.", "kind": "decision", "turns": [lines[0]["turn"]]}]}


FAILING: dict[str, Callable[[Lines], Any]] = {
    "a raises": raising(RuntimeError(MARK)),
    "b empty": lambda lines: "",
    "c blank": lambda lines: "  \n",
    "d half a text": lambda lines: json.dumps({"items": [{"text": f"{MARK} {WORDS}"}]})[:120],
    "d half an object": lambda lines: {"items": [{"text": f"{MARK} {WORDS}"}]},
    "none": lambda lines: None,
    "g hangs": hangs,
    "not what was asked for": lambda lines: {"items": [{"text": MARK, "kind": "order", "turns": [1]}]},
    "no turns": lambda lines: {"items": [{"text": MARK, "kind": "result", "turns": []}]},
    "longer than its source": as_long,
    "all invented": invented,
}
REPLIES: dict[str, list[Reply]] = {
    "a overloaded": [Reply(status=529)],
    "a bad key": [Reply(status=401)],
    "b empty": [text("")],
    "c blank": [text("  \n")],
    "d breaks off while streaming": [Reply(half=True)],
    "e max_tokens": [text(GOOD_TEXT[:40], "max_tokens")],
    "f tool call": [TOOL_CALL],
    "g hangs": [Reply(hangs=True)],
    "refused": [text("I cannot help with that.", "refusal")],
}


def began_well(talk: Talk) -> tuple[Segment, list[str]]:
    """Talk until a good summary is in force; returns it and the turns as stored."""
    good = talk.until(SegmentStatus.ACTIVE)
    return good, stored(talk)


def stored(talk: Talk) -> list[str]:
    return [json.dumps([list(t.blocks), [r.body for r in t.results]]) for t in talk.chat.history.turns()]


def check_undamaged(talk: Talk, good: Segment, turns: list[str]) -> None:
    """After a failure: what was there is there, the gap is marked, and the failure is nowhere but in the outbox."""
    request = talk.until_rollover()
    assert stored(talk)[: len(turns)] == turns
    assert [s.items for s in talk.chat.compactions() if s.id == good.id] == [good.items]
    assert {s.last for s in talk.chat.compactions() if s.level == 0} == {good.last}
    job, *_ = talk.waiting
    assert job.error
    assert (job.first, job.attempts <= 3) == (good.last + 1, True)
    left = next(t.first for t in request.report.turns if t.disposition != "summarised")
    assert left == job.first
    assert f"turns {job.first}-" in gap_of(request)
    assert MARK not in json.dumps(request.params)
    assert str(job.error)[:30] not in json.dumps(request.params)
    assert request.params == ask_again(talk, request.number)


def ask_again(talk: Talk, number: int) -> Any:
    return talk.chat.request_at(number).params


@pytest.mark.parametrize("how", FAILING)
def test_d07_the_summary_in_force_stays_and_the_gap_is_marked(how: str) -> None:
    scribe = Scribe()
    with talking(scribe, budget=ONE, summarizer_timeout=0.1 if how == "g hangs" else 30.0) as talk:
        good, turns = began_well(talk)
        scribe.answer = FAILING[how]
        talk.until_failed()
        check_undamaged(talk, good, turns)


@pytest.fixture
def client(request: pytest.FixtureRequest) -> Iterator[AnthropicWriter]:
    with scripted(*REPLIES[request.param]) as model, anthropic.Anthropic(base_url=model.url, api_key="none") as client:
        yield AnthropicWriter(client, timeout=0.3 if "hangs" in request.param else 20.0)


@pytest.mark.parametrize("client", REPLIES, indirect=True)
def test_d07_over_the_real_client(client: AnthropicWriter) -> None:
    scribe, failing = Scribe(), [False]

    def writer(prompt: str, schema: Any) -> Any:
        return client(prompt, schema) if failing[0] else scribe(prompt, schema)

    with talking(writer, budget=ONE) as talk:
        good, turns = began_well(talk)
        failing[0] = True
        talk.until_failed()
        check_undamaged(talk, good, turns)
        assert client.calls <= len(talk.waiting) * 3


def test_d07_an_answer_that_comes_after_its_limit_is_not_used() -> None:
    over = threading.Event()

    def late(lines: Lines) -> Any:
        over.wait(30)
        return first_sentences(lines)

    scribe = Scribe()
    with talking(scribe, budget=ONE, summarizer_timeout=0.1) as talk:
        good, turns = began_well(talk)
        scribe.answer = late
        talk.until_failed()
        over.set()
        check_undamaged(talk, good, turns)


def test_d07_once_it_works_again_the_range_is_tried_again_and_no_gap_is_left() -> None:
    scribe = Scribe()
    with talking(scribe, budget=ONE) as talk:
        good, _ = began_well(talk)
        scribe.answer = raising(ConnectionError(MARK))
        talk.until_failed()
        scribe.answer = first_sentences
        talk.clock.pass_by(minutes=2)
        request = talk.until_rollover()
        assert not talk.waiting
        assert request.report.disposition(good.last + 1) == "summarised"
        assert gap_of(request) == "" or request.report.disposition(good.last + 1) != "out"


def test_d07_a_restart_changes_none_of_it(tmp_path: Path) -> None:
    scribe = Scribe()
    with talking(scribe, path=tmp_path / "a.db", budget=ONE) as talk:
        good, turns = began_well(talk)
        scribe.answer = raising(RuntimeError(MARK))
        talk.until_failed()
        talk.chat.add_user("And now?")
        before = ask(talk.chat)
    with talking(scribe, path=tmp_path / "a.db", budget=ONE) as talk:
        assert ask(talk.chat).params == before.params
        assert stored(talk)[: len(turns)] == turns
        assert good.id in {s.id for s in talk.chat.compactions()}
        assert MARK in str(talk.waiting[0].error)
