"""Every call is put down: who asked what for, and what came back, never its text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from anthropic.types import ToolUseBlock

from contextmgr import Manager
from contextmgr.errors import InputError, TurnError
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord
from contextmgr.store.state_base import AuditRecord
from tests.recall.talk import MINE, START, ask, audits, call, recall, refused, said


def last(manager: Manager) -> AuditRecord:
    return audits(manager)[0]


def test_a_search_is_put_down_with_question_and_scores(manager: Manager) -> None:
    said(manager, "old", "The heron nests in June.")
    said(manager, "now", "When?")
    (found,) = ask(recall(manager), "now", "conversation_search", query="heron nests")["results"]
    record = last(manager)
    assert (record.action, record.conversation, record.turn) == ("conversation_search", "now", 1)
    assert (record.query, record.error, record.at) == ("heron nests", None, START)
    assert record.found[0] == {"chat_id": "old", "turns": [1], "score": found["score"]}


@pytest.mark.parametrize(
    ("name", "given", "query", "found"),
    [
        ("recent_chats", {"count": 2}, '{"count":2}', {"chat_id": "old"}),
        ("read_turns", {"chat_id": "old", "first": 1}, '{"chat_id":"old","first":1}', {"chat_id": "old", "turns": [1]}),
        ("note", {"section": "plan", "text": "secret"}, '{"section":"plan"}', {"section": "plan"}),
    ],
)
def test_each_tool_is_put_down(
    manager: Manager, name: str, given: dict[str, Any], query: str, found: dict[str, Any]
) -> None:
    said(manager, "old", "The heron nests in June.")
    said(manager, "now", "When?")
    ask(recall(manager), "now", name, **given)
    assert (last(manager).action, last(manager).query, last(manager).found[0]) == (name, query, found)


def test_a_value_is_put_down_by_fact_and_turn(manager: Manager) -> None:
    said(manager, "now", "My order is 4471.")
    ask(recall(manager), "now", "remember", key="order", value="4471-secret")
    assert last(manager).found[0]["turns"] == [1]
    assert "4471-secret" not in str(last(manager))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("note", {"section": "s", "text": ["herons"]}),
        ("note", {"section": "s", "text": "herons\x00"}),
        ("note", {"section": "s", "txt": "herons"}),
        ("remember", {"key": "k", "valeu": "herons"}),
        ("write_note", {"body": "herons"}),
    ],
)
def test_what_a_refused_call_would_have_kept_is_not_put_down(
    manager: Manager, name: str, given: dict[str, Any]
) -> None:
    said(manager, "now", "When?")
    refused(recall(manager), "now", name, **given)
    assert "herons" not in str(last(manager))


def test_what_came_back_is_never_put_down(manager: Manager) -> None:
    said(manager, "old", "The heron nests in June by the reeds.")
    for name, given in (("conversation_search", {"query": "heron"}), ("read_turns", {"chat_id": "old", "first": 1})):
        assert "reeds" in json.dumps(ask(recall(manager), None, name, **given))
    assert "reeds" not in str(audits(manager))


def test_only_what_was_shown_is_put_down(manager: Manager) -> None:
    said(manager, "old", *["heron " * 1_500] * 5)
    shown = ask(recall(manager), None, "read_turns", chat_id="old", first=1, last=5)["turns"]
    assert [f["turns"] for f in last(manager).found[:-1]] == [[t["turn"]] for t in shown]


def test_a_refused_call_is_put_down_with_its_error(manager: Manager) -> None:
    told = refused(recall(manager), None, "read_turns", chat_id="nobody", first=1)
    assert (last(manager).error, last(manager).found) == (told, ())


def test_an_unknown_tool_is_told_the_known_ones_and_put_down(manager: Manager) -> None:
    told = refused(recall(manager), None, "delete_everything")
    assert "the recall tools are conversation_search, recent_chats, read_turns, note, remember" in told
    assert last(manager).action == "unknown tool"


def test_an_incognito_conversation_leaves_no_question_behind(manager: Manager) -> None:
    record = ConversationRecord(id="dark", visibility=Visibility.INCOGNITO, created_at=START, updated_at=START)
    with manager._store.writing(MINE) as tx:
        tx.create_conversation(record)
    ask(recall(manager), "dark", "conversation_search", query="my rash")
    refused(recall(manager), "dark", "read_turns", chat_id="my rash", first=1)
    assert "rash" not in str(audits(manager))


def test_who_asked_is_put_down(manager: Manager) -> None:
    scope = Scope(tenant="t", user="ada", project="docks")
    ask(recall(manager, scope), None, "recent_chats")
    assert [(r.user, r.project) for r in audits(manager, scope)] == [("ada", "docks")]


@pytest.mark.parametrize("given", [[], "x", None, 3])
def test_an_input_that_is_no_object_is_told(manager: Manager, given: Any) -> None:
    result = recall(manager).handle(None, {**call("recent_chats"), "input": given})
    assert "the input of recent_chats must be an object" in result["content"][0]["text"]


def test_the_result_carries_the_id_of_its_call(manager: Manager) -> None:
    result = recall(manager).handle(None, call("recent_chats", 77))
    assert (result["type"], result["tool_use_id"]) == ("tool_result", "toolu_77")
    assert [part["type"] for part in result["content"]] == ["text"]


def test_a_block_of_the_sdk_is_answered_like_its_json(manager: Manager) -> None:
    block = ToolUseBlock(id="toolu_1", name="recent_chats", input={"count": 3}, type="tool_use")
    assert recall(manager).handle(None, block) == recall(manager).handle(None, call("recent_chats", count=3))


@pytest.mark.parametrize("block", [{"type": "text", "text": "x"}, {"type": "tool_use", "name": "note", "input": {}}])
def test_what_is_no_call_is_the_callers_mistake(manager: Manager, block: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="takes a 'tool_use' block"):
        recall(manager).handle(None, block)


def test_what_is_no_block_is_the_callers_mistake(manager: Manager) -> None:
    with pytest.raises(TurnError):
        recall(manager).handle(None, "recent_chats")


def test_a_search_by_the_application_is_audited_too(manager: Manager) -> None:
    chat = manager.conversation("searched", tenant="t")
    chat.add_user("The code of dock 4 is 7731.")
    chat.search("dock 4")
    with manager._store.reading(chat.scope) as tx:
        (record,) = tx.state.audits(9, "searched")
    assert (record.action, record.query, [f["turns"] for f in record.found]) == ("search", "dock 4", [[1]])
