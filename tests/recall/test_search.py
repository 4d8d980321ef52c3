"""conversation_search: evidence from earlier chats and from this one out of view, and its errors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr import Manager
from contextmgr.errors import InputError
from contextmgr.recall import Recall
from contextmgr.recall.freshness import NEAR, fresh_first
from tests.recall.talk import ask, recall, refused, said, tokens


@pytest.fixture
def birds(manager: Manager) -> Recall:
    said(manager, "lake", "Where does the heron nest?", "The heron nests by the north lake.", title="Birds")
    said(manager, "now", "Good morning.", day=9)
    manager.flush()
    return recall(manager, chat_url="https://chat.test/{chat_id}#{first}")


def test_a_result_says_where_when_and_what(birds: Recall) -> None:
    (found,) = ask(birds, "now", "conversation_search", query="heron north lake", max_results=1)["results"]
    assert found.pop("score") > 0.5
    assert found == {
        "chat_id": "lake",
        "title": "Birds",
        "turns": [2],
        "role": "assistant",
        "timestamp": "2026-08-17T09:31:00+00:00",
        "excerpt": "The heron nests by the north lake.",
        "url": "https://chat.test/lake#2",
    }


def test_nothing_found_is_said(birds: Recall) -> None:
    assert ask(birds, "now", "conversation_search", query="zeppelin") == {"results": [], "found": "nothing"}


def test_it_works_from_outside_of_any_conversation(birds: Recall) -> None:
    assert ask(birds, None, "conversation_search", query="heron")["results"][0]["chat_id"] == "lake"


def test_what_is_in_view_is_not_found_and_what_left_it_is(manager: Manager) -> None:
    said(manager, "now", "The quota on ark-2 is 40 GB.", "Noted.", "What is the quota on ark-2?")
    found = ask(recall(manager), "now", "conversation_search", query="quota ark-2")["results"]
    assert [f["turns"] for f in found] == [[1], [2]]


def test_a_request_shows_from_where_on_it_is_in_view(manager: Manager) -> None:
    chat = said(manager, "now", "The quota on ark-2 is 40 GB.", "Noted.", "What is the quota on ark-2?")
    chat.assemble(model="claude-sonnet-5-5", max_tokens=100)
    assert ask(recall(manager), "now", "conversation_search", query="quota ark-2")["results"] == []


def test_withdrawn_and_erased_turns_are_never_shown(manager: Manager) -> None:
    chat = said(manager, "old", "The heron is grey.", "A heron!", "The heron is blue.", "Yes.")
    manager.flush()
    chat.withdraw(1, "wrong")
    chat.erase_turn(3)
    found = ask(recall(manager), None, "conversation_search", query="heron")["results"]
    assert [f["turns"] for f in found] == [[2]]


def test_an_excerpt_stands_around_the_match(manager: Manager) -> None:
    said(manager, "old", f"{'Filler about weather. ' * 400}The heron nests in June. {'More filler text. ' * 400}")
    manager.flush()
    (found,) = ask(recall(manager), None, "conversation_search", query="heron nests")["results"]
    assert "The heron nests in June." in found["excerpt"]
    assert found["excerpt"][0] == found["excerpt"][-1] == "…"
    assert tokens(found["excerpt"]) <= 220


def test_no_thinking_no_encoded_data_and_no_secret_comes_back(manager: Manager) -> None:
    chat = said(manager, "old", f"heron picture data:image/png;base64,{'iVBORw0KGgo' * 60}")
    blocks = [
        {"type": "thinking", "thinking": "a heron secret", "signature": "c2ln"},
        {"type": "text", "text": "heron"},
    ]
    chat.add_reply({"role": "assistant", "content": blocks, "stop_reason": "end_turn"})
    chat.add_user("heron password: hunter2hunter2")
    answer = str(ask(recall(manager), None, "conversation_search", query="heron"))
    assert "a heron secret" not in answer
    assert "iVBORw0KGgoiVBORw0KGgo" not in answer
    assert "hunter2hunter2" not in answer


def test_what_recall_brought_back_does_not_come_back_again(manager: Manager) -> None:
    chat = said(manager, "old", "Find the bird.")
    use = {"type": "tool_use", "id": "a", "name": "conversation_search", "input": {"query": "gannet"}}
    chat.add_reply({"role": "assistant", "content": [use], "stop_reason": "tool_use"})
    chat.add_tool_results([{"type": "tool_result", "tool_use_id": "a", "content": "the gannet dives at dawn"}])
    found = ask(recall(manager), None, "conversation_search", query="gannet dives dawn")["results"]
    assert "dives at dawn" not in str(found)


@pytest.mark.parametrize(("asked", "used"), [(0, 1), (-5, 1), (99, 10), (10**30, 10)])
def test_a_number_of_results_is_clamped_and_that_is_said(birds: Recall, asked: int, used: int) -> None:
    (note,) = ask(birds, "now", "conversation_search", query="heron", max_results=asked)["notes"]
    assert f"was clamped to {used}; the limits are 1 to 10" in note


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ({}, "conversation_search needs the field 'query'"),
        ({"query": " \n"}, "query is blank"),
        ({"query": 7}, "query must be a string, not 7"),
        ({"query": "x" * 1_001}, "query has 1,001 characters; the limit is 1,000"),
        ({"query": "a", "max_results": "5"}, "max_results must be a whole number from 1 to 10, not '5'"),
        ({"query": "a", "max_results": True}, "max_results must be a whole number from 1 to 10, not True"),
        ({"query": "a", "max_results": 2.5}, "max_results must be a whole number from 1 to 10, not 2.5"),
        ({"query": "a", "tenant": "t-2"}, "conversation_search has no field 'tenant'; its fields are query, max_res"),
        ({"query": "a", "project_id": ""}, "project_id is blank"),
    ],
)
def test_a_bad_argument_is_told_by_field_value_and_limit(birds: Recall, given_: dict[str, object], told: str) -> None:
    assert told in refused(birds, "now", "conversation_search", **given_)


@pytest.mark.parametrize("query", ['"heron" AND (lake', "heron*", "NEAR(heron lake)", "ne\x00st heron", "\udc97 heron"])
def test_a_query_is_text_and_never_grammar(birds: Recall, query: str) -> None:
    assert ask(birds, "now", "conversation_search", query=query)["results"][0]["chat_id"] == "lake"


def test_null_is_as_good_as_left_out(birds: Recall) -> None:
    assert ask(birds, "now", "conversation_search", query="heron", project_id=None, max_results=None)["results"]


DAY = datetime(2026, 8, 17, tzinfo=UTC)
scored = st.lists(st.tuples(st.floats(0, 10), st.none() | st.integers(0, 3_000).map(lambda d: DAY + timedelta(days=d))))


@given(scored)
def test_freshness_re_orders_near_ties_only(pairs: list[tuple[float, datetime | None]]) -> None:
    order = fresh_first([(score, at, (score, place)) for place, (score, at) in enumerate(pairs)])
    assert sorted(order) == sorted((score, place) for place, (score, _) in enumerate(pairs))
    assert all(later[0] <= earlier[0] * (1 + NEAR) + 1e-9 for i, earlier in enumerate(order) for later in order[i:])


def test_the_newer_of_two_about_equal_results_comes_first() -> None:
    old, new = DAY, DAY + timedelta(days=60)
    assert fresh_first([(1.0, old, "old"), (0.97, new, "new")]) == ["new", "old"]
    assert fresh_first([(1.0, old, "old"), (0.9, new, "new")]) == ["old", "new"]


def test_a_link_may_be_made_by_a_function_and_quotes_the_id(manager: Manager) -> None:
    said(manager, "a/b c", "heron")
    made = recall(manager, chat_url=lambda chat, first: f"app:{chat}:{first}")
    assert ask(made, None, "conversation_search", query="heron")["results"][0]["url"] == "app:a/b c:1"
    formatted = recall(manager, chat_url="https://x.test/{chat_id}")
    assert ask(formatted, None, "conversation_search", query="heron")["results"][0]["url"] == "https://x.test/a%2Fb%20c"


@pytest.mark.parametrize("chat_url", ["{tenant}", "{0}", "{chat_id", "{chat_id.x}"])
def test_a_format_that_makes_no_links_is_refused(manager: Manager, chat_url: str) -> None:
    with pytest.raises(InputError, match="chat_url="):
        recall(manager, chat_url=chat_url)
