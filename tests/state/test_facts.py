"""Facts, notes and typed state: what is newer wins, what was is kept, and what cannot be kept is refused."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from contextmgr import Conversation, Manager, NotFoundError
from contextmgr.errors import FactError, InputError
from contextmgr.facts import MAX_NOTE, MAX_SECTIONS, MAX_VALUE


class OrderState(BaseModel):
    status: Literal["new", "paid", "shipped"]
    items: list[str] = []
    total_cents: int = 0


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with Manager(tmp_path / "a.db", profile="data-analysis") as manager:
        yield manager


@pytest.fixture
def chat(manager: Manager) -> Conversation:
    chat = manager.conversation("c", tenant="t", user="u", project="p")
    for number in range(4):
        chat.add_user(f"said {number}")
    return chat


def test_the_newest_value_is_in_force_and_the_others_stay(chat: Conversation) -> None:
    for turn, value in ((1, "red"), (2, "blue"), (4, "green")):
        chat.facts.set("colour", value, turn=turn)
    now = chat.facts.get("colour")
    assert now is not None
    assert (now.value, now.turn, now.author) == ("green", 4, "user")
    history = chat.facts.history("colour")
    assert [(f.value, f.turn, f.is_current) for f in history] == [
        ("red", 1, False),
        ("blue", 2, False),
        ("green", 4, True),
    ]
    assert [f.superseded_by for f in history] == [history[1].id, history[2].id, None]


def test_a_value_of_an_earlier_turn_does_not_take_its_place(chat: Conversation) -> None:
    chat.facts.set("colour", "green", turn=4)
    assert chat.facts.set("colour", "red", turn=1).value == "green"
    assert [f.value for f in chat.facts.history("colour") if not f.is_current] == ["red"]


def test_the_same_value_again_changes_nothing(chat: Conversation) -> None:
    first = chat.facts.set("colour", {"a": 1, "b": 2}, turn=1)
    assert chat.facts.set("colour", {"b": 2, "a": 1}, turn=4) == first
    assert len(chat.facts.history("colour")) == 1


def test_scopes_reach_as_far_as_they_say(manager: Manager, chat: Conversation) -> None:
    for scope in ("conversation", "project", "user"):
        chat.facts.set(scope, 1, scope=scope)
    seen = {
        name: [s for s in ("conversation", "project", "user") if other.facts.get(s, scope=s)]
        for name, other in {
            "same project": manager.conversation("d", tenant="t", user="u", project="p"),
            "same user": manager.conversation("c", tenant="t", user="u"),
            "other user": manager.conversation("c", tenant="t", user="v", project="p"),
            "no user": manager.conversation("c", tenant="t", project="p"),
            "other tenant": manager.conversation("c", tenant="x", user="u", project="p"),
        }.items()
    }
    assert seen == {
        "same project": ["project", "user"],
        "same user": ["user"],
        "other user": [],
        "no user": [],
        "other tenant": [],
    }


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"key": ""}, "one line of plain text"),
        ({"key": "a\nb"}, "one line"),
        ({"key": "k" * 121}, "121 characters; the limit is 120"),
        ({"value": {1, 2}}, "must be JSON"),
        ({"value": float("nan")}, "must be JSON"),
        ({"value": "\x00"}, "NUL"),
        ({"value": "x" * MAX_VALUE}, f"the limit is {MAX_VALUE}"),
        ({"author": "tool"}, "'user', 'operator', 'model'"),
        ({"scope": "tenant"}, "'conversation', 'project', 'user'"),
        ({"kind": "wish"}, "'fact', 'preference'"),
    ],
)
def test_what_cannot_be_kept_is_refused(chat: Conversation, arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(FactError, match=match):
        chat.facts.set(**{"key": "k", "value": 1, **arguments})
    assert chat.facts.list() == []


def test_a_turn_that_is_not_there_says_nothing(chat: Conversation) -> None:
    with pytest.raises(NotFoundError, match="no turn 99"):
        chat.facts.set("k", 1, turn=99)
    chat.erase_turn(2)
    with pytest.raises(NotFoundError, match="erased"):
        chat.facts.set("k", 1, turn=2)


def test_a_time_without_a_zone_is_refused(chat: Conversation) -> None:
    with pytest.raises(InputError, match="time zone"):
        chat.facts.set("k", 1, valid_from=datetime(2026, 1, 1))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(value=json_values)
def test_every_json_value_comes_back_as_it_was(value: Any) -> None:
    with Manager("sqlite://", profile="data-analysis") as manager:
        chat = manager.conversation("c", tenant="t")
        chat.facts.set("k", value)
        found = chat.facts.get("k")
    assert found is not None
    assert found.value == value


def test_notes_are_replaced_appended_and_taken_away(chat: Conversation) -> None:
    chat.notes.set("plan", "1. read")
    chat.notes.append("plan", "2. write")
    chat.notes.append("open questions", "which store?")
    assert [(n.section, n.text) for n in chat.notes.list()] == [
        ("open questions", "which store?"),
        ("plan", "1. read\n2. write"),
    ]
    chat.notes.drop("plan")
    assert chat.notes.get("plan") == ""
    with pytest.raises(NotFoundError):
        chat.notes.drop("plan")


def test_notes_have_limits(chat: Conversation) -> None:
    chat.notes.set("plan", "x" * (MAX_NOTE - 1))
    with pytest.raises(FactError, match=f"the limit is {MAX_NOTE}"):
        chat.notes.append("plan", "y")
    assert len(chat.notes.get("plan")) == MAX_NOTE - 1
    for number in range(MAX_SECTIONS - 1):
        chat.notes.set(f"s{number}", "x")
    with pytest.raises(FactError, match=f"{MAX_SECTIONS} sections"):
        chat.notes.set("one too many", "x")


def test_typed_state_is_validated_as_a_whole(chat: Conversation) -> None:
    state = chat.state(OrderState)
    assert state.get() is None
    state.set(OrderState(status="new", items=["lamp"]), turn=1)
    assert state.update({"status": "paid", "total_cents": 1_999}, turn=3).status == "paid"
    with pytest.raises(FactError, match="OrderState"):
        state.update({"status": "lost"}, turn=4)
    with pytest.raises(FactError, match="no field 'colour'"):
        state.update({"colour": "red"})
    assert state.get() == OrderState(status="paid", items=["lamp"], total_cents=1_999)
    assert {name: fact.turn for name, fact in state.facts().items()} == {"status": 3, "items": 1, "total_cents": 3}


def test_only_pydantic_models_are_typed_state(chat: Conversation) -> None:
    with pytest.raises(FactError, match="pydantic model class"):
        chat.state(dict)  # type: ignore[type-var]
