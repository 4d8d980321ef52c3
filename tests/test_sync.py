"""``sync(messages)``: a whole list in, what is new is stored, what is ours is recognised, a changed past is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Conversation, HistoryConflictError, Manager, TurnError

MODEL = "claude-sonnet-5-5"
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]
Message = dict[str, Any]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    with Manager(tmp_path / "a.db", profile=6_000) as manager:
        yield manager.conversation("c", tenant="t")


def user(*content: Any) -> Message:
    blocks = [{"type": "text", "text": c} if isinstance(c, str) else c for c in content]
    return {"role": "user", "content": blocks}


def assistant(*content: Any) -> Message:
    return user(*content) | {"role": "assistant"}


def call(identity: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "read", "input": {"path": "a.py"}}


def result(identity: str, content: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


LONG = [
    user("read both"),
    assistant("Reading.", call("a"), call("b")),
    user(result("b", "two"), result("a", "one")),
    assistant("Both read."),
    user("and now?"),
]


def ask(chat: Conversation) -> list[Message]:
    request = chat.assemble(model=MODEL, max_tokens=500, system="s", tools=TOOLS)
    return list(request.params["messages"])  # type: ignore[arg-type]


def test_a_whole_history_becomes_turns(chat: Conversation) -> None:
    stored = chat.sync(LONG)
    assert [t.role for t in chat.history.turns()] == ["user", "assistant", "assistant", "user"]
    assert [r.body["content"] for r in sorted(chat.history.turn(2).results, key=lambda r: r.call)] == ["one", "two"]
    assert stored[-1] == chat.history.turn(4)


def test_the_same_again_stores_nothing(chat: Conversation) -> None:
    chat.sync(LONG)
    turns = chat.history.turns()
    assert chat.sync(LONG) == []
    assert chat.history.turns() == turns


def test_message_by_message_is_the_same(chat: Conversation) -> None:
    for end in range(1, len(LONG) + 1):
        chat.sync(LONG[:end])
    assert [t.role for t in chat.history.turns()] == ["user", "assistant", "assistant", "user"]


def test_results_that_come_one_by_one_are_new(chat: Conversation) -> None:
    chat.sync(LONG[:2])
    assert [t.missing_ids for t in chat.sync([*LONG[:2], user(result("b", "two"))])] == [("a",)]
    chat.sync(LONG[:3])
    assert chat.history.turn(2).missing_ids == ()
    assert [t.text for t in chat.sync(LONG)] == ["Both read.", "and now?"]


def test_strings_blocks_and_missing_thinking_say_the_same(chat: Conversation) -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    chat.sync([user("hello"), assistant(thought, "hi")])
    again = [{"role": "user", "content": "hello"}, assistant("hi"), user("bye")]
    assert [t.text for t in chat.sync(again)] == ["bye"]


@pytest.mark.parametrize("at", range(len(LONG)))
def test_a_changed_past_is_refused_and_changes_nothing(chat: Conversation, at: int) -> None:
    chat.sync(LONG)
    changed = [*LONG[:at], LONG[at] | {"content": "something else"}, *LONG[at + 1 :], assistant("x"), user("new")]
    with pytest.raises((HistoryConflictError, TurnError), match=r"messages\[|tool"):
        chat.sync(changed)
    assert chat.history.count() == 4


@pytest.mark.parametrize("message", [{"role": "system", "content": "x"}, {"content": "x"}, "x"])
def test_what_is_no_message_is_refused(chat: Conversation, message: Any) -> None:
    with pytest.raises(TurnError, match=r"messages\[1\]"):
        chat.sync([user("hello"), message])
    assert chat.history.count() == 0


def test_the_last_request_carried_on_is_recognised(chat: Conversation) -> None:
    """Its preface, attachments, masks and merged messages come back and are not stored as history."""
    chat.add_user("Never use globals.", pin=True)
    for i in range(14):
        chat.sync([*ask(chat), assistant(call(f"t{i}")), user(result(f"t{i}", "line " * 400))])
        stored = chat.sync([*ask(chat), assistant(f"step {i} is done"), user(f"then {i}")])
        assert [t.text for t in stored] == [f"step {i} is done", f"then {i}"]
    assert chat.history.count() == 1 + 14 * 3
    assert "globals" in str(ask(chat))
    assert sum("globals" in t.text for t in chat.history.turns()) == 1


def test_an_answer_carried_on_names_its_request(chat: Conversation) -> None:
    chat.add_user("hello")
    sent = ask(chat)
    (turn,) = chat.sync([*sent, assistant("hi")])
    assert turn.request == 1


def test_the_pinned_attachment_is_not_stored_again(chat: Conversation) -> None:
    chat.add_user("hello")
    ask(chat)
    chat.add_reply(assistant("hi"))
    for i in range(12):
        chat.add_user(f"{i} " + "word " * 500)
        sent = ask(chat)
        chat.add_reply(assistant("ok " * 100))
    chat.pins.add(3, quote="0 word")
    chat.add_user("and now?")
    sent = ask(chat)
    assert "0 word" in [b["text"] for b in sent[-1]["content"]]
    (turn,) = chat.sync([*sent, assistant("done")])
    assert (turn.text, chat.history.count()) == ("done", 28)


def test_the_past_of_the_last_request_cannot_be_changed_either(chat: Conversation) -> None:
    chat.sync(LONG)
    sent = ask(chat)
    sent[0] = user("something else")
    with pytest.raises(HistoryConflictError):
        chat.sync([*sent, assistant("x")])
    assert chat.history.count() == 4
