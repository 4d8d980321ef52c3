"""A conversation: what is added, asked, pinned, withdrawn and looked up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from contextmgr import (
    AssembledRequest,
    Conversation,
    IdempotencyError,
    InputError,
    Manager,
    NotFoundError,
    NothingToAnswerError,
    OpenTurnError,
    PinError,
    ResultConflictError,
    StaleReplyError,
    TaskError,
    TurnError,
)

MODEL = "claude-sonnet-5-5"
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    with Manager(tmp_path / "a.db", profile="data-analysis") as manager:
        yield manager.conversation("c", tenant="t")


def ask(chat: Conversation, **more: Any) -> AssembledRequest:
    return chat.assemble(**{"model": MODEL, "max_tokens": 500, "tools": TOOLS, **more})


def said(*texts: str) -> dict[str, Any]:
    return {"model": MODEL, "content": [{"type": "text", "text": t} for t in texts], "stop_reason": "end_turn"}


def calls(*identities: str) -> dict[str, Any]:
    content = [{"type": "tool_use", "id": i, "name": "read", "input": {}} for i in identities]
    return {"model": MODEL, "content": content, "stop_reason": "tool_use"}


def result(identity: str, content: str = "ok") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def words(request: AssembledRequest) -> str:
    return str(request.params["messages"])


# --- what is added ----------------------------------------------------------------------------------------------------


def test_turns_are_numbered_in_the_order_they_were_added(chat: Conversation) -> None:
    old, new = datetime(2020, 1, 1, tzinfo=UTC), datetime(2030, 1, 1, tzinfo=UTC)
    numbers = [chat.add_user("a", said_at=new).number, chat.add_user("b", said_at=old).number]
    assert numbers == [1, 2]
    assert [t.said_at for t in chat.history.turns()] == [new, old]


def test_metadata_and_author_come_back(chat: Conversation) -> None:
    chat.add_user("x", author="operator", metadata={"ticket": 7, "a": [None, {"z": 1.5}]})
    turn = chat.history.turn(1)
    assert (turn.author, turn.metadata) == ("operator", {"ticket": 7, "a": [None, {"z": 1.5}]})


@pytest.mark.parametrize(
    "arguments",
    [
        {"content": ""},
        {"content": [{"type": "text", "text": " \n"}]},
        {"content": [{"type": "tool_use", "id": "t", "name": "n", "input": {}}]},
        {"content": [{"text": "no type"}]},
        {"content": 7},
        {"content": "x", "author": "model"},
        {"content": "x", "key": " "},
        {"content": "x", "metadata": {"x": object()}},
        {"content": "x", "said_at": datetime(2026, 1, 1)},
        {"content": "x", "pin": "wish"},
        {"content": "a\x00b", "pin": True},
        {"content": "x", "pin": True, "quote": "y"},
        {"content": "x", "pin": "approval", "context": 9},
        {"content": "x", "replaces": "pin_unknown"},
        {"content": [result("unknown")]},
        {"content": [result("unknown"), {"type": "text", "text": "x"}]},
    ],
)
def test_what_cannot_be_added_changes_nothing(chat: Conversation, arguments: dict[str, Any]) -> None:
    with pytest.raises((InputError, NotFoundError)):
        chat.add_user(**arguments)
    assert (chat.history.count(), chat.pins.list()) == (0, ())


@pytest.mark.parametrize(
    "reply",
    [
        "just text",
        {"role": "user", "content": "x"},
        {"content": [result("t")]},
        {"content": [{"type": "tool_use", "id": "t", "name": "n", "input": "{}"}]},
        {"content": "x", "stop_reason": 7},
    ],
)
def test_what_is_no_reply_changes_nothing(chat: Conversation, reply: object) -> None:
    chat.add_user("x")
    ask(chat)
    with pytest.raises(TurnError):
        chat.add_reply(reply)
    assert chat.history.count() == 1


def test_reading_what_is_not_there(chat: Conversation) -> None:
    for looked_up in (lambda: chat.history.turn(1), lambda: chat.request_at(1), lambda: chat.withdraw(1, "x")):
        with pytest.raises(NotFoundError):
            looked_up()
    assert chat.history.turns() == []


# --- retries ----------------------------------------------------------------------------------------------------------


def test_the_same_key_is_the_same_turn(chat: Conversation) -> None:
    first = chat.add_user("x", key="k-19", pin=True)
    assert chat.add_user("x", key="k-19", pin=True) == first
    assert (chat.history.count(), len(chat.pins.list())) == (1, 1)


def test_a_key_with_other_content_is_a_conflict(chat: Conversation) -> None:
    chat.add_user("x", key="k")
    with pytest.raises(IdempotencyError, match="turn 1"):
        chat.add_user("y", key="k")
    assert chat.history.count() == 1


def test_threads_with_one_key_make_one_turn(chat: Conversation) -> None:
    threads = [Thread(target=chat.add_user, args=("x",), kwargs={"key": "k"}) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chat.history.count() == 1


def test_a_reply_given_twice_is_one_turn(chat: Conversation) -> None:
    chat.add_user("x")
    request = ask(chat)
    assert chat.add_reply(said("y"), request=request) == chat.add_reply(said("y"), request=request)
    assert chat.add_reply(said("y"), key="k").number == 2
    assert chat.history.count() == 2


def test_a_reply_to_an_earlier_request_is_stale(chat: Conversation) -> None:
    chat.add_user("x")
    first = ask(chat)
    chat.add_user("wait")
    with pytest.raises(StaleReplyError, match="request 1"):
        chat.add_reply(said("y"), request=first)
    with pytest.raises(StaleReplyError):
        chat.add_reply(said("y"))
    assert chat.history.count() == 2


def test_a_reply_names_its_request(chat: Conversation) -> None:
    chat.add_user("x")
    assert chat.add_reply(said("y"), request=ask(chat).number).request == 1
    with pytest.raises(NotFoundError):
        chat.add_reply(said("z"), request=99)


# --- the tool loop ----------------------------------------------------------------------------------------------------


def test_an_open_turn_waits_for_its_results(chat: Conversation) -> None:
    chat.add_user("read both")
    ask(chat)
    chat.add_reply(calls("a", "b"))
    assert chat.add_tool_results([result("b")]).is_open
    with pytest.raises(OpenTurnError, match=r"interrupt\(\)") as caught:
        ask(chat)
    assert caught.value.missing_ids == ("a",)
    with pytest.raises(OpenTurnError):
        chat.add_reply(said("done"))
    assert not chat.add_tool_results([result("a")]).is_open
    sent = ask(chat).params["messages"][-1]["content"]
    assert [b["tool_use_id"] for b in sent] == ["a", "b"]  # type: ignore[index, union-attr]


def test_a_result_twice_is_one_another_one_a_conflict(chat: Conversation) -> None:
    chat.add_user("read")
    chat.add_reply(calls("a", "b"))
    for _ in range(2):
        chat.add_tool_results([result("a", "one")])
    with pytest.raises(ResultConflictError, match="'a'"):
        chat.add_tool_results([result("b"), result("a", "two")])
    assert [r.call for r in chat.history.turn(2).results] == [0]


def test_results_of_one_list_are_stored_whole_or_not_at_all(chat: Conversation) -> None:
    chat.add_user("read")
    chat.add_reply(calls("a", "b"))
    with pytest.raises(TurnError, match="'c'"):
        chat.add_tool_results([result("a"), result("c")])
    assert chat.history.turn(2).missing_ids == ("a", "b")


def test_interrupting_answers_what_is_missing_with_an_error(chat: Conversation) -> None:
    chat.add_user("read")
    chat.add_reply(calls("a", "b"))
    chat.add_tool_results([result("a", "one")])
    interrupted = chat.interrupt()
    assert interrupted is not None
    assert interrupted.completeness == "interrupted"
    assert chat.interrupt() is None
    sent: Any = ask(chat).params["messages"][-1]["content"]
    assert [(b["tool_use_id"], b.get("is_error", False)) for b in sent] == [("a", False), ("b", True)]


def test_a_late_result_is_shown_once_as_a_note(chat: Conversation) -> None:
    chat.add_user("read")
    chat.add_reply(calls("a"))
    chat.add_user("never mind")
    chat.add_tool_results([result("a", "the late log")])
    first = ask(chat)
    assert words(first).count("the late log") == 1
    chat.add_reply(said("ok"))
    chat.add_user("go on")
    assert words(ask(chat)).count("the late log") == 1
    assert chat.history.turn(2).results[0].late


# --- assembling -------------------------------------------------------------------------------------------------------


def test_there_must_be_something_to_answer(chat: Conversation) -> None:
    with pytest.raises(NothingToAnswerError):
        ask(chat)
    chat.add_user("x")
    ask(chat)
    chat.add_reply(said("y"))
    with pytest.raises(NothingToAnswerError, match="turn 2"):
        ask(chat)


@pytest.mark.parametrize(
    "arguments",
    [{"model": ""}, {"max_tokens": -1}, {"max_tokens": True}, {"system": [{"type": "image"}]}, {"tools": TOOLS * 2}],
)
def test_unusable_arguments_are_refused(chat: Conversation, arguments: dict[str, Any]) -> None:
    chat.add_user("x")
    with pytest.raises(InputError):
        ask(chat, **arguments)
    assert ask(chat).number == 1


def test_every_request_can_be_had_again(chat: Conversation, tmp_path: Path) -> None:
    requests = []
    for i in range(12):
        chat.add_user(f"{i} " + "words " * 300, pin=i % 5 == 2)
        requests.append(ask(chat, system=f"version {i // 4}"))
        chat.add_reply(said("done " * 100))
    assert {r.report.why for r in requests} >= {"first", "extended", "head"}
    assert [chat.request_at(r.number) for r in requests] == requests
    with Manager(tmp_path / "a.db", profile=4_000) as other:  # another process, another profile
        again = other.conversation("c", tenant="t")
        assert [again.request_at(r.number).params for r in requests] == [r.params for r in requests]


# --- pins and tasks ---------------------------------------------------------------------------------------------------


def test_pins_are_made_replaced_and_revoked(chat: Conversation) -> None:
    chat.add_user("Hello.")
    first = chat.add_user("Use tabs.", pin=True)
    chat.add_user("No: use spaces.")
    (old,) = (p for p in chat.pins.list() if p.turn == first.number)
    (new,) = chat.pins.replace(old.id, 3, quote="use spaces")
    chat.pins.revoke(new.id, "a formatter does it")
    ended = {p.id: (p.status, p.replaced_by, p.reason) for p in chat.pins.list(every=True)}
    assert ended[old.id] == ("replaced", new.id, None)
    assert ended[new.id] == ("revoked", None, "a formatter does it")


def test_an_earlier_turn_is_pinned_by_quote(chat: Conversation) -> None:
    chat.add_user("Hello.")
    chat.add_user("Please be brief. Never use globals. Thanks.")
    (pin,) = chat.pins.add(2, kind="decision", quote="Never use globals.")
    request = ask(chat)
    assert (pin.kind, pin.text) == ("decision", "Never use globals.")
    assert pin.id in {p.pin for p in request.proof.pins}


@pytest.mark.parametrize(("turn", "quote"), [(1, "not said"), (1, "l"), (1, ""), (2, None), (9, None)])
def test_what_cannot_be_pinned_is_refused(chat: Conversation, turn: int, quote: str | None) -> None:
    chat.add_user("hello, all")
    chat.add_reply(said("hi"))
    before = chat.pins.list()
    with pytest.raises((PinError, NotFoundError)):
        chat.pins.add(turn, quote=quote)
    assert chat.pins.list() == before


@pytest.mark.parametrize("reason", ["", "  ", None])
def test_revoking_and_withdrawing_need_a_reason(chat: Conversation, reason: Any) -> None:
    chat.add_user("x", pin=True)
    with pytest.raises(InputError, match="reason"):
        chat.pins.revoke(chat.pins.list()[0].id, reason)
    with pytest.raises(InputError, match="reason"):
        chat.withdraw(1, reason)


def test_a_task_document_stands_whole_until_it_is_dropped(chat: Conversation) -> None:
    seen = []
    for change in (lambda: chat.set_task("brief", "Build it."), lambda: chat.set_task("brief", "Tear it down."),
                   lambda: chat.drop_task("brief")):  # fmt: skip
        change()
        chat.add_user("go on")
        request = words(ask(chat))
        seen.append(("Build it." in request, "Tear it down." in request))
        chat.add_reply(said("ok"))
    assert seen == [(True, False), (False, True), (False, False)]
    with pytest.raises(NotFoundError):
        chat.drop_task("brief")


def test_setting_the_same_task_again_changes_nothing(chat: Conversation) -> None:
    chat.add_user("x")
    chat.set_task("brief", "Build it.")
    request = ask(chat)
    chat.set_task("brief", "Build it.")
    assert ask(chat) == request


@pytest.mark.parametrize(("name", "text"), [("", "x"), ("a\nb", "x"), ("a", " "), ("a", "x\x00"), ("a" * 201, "x")])
def test_a_task_that_cannot_be_sent_is_refused(chat: Conversation, name: str, text: str) -> None:
    with pytest.raises(TaskError):
        chat.set_task(name, text)


# --- withdrawing ------------------------------------------------------------------------------------------------------


def test_a_withdrawn_turn_is_out_of_requests_and_can_come_back(chat: Conversation) -> None:
    for text in ("one", "the wrong thing", "three"):
        chat.add_user(text)
    ask(chat)
    assert chat.withdraw(2, "refused").withdrawn == "refused"
    without = ask(chat)
    assert "the wrong thing" not in words(without)
    assert without.report.disposition(2) == "withdrawn"
    assert chat.history.turn(2).text == "the wrong thing"
    chat.restore(2)
    assert "the wrong thing" in words(ask(chat))


def test_a_pin_outlives_the_withdrawal_of_its_turn(chat: Conversation) -> None:
    chat.add_user("hello")
    chat.add_user("Never use globals.", pin=True)
    chat.withdraw(2, "was a joke")
    chat.add_user("go on")
    assert "Never use globals." in words(ask(chat))


def test_withdrawing_the_last_answer_lets_it_be_asked_again(chat: Conversation) -> None:
    chat.add_user("x")
    first = ask(chat)
    chat.add_reply({**said("I will not."), "stop_reason": "refusal"})
    chat.withdraw(2, "refusal")
    second = ask(chat)
    assert second.number == first.number + 1
    assert second.params["messages"] == first.params["messages"]
    assert chat.add_reply(said("Fine."), request=second).number == 3


@pytest.mark.parametrize("number", [0, -1, 2**70, "1; DROP TABLE turn", None])
def test_a_number_that_is_none_is_a_typed_error(chat: Conversation, number: Any) -> None:
    chat.add_user("x")
    for look in (chat.history.turn, chat.request_at, chat.pins.add, chat.restore, chat.erase_turn):
        with pytest.raises((NotFoundError, InputError)):
            look(number)
    assert chat.history.count() == 1


def test_a_name_that_cannot_be_stored_is_a_typed_error(chat: Conversation) -> None:
    with pytest.raises(InputError):
        chat.drop_task("\udc97")
    with pytest.raises(InputError):
        chat.add_reply({**said("x"), "model": "\udc97"})
    assert chat.history.count() == 0
