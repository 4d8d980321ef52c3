"""D14: order is the order of appending, whatever the clock says.

Retrieved and summarised order come with retrieval and compaction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from tests.field_reports.talk import (
    MODEL,
    SYSTEM,
    TOOLS,
    ask,
    call,
    exchange,
    numbers,
    opened,
    profile,
    prose,
    reply,
    result,
    text,
    texts_in,
)

T = datetime(2026, 8, 17, 9, 30, tzinfo=UTC)
STEPS = [0, 0, -0.04, 1, -3_600, 0, 0, 2]


def erratic() -> Callable[[], datetime]:
    """A clock that stands, steps back 40 ms, jumps back an hour, and repeats itself."""
    waits: Iterator[float] = iter(STEPS * 500)
    return lambda: T + timedelta(seconds=next(waits))


def append(chat: Conversation) -> list[str]:
    """Eight turns, alternating, and what they say."""
    said = [f"turn {i}" for i in range(1, 9)]
    for i, words in enumerate(said):
        if i % 2 == 0:
            chat.add_user(words)
        else:
            chat.add_reply(reply(text(words)))
    return said


def test_d14_every_read_path_gives_append_order(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", clock=erratic()) as chat:
        said = append(chat)
        assert [t.text for t in chat.history.turns()] == said
        assert numbers(chat.history.turns(3, 6)) == [3, 4, 5, 6]
        assert [chat.history.turn(n).text for n in range(1, 9)] == said
        chat.add_user("turn 9")
        assert texts_in(ask(chat)) == [*said, "turn 9"]
    with opened(tmp_path / "a.db", clock=erratic()) as chat:
        assert [t.text for t in chat.history.turns()] == [*said, "turn 9"]
        assert texts_in(ask(chat)) == [*said, "turn 9"]


@pytest.mark.parametrize("dates", [(-400, -300), (+400, -400), (-1, -1)])
def test_d14_imported_dates_appear_in_labels_only(tmp_path: Path, dates: tuple[int, int]) -> None:
    with opened(tmp_path / "a.db", 6_000, clock=erratic()) as chat:
        append(chat)
        first, second = (T + timedelta(days=d) for d in dates)
        assert chat.add_user("imported question", said_at=first, pin=True).number == 9
        assert chat.add_reply(reply(text("imported answer")), said_at=second).number == 10
        chat.add_user("turn 11")
        assert texts_in(ask(chat))[-3:] == ["imported question", "imported answer", "turn 11"]
        assert chat.history.turn(9).said_at == first
        for i in range(14):
            chat.add_reply(reply(text(prose(300))))
            chat.add_user(prose(300, f"part {i}"))
            request = ask(chat)
        label = next(t for t in texts_in(request) if t.startswith("[Pinned"))
        assert f"{first:%B %Y}" in label


def test_d14_the_recent_window_is_what_was_appended_last(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(4_000, min_turns=4), clock=erratic()) as chat:
        for i in range(30):
            request = exchange(chat, prose(60, f"question {i}"), prose(60, f"answer {i}"))
        shown = [t.split(" the ")[0] for t in texts_in(request) if not t.startswith("[")]
        last = [f"{who} {n}" for n in range(30) for who in ("question", "answer")][:-1]
        assert shown == last[-len(shown) :]


def test_d14_results_come_after_their_calls_whatever_their_dates(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", clock=erratic()) as chat:
        chat.add_user("Both logs.")
        chat.add_reply(reply(call("a"), call("b")), said_at=T)
        chat.add_tool_results([result("b", "second")], said_at=T - timedelta(days=2))
        chat.add_tool_results([result("a", "first")], said_at=T - timedelta(days=1))
        contents = ask(chat).params["messages"][-1]["content"]
        assert [b["content"] for b in contents] == ["first", "second"]  # type: ignore[index, typeddict-item]


def test_d14_pins_stand_in_the_order_they_were_said(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(6_000), clock=erratic()) as chat:
        rules = [f"Rule {i}: never use table {i}." for i in range(6)]
        for rule in rules:
            chat.add_user(rule, pin=True)
            chat.add_reply(reply(text("Understood.")))
        assert [p.text for p in chat.pins.list()] == rules
        for i in range(20):
            request = exchange(chat, prose(120, f"part {i}"), prose(100))
        assert [t for t in texts_in(request) if t.startswith("Rule")] == rules


def test_d14_the_operators_pins_stand_in_the_order_they_were_made(tmp_path: Path) -> None:
    rules = [f"Rule {i}: never use table {i}." for i in range(8)]
    with Manager(tmp_path / "a.db", profile=profile(20_000), clock=erratic()) as manager:
        pins = manager.project_pins(tenant="t-1", project="p")
        for rule in rules:
            pins.add(rule)
        pins.revoke(pins.list()[0].id, "over")
        pins.add("Rule 8: never use table 8.")
        assert [p.text for p in pins.list()] == [*rules[1:], "Rule 8: never use table 8."]
        chat = manager.conversation("talk", tenant="t-1", project="p")
        chat.add_user("Hello.")
        request = chat.assemble(model=MODEL, max_tokens=100, system=SYSTEM, tools=TOOLS)
        assert [t for t in texts_in(request) if t.startswith("Rule")] == [p.text for p in pins.list()]


def test_d14_late_results_come_in_the_order_they_arrived(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", clock=erratic()) as chat:
        chat.add_user("All three logs.")
        chat.add_reply(reply(call("a"), call("b"), call("c")))
        chat.add_user("Go on.")
        ask(chat)
        chat.add_reply(reply(text("All right.")))
        for i in ("c", "a", "b"):
            chat.add_tool_results([result(i, f"log {i}")])
        chat.add_user("And?")
        assert [t for t in texts_in(ask(chat)) if t.startswith("log ")] == ["log c", "log a", "log b"]


def test_d14_requests_are_numbered_as_they_were_issued(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", clock=erratic()) as chat:
        issued = [exchange(chat, f"question {i}") for i in range(8)]
        assert [r.number for r in issued] == list(range(1, 9))
        assert [chat.request_at(n).params for n in range(1, 9)] == [r.params for r in issued]
        assert chat.history.turn(16).request == 8
