"""read_turns: turns word for word, in pages, and no way to tell a foreign chat from an unknown one."""

from __future__ import annotations

import pytest

from contextmgr import Manager
from contextmgr.recall import Caps
from contextmgr.scope import Scope
from tests.recall.talk import ask, recall, refused, said, tokens


def numbered(manager: Manager, turns: int) -> None:
    said(manager, "old", *(f"Turn number {n}." for n in range(1, turns + 1)))


def test_turns_are_read_with_number_speaker_and_time(manager: Manager) -> None:
    numbered(manager, 3)
    answer = ask(recall(manager), None, "read_turns", chat_id="old", first=2, last=3)
    assert (answer["chat_id"], answer["title"], answer["last_turn"]) == ("old", "Turn number 1.", 3)
    assert answer["turns"][0] == {
        "turn": 2,
        "role": "assistant",
        "timestamp": "2026-08-17T09:31:00+00:00",
        "text": "Turn number 2.",
    }


def test_without_a_chat_id_it_is_this_chat(manager: Manager) -> None:
    numbered(manager, 3)
    assert [t["turn"] for t in ask(recall(manager), "old", "read_turns", first=3)["turns"]] == [3]
    assert "needs the field 'chat_id'" in refused(recall(manager), None, "read_turns", first=1)


@pytest.mark.parametrize(
    ("first", "last", "shown"),
    [(0, 2, (1, 2)), (-9, None, (1, 1)), (5, 2, (5, 5)), (2, 99, (2, 21)), (24, 99, (24, 25)), (25, 25, (25, 25))],
)
def test_a_range_is_clamped(manager: Manager, first: int, last: int | None, shown: tuple[int, int]) -> None:
    numbered(manager, 25)
    answer = ask(recall(manager), None, "read_turns", chat_id="old", first=first, last=last)
    numbers = [t["turn"] for t in answer["turns"]]
    assert (numbers[0], numbers[-1], len(numbers)) == (*shown, shown[1] - shown[0] + 1)


def test_a_range_after_the_end_is_told(manager: Manager) -> None:
    numbered(manager, 3)
    told = refused(recall(manager), None, "read_turns", chat_id="old", first=4)
    assert told == "first=4 is after the chat's last turn, 3"


@pytest.mark.parametrize("chat_id", ["theirs", "never-was", "*", "%", "a\x00b", "hidden"])
def test_foreign_hidden_and_unknown_ids_answer_alike(manager: Manager, chat_id: str) -> None:
    said(manager, "theirs", "gate code 7731", scope=Scope(tenant="other"))
    said(manager, "mine", "hello")
    told = refused(recall(manager), "mine", "read_turns", chat_id=chat_id, first=1)
    assert told == f"there is no chat {chat_id!r} here; use a chat_id that a search or list gave"


def test_withdrawn_and_erased_turns_are_left_out_and_named(manager: Manager) -> None:
    numbered(manager, 4)
    chat = manager.conversation("old", tenant="t")
    chat.withdraw(2, "wrong")
    chat.erase_turn(3)
    answer = ask(recall(manager), None, "read_turns", chat_id="old", first=1, last=4)
    assert [t["turn"] for t in answer["turns"]] == [1, 4]
    assert answer["notes"] == ["withdrawn or erased, so not shown: 2, 3"]


def test_what_is_too_long_is_read_on_page_by_page_and_nothing_is_lost(manager: Manager) -> None:
    text = " ".join(f"word{n}" for n in range(3_000))
    said(manager, "old", "Short.", text, "The end.")
    recalling = recall(manager, caps=Caps(call=2_000, turn=2_000))
    given, pages, last = {"first": 1, "last": 3, "offset": 0}, [], []
    while given is not None:
        answer = ask(recalling, None, "read_turns", chat_id="old", **given)
        pages += [(t["turn"], t["text"]) for t in answer["turns"]]
        last, given = answer["turns"], answer.get("read_on")
        assert tokens(str(answer)) < 2_200
    assert "".join(part for number, part in pages if number == 2) == text
    assert len(pages) > 4
    assert last[-1]["text"] == "The end."


def test_an_offset_past_the_end_is_told(manager: Manager) -> None:
    numbered(manager, 1)
    assert "is past the end of turn 1, which has 14" in refused(
        recall(manager), None, "read_turns", chat_id="old", first=1, offset=14
    )


def test_calls_and_results_are_read_and_thinking_and_pictures_are_not(manager: Manager) -> None:
    chat = said(manager, "old", "Read it.")
    blocks = [
        {"type": "thinking", "thinking": "private thought", "signature": "c2ln"},
        {"type": "tool_use", "id": "a", "name": "read_file", "input": {"path": "dal/orders.py"}},
    ]
    chat.add_reply({"role": "assistant", "content": blocks, "stop_reason": "tool_use"})
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO" * 90}}
    result = [{"type": "text", "text": "class Orders: ..."}, picture]
    chat.add_tool_results([{"type": "tool_result", "tool_use_id": "a", "content": result}])
    (turn,) = ask(recall(manager), None, "read_turns", chat_id="old", first=2)["turns"]
    assert "dal/orders.py" in turn["text"]
    assert "class Orders: ..." in turn["text"]
    assert "private thought" not in turn["text"]
    assert "iVBOiVBO" not in turn["text"]


def test_a_chat_of_another_allowed_project_is_read_and_told_apart(manager: Manager) -> None:
    red, blue = Scope(tenant="t", project="red"), Scope(tenant="t", project="blue")
    said(manager, "same", "in red", scope=red)
    said(manager, "same", "in blue", scope=blue)
    recalling = recall(manager, red, projects=("blue",))
    assert ask(recalling, None, "read_turns", chat_id="same", first=1)["turns"][0]["text"] == "in red"
    other = ask(recalling, None, "read_turns", chat_id="same", first=1, project_id="blue")
    assert (other["turns"][0]["text"], other["project_id"]) == ("in blue", "blue")


@pytest.mark.parametrize("first", [10**30, 10**5_000, [10**5_000]], ids=["long", "longer", "in a list"])
def test_a_number_too_large_to_be_shown_is_told_in_few_words(manager: Manager, first: object) -> None:
    said(manager, "old", "The heron nests in June.")
    assert len(refused(recall(manager), "old", "read_turns", first=first)) < 200
