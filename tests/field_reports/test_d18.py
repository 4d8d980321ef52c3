"""D18: a retry, a reconnect or a resume never stores the same thing twice.

That an index and facts do not change either comes with retrieval and state.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.errors import HistoryConflictError, IdempotencyError, InputError, ResultConflictError
from contextmgr.turns import Turn
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
    log,
    numbers,
    opened,
    profile,
    prose,
    reply,
    result,
    start,
    step,
    text,
)

KEY = "k-19"
LOST_ANSWER = """
import os, pathlib, signal, sys
from tests.field_reports.talk import opened
with opened(pathlib.Path(sys.argv[1])) as chat:
    print("ready", flush=True)
    sys.stdin.readline()
    chat.add_user("Order 40 crates.", key="k-19")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_d18_the_same_key_is_the_same_turn(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        first = chat.add_user("Order 40 crates.", key=KEY)
        again = [chat.add_user("Order 40 crates.", key=KEY) for _ in range(3)]
        assert numbers(again) == [first.number] * 3
        assert chat.history.count() == 1
        assert [t.text for t in chat.history.turns()] == ["Order 40 crates."]


def test_d18_after_an_answer_that_was_lost_with_the_process(tmp_path: Path) -> None:
    process = start(LOST_ANSWER, tmp_path / "a.db")
    process.communicate("go\n", timeout=60)
    with opened(tmp_path / "a.db") as chat:
        assert chat.add_user("Order 40 crates.", key=KEY).number == 1
        assert chat.history.count() == 1


def test_d18_later_in_the_conversation_the_retry_still_finds_its_turn(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Order 40 crates.", key=KEY)
        before = ask(chat)
        chat.add_reply(reply(text("Ordered.")), key="r-1")
        exchange(chat, "Thanks.")
        assert chat.add_user("Order 40 crates.", key=KEY).number == 1
        assert chat.add_reply(reply(text("Ordered.")), key="r-1").number == 2
        assert chat.history.count() == 4
        assert chat.request_at(1).params == before.params


OTHER: dict[str, Callable[[Conversation], object]] = {
    "other words": lambda chat: chat.add_user("Order 41 crates.", key=KEY),
    "other blocks": lambda chat: chat.add_user([text("Order 40"), text(" crates.")], key=KEY),
    "other role": lambda chat: chat.add_reply(reply(text("Order 40 crates.")), key=KEY),
    "other author": lambda chat: chat.add_user("Order 40 crates.", key=KEY, author="operator"),
}


@pytest.mark.parametrize("kind", OTHER)
def test_d18_the_same_key_with_other_content_is_a_typed_conflict(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Order 40 crates.", key=KEY)
        with pytest.raises(IdempotencyError, match=r"k-19.*turn 1.*new key"):
            OTHER[kind](chat)
        assert [t.text for t in chat.history.turns()] == ["Order 40 crates."]


def test_d18_without_a_key_it_is_said_twice(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        assert numbers([chat.add_user("Order 40 crates.") for _ in range(2)]) == [1, 2]


@pytest.mark.parametrize("key", ["", " ", "\x00", "\ud800", 7])
def test_d18_a_key_must_be_a_plain_string(tmp_path: Path, key: Any) -> None:
    with opened(tmp_path / "a.db") as chat:
        with pytest.raises(InputError, match="key"):
            chat.add_user("Order 40 crates.", key=key)
        assert chat.history.count() == 0


def test_d18_keys_belong_to_one_conversation(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile(20_000)) as manager:
        chats = [manager.conversation(name, tenant=t) for t in ("t-1", "t-2") for name in ("one", "two")]
        for i, chat in enumerate(chats):
            chat.add_user("Hello.")
            assert chat.add_user(f"Order {i} crates.", key=KEY).number == 2
        assert [c.history.turn(2).text for c in chats] == [f"Order {i} crates." for i in range(4)]


def test_d18_five_threads_with_the_same_key_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        stored: list[Turn] = []
        line = threading.Barrier(5)

        def append() -> None:
            line.wait()
            stored.append(chat.add_user("Order 40 crates.", key=KEY))

        threads = [threading.Thread(target=append) for _ in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert numbers(stored) == [1] * 5
        assert chat.history.count() == 1


def test_d18_a_retry_with_a_pin_pins_once(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        for _ in range(3):
            chat.add_user("Never order crates.", key=KEY, pin=True)
        assert len(chat.pins.list(every=True)) == 1
        ask(chat)


def test_d18_a_retry_with_results_keeps_the_first_and_refuses_others(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Order.")
        chat.add_reply(reply(call("tu_1")))
        for _ in range(2):
            assert chat.add_user([result("tu_1", "40"), text("Go on.")], key=KEY).number == 3
        with pytest.raises(ResultConflictError):
            chat.add_user([result("tu_1", "41"), text("Go on.")], key=KEY)
        assert [r.body["content"] for r in chat.history.turn(2).results] == ["40"]
        assert chat.history.count() == 3


def test_d18_results_and_answers_may_be_given_again(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Order.")
        request = ask(chat)
        answer = reply(call("a"), call("b"))
        assert numbers([chat.add_reply(answer, request=request) for _ in range(3)]) == [2] * 3
        for _ in range(3):
            chat.add_tool_results([result("a", "1")])
        for _ in range(3):
            chat.add_tool_results([result("b", "2"), result("a", "1")])
        assert len(chat.history.turn(2).results) == 2
        assert numbers([chat.add_reply(answer, request=request) for _ in range(2)]) == [2] * 2
        assert chat.history.count() == 2


def whole_talk(chat: Conversation) -> list[dict[str, Any]]:
    """Forty turns, stored, and the same as a client's own list."""
    messages: list[dict[str, Any]] = []
    for i in range(13):
        messages += [
            {"role": "user", "content": f"Question {i}: {prose(20)}"},
            {"role": "assistant", "content": [text("Looking."), call(f"tu_{i}")]},
            {"role": "user", "content": [result(f"tu_{i}", log(5))]},
            {"role": "assistant", "content": f"Answer {i}."},
        ]
    messages.append({"role": "user", "content": "Thanks."})
    chat.sync(messages)
    return messages


def test_d18_a_resume_that_sends_forty_turns_again_adds_none(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        messages = whole_talk(chat)
        assert chat.history.count() == 40
        assert chat.sync(messages) == []
        assert chat.sync([{**m, "id": f"msg_{i}"} for i, m in enumerate(messages)]) == []
        assert chat.sync([{**m, "content": blocks_of(m["content"])} for m in messages]) == []
        assert chat.history.count() == 40


def blocks_of(content: Any) -> list[dict[str, Any]]:
    """A client may send its strings as blocks, with cache marks of its own."""
    blocks = [text(content)] if isinstance(content, str) else content
    return [{**b, "cache_control": {"type": "ephemeral"}} for b in blocks]


def test_d18_a_resume_after_a_restart_brings_what_is_new_and_only_that(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        messages = whole_talk(chat)
        request = ask(chat)
    with opened(tmp_path / "a.db") as chat:
        assert ask(chat).params == request.params
        messages.append({"role": "assistant", "content": "You are welcome."})
        assert numbers(chat.sync(messages)) == [41]
        assert chat.sync(messages) == []
        sent = [*(dict(m) for m in request.params["messages"]), {"role": "assistant", "content": "You are welcome."}]
        assert chat.sync(sent) == []
        assert chat.history.count() == 41


def test_d18_a_resume_with_another_past_is_a_typed_conflict(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        messages = whole_talk(chat)
        messages[3] = {"role": "assistant", "content": "Another answer."}
        with pytest.raises(HistoryConflictError, match=r"messages\[3\]"):
            chat.sync(messages)
        assert chat.history.count() == 40


def test_d18_totals_are_those_of_one_turn(tmp_path: Path) -> None:
    sizes = []
    for retries in (1, 5):
        with opened(tmp_path / f"{retries}.db") as chat:
            for _ in range(retries):
                chat.add_user("Order 40 crates.", key=KEY)
            sizes.append(ask(chat).report.tokens)
            step(chat, "tu_1", "ok")
            sizes.append(ask(chat).report.tokens)
    assert sizes[:2] == sizes[2:]
