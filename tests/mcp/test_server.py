"""The server in this process, spoken to by the SDK's client: tools, errors, scopes, and calls side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from contextmgr import Scope, open_store
from contextmgr.errors import NotFoundError
from contextmgr.recall import definitions
from contextmgr.store import Store
from tests.mcp.talk import Call, Heard, heard

from mcp import Client  # isort: skip
from contextmgr.mcp import recall_server, session_recall  # isort: skip

ANN = Scope(tenant="acme", user="ann")
BOB = Scope(tenant="acme", user="bob")


@pytest.fixture
def opened(store: Path) -> Iterator[Store]:
    opened = open_store(store)
    yield opened
    opened.close()


def ask(opened: Store, *calls: Call, scope: Scope = ANN, conversation: str | None = None) -> Heard:
    recall = session_recall(opened, scope, conversation=conversation)
    return heard(lambda: Client(recall_server(recall, conversation)), calls)


def found(answer: Any) -> set[str]:
    return {result["chat_id"] for result in answer["results"]}


def test_tools_are_described_exactly_as_to_the_messages_api(opened: Store) -> None:
    shown = [(t.name, t.description, t.input_schema) for t in ask(opened).tools]
    assert shown == [(d["name"], d["description"], d["input_schema"]) for d in definitions(writing=False)]


def test_tools_that_write_are_there_with_a_conversation_only(opened: Store) -> None:
    assert [t.name for t in ask(opened, conversation="keys").tools] == [d["name"] for d in definitions()]


def test_reading_tools_say_that_they_change_nothing(opened: Store) -> None:
    tools = ask(opened, conversation="keys").tools
    hints = {t.name: t.annotations.read_only_hint for t in tools if t.annotations is not None}
    assert hints == {
        "conversation_search": True,
        "recent_chats": True,
        "read_turns": True,
        "note": False,
        "remember": False,
    }


def test_search_list_and_read(opened: Store) -> None:
    calls: list[Call] = [
        ("conversation_search", {"query": "deploy key"}),
        ("recent_chats", {}),
        ("read_turns", {"chat_id": "keys", "first": 1, "last": 2}),
    ]
    said = ask(opened, *calls)
    assert found(said.value(0)) == {"keys"}
    assert [c["chat_id"] for c in said.value(1)["chats"]] == ["lunch", "keys"]
    assert "rotates every Tuesday" in said.text(2)


def test_a_foreign_chat_looks_like_an_unknown_one(opened: Store) -> None:
    said = ask(
        opened, ("read_turns", {"chat_id": "secret", "first": 1}), ("read_turns", {"chat_id": "xyz", "first": 1})
    )
    assert said.refused(0).replace("secret", "xyz") == said.refused(1)


@pytest.mark.parametrize("extra", [{"tenant": "other"}, {"user": "bob"}, {"project_id": "p"}])
def test_no_argument_reaches_another_scope(opened: Store, extra: dict[str, str]) -> None:
    said = ask(opened, ("conversation_search", {"query": "green vault", **extra}))
    assert "vault" not in said.text(0).replace("green vault", "")
    assert "secret" not in said.text(0)


def test_two_scopes_of_one_store_do_not_see_each_other(opened: Store) -> None:
    query: Call = ("conversation_search", {"query": "deploy key"})
    assert found(ask(opened, query).value(0)) == {"keys"}
    assert found(ask(opened, query, scope=BOB).value(0)) == {"secret"}


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("conversation_search", {}, "needs the field 'query'"),
        ("conversation_search", {"query": 7}, "must be a string"),
        ("conversation_search", {"query": "key", "limit": 2}, "has no field"),
        ("recent_chats", {"count": "many"}, "whole number"),
        ("recent_chats", {"before": "yesterday"}, "YYYY-MM-DD"),
        ("read_turns", {"chat_id": "keys", "first": True}, "whole number"),
        ("note", {"section": "plan", "text": "x"}, "inside a conversation only"),
        ("delete_everything", {}, "there is no tool"),
    ],
)
def test_bad_calls_are_tool_errors_that_say_what_to_do(
    opened: Store, name: str, given: dict[str, Any], says: str
) -> None:
    assert says in ask(opened, (name, given)).refused(0)


def test_notes_and_values_are_kept_in_the_conversation_that_was_named(opened: Store) -> None:
    calls: list[Call] = [
        ("note", {"section": "plan", "text": "rotate by hand"}),
        ("remember", {"key": "rotation_day", "value": "Tuesday", "source_turn": 1}),
    ]
    said = ask(opened, *calls, conversation="keys")
    assert [said.answers[0].is_error, said.answers[1].is_error] == [False, False]
    with opened.reading(ANN) as tx:
        assert [n.text for n in tx.state.notes("keys")] == ["rotate by hand"]
        assert [f.value for f in tx.state.said("keys", 5)] == ["Tuesday"]


def test_every_call_is_capped_but_not_how_many_there_are(opened: Store) -> None:
    """A client's turns are not ours to see: a long session must not run dry."""
    said = ask(opened, *[("read_turns", {"chat_id": "lunch", "first": 1, "last": 2})] * 60, conversation="keys")
    assert not any(answer.is_error for answer in said.answers)


def test_a_conversation_of_another_scope_is_refused_before_serving(opened: Store) -> None:
    with pytest.raises(NotFoundError, match="no conversation 'secret'"):
        session_recall(opened, ANN, conversation="secret")


def test_a_store_that_fails_is_a_tool_error_without_details(store: Path) -> None:
    closed = open_store(store)
    recall = session_recall(closed, ANN)
    closed.close()
    said = heard(lambda: Client(recall_server(recall)), [("recent_chats", {})])
    assert "StoreError" in said.refused(0)
    assert str(store) not in said.refused(0)


def test_calls_side_by_side_all_get_their_own_answer(opened: Store) -> None:
    async def talking() -> list[bool]:
        ok: list[bool] = []

        async def one(client: Client, word: str) -> None:
            answer = await client.call_tool("conversation_search", {"query": word})
            ok.append(word in answer.model_dump_json())

        with anyio.fail_after(60):
            async with Client(recall_server(session_recall(opened, ANN))) as client, anyio.create_task_group() as group:
                for word in ("ramen", "Tuesday") * 6:
                    group.start_soon(one, client, word)
        return ok

    assert anyio.run(talking) == [True] * 12


def test_every_call_is_in_the_audit_log(opened: Store) -> None:
    ask(opened, ("conversation_search", {"query": "station ramen"}), ("read_turns", {"chat_id": "secret", "first": 1}))
    with opened.reading(ANN) as tx:
        refused, searched = tx.state.audits(2)
    assert (searched.action, searched.query, searched.found[0]["chat_id"]) == (
        "conversation_search",
        "station ramen",
        "lunch",
    )
    assert refused.action == "read_turns"
    assert "no chat 'secret'" in str(refused.error)
