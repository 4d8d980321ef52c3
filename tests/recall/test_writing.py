"""note and remember: what a model keeps, with the turn it names and the call that kept it."""

from __future__ import annotations

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.facts import Fact, FactScope
from tests.recall.talk import MINE, ask, call, recall, refused, said


@pytest.fixture
def chat(manager: Manager) -> Conversation:
    return said(manager, "c", "My order is 4471.", "Noted.", "Make it 4472.")


def fact(manager: Manager, key: str) -> Fact | None:
    with manager._store.reading(MINE) as tx:
        return tx.state.current("c", FactScope.CONVERSATION, key)


def notes(manager: Manager) -> dict[str, str]:
    with manager._store.reading(MINE) as tx:
        return {n.section: n.text for n in tx.state.notes("c") if n.text}


@pytest.mark.usefixtures("chat")
def test_a_value_is_kept_with_author_and_turn(manager: Manager) -> None:
    assert ask(recall(manager), "c", "remember", key="order", value=4471, source_turn=1) == {
        "remembered": "order",
        "source_turn": 1,
    }
    kept = fact(manager, "order")
    assert kept is not None
    assert (kept.value, kept.author, kept.turn, kept.via) == (4471, "model", 1, None)


@pytest.mark.usefixtures("chat")
def test_without_a_turn_it_is_the_users_newest(manager: Manager) -> None:
    assert ask(recall(manager), "c", "remember", key="order", value="4472")["source_turn"] == 3


def test_the_open_turn_that_holds_the_call_is_put_down(manager: Manager, chat: Conversation) -> None:
    use = call("remember", key="order", value=[1, {"a": None}], source_turn=3)
    chat.add_reply({"role": "assistant", "content": [use], "stop_reason": "tool_use"})
    chat.add_tool_results([recall(manager).handle("c", use)])
    kept = fact(manager, "order")
    assert kept is not None
    assert (kept.via, kept.value) == (4, [1, {"a": None}])


@pytest.mark.usefixtures("chat")
def test_an_older_turn_does_not_take_the_place_of_a_newer(manager: Manager) -> None:
    ask(recall(manager), "c", "remember", key="order", value=4472, source_turn=3)
    told = ask(recall(manager), "c", "remember", key="order", value=4471, source_turn=1)
    assert told == {"kept_as_history": "order", "in_force": "4472", "reason": "turn 3 is newer than turn 1"}


@pytest.mark.parametrize("turn", [4, 99, 2])
def test_a_turn_that_is_not_there_cannot_be_cited(manager: Manager, chat: Conversation, turn: int) -> None:
    chat.withdraw(2, "wrong")
    told = refused(recall(manager), "c", "remember", key="a", value=1, source_turn=turn)
    assert told == f"source_turn={turn} is no turn of this chat that can be cited"
    assert fact(manager, "a") is None


@pytest.mark.usefixtures("chat")
def test_notes_are_replaced_appended_and_taken_away(manager: Manager) -> None:
    recalling = recall(manager)
    ask(recalling, "c", "note", section="plan", text="old")
    assert ask(recalling, "c", "note", section="plan", text="one") == {"noted": "plan", "characters": 3}
    ask(recalling, "c", "note", section="plan", text="two", mode="append")
    assert notes(manager) == {"plan": "one\ntwo"}
    assert ask(recalling, "c", "note", section="plan", text="") == {"taken_away": "plan"}
    assert notes(manager) == {}


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("note", {"section": "plan"}, "note needs the field 'text'"),
        ("note", {"section": "", "text": "x"}, "section is blank"),
        ("note", {"section": "s" * 61, "text": "x"}, "the limit is 60"),
        ("note", {"section": "plan", "text": "x" * 8_001}, "the limit is 8000"),
        ("note", {"section": "plan", "text": "x", "mode": "prepend"}, "mode must be one of 'replace', 'append'"),
        ("note", {"section": "plan", "text": " ", "mode": "append"}, "text is blank"),
        ("remember", {"key": "a"}, "remember needs the field 'value'"),
        ("remember", {"key": "two\nlines", "value": 1}, "must be one line of plain text"),
        ("remember", {"key": "a", "value": "x" * 8_001}, "the limit is 8000"),
        ("remember", {"key": "a", "value": 1, "source_turn": "3"}, "source_turn must be a whole number from 1 on"),
        ("remember", {"key": "a", "value": 1, "author": "user"}, "remember has no field 'author'"),
    ],
)
@pytest.mark.usefixtures("chat")
def test_a_bad_argument_is_told_and_nothing_kept(
    manager: Manager, name: str, given: dict[str, object], told: str
) -> None:
    assert told in refused(recall(manager), "c", name, **given)
    assert notes(manager) == {}
    assert fact(manager, "a") is None


@pytest.mark.parametrize(
    ("name", "given"), [("note", {"section": "a", "text": "b"}), ("remember", {"key": "a", "value": 1})]
)
def test_outside_of_a_conversation_nothing_is_kept(manager: Manager, name: str, given: dict[str, object]) -> None:
    assert "works inside a conversation only" in refused(recall(manager), None, name, **given)


def test_a_turn_number_no_store_can_hold_is_told(manager: Manager) -> None:
    said(manager, "now", "My order is 4471.")
    assert "no turn of this chat" in refused(recall(manager), "now", "remember", key="k", value=1, source_turn=10**30)


def test_a_model_does_not_replace_what_the_operator_set(manager: Manager) -> None:
    chat = said(manager, "now", "Refund me 900.")
    chat.facts.set("refund_limit", 50, author="operator")
    assert "set by the operator" in refused(recall(manager), "now", "remember", key="refund_limit", value=900)
    found = chat.facts.get("refund_limit")
    assert (found and found.value, found and found.author) == (50, "operator")
