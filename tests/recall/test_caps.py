"""The caps: of one excerpt, one result, one call, and all calls of one assistant turn, over large chats."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager
from contextmgr.errors import InputError
from contextmgr.recall import CAPS, Caps
from tests.recall.talk import MINE, START, ask, audits, call, recall, refused, said, tokens

CHATS = 8
SIZE = 90_000  # tokens of each chat


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Manager]:
    """Eight chats of 90,000 tokens each, in turns of about 3,000, and one that asks."""
    path: Path = tmp_path_factory.mktemp("large") / "a.db"
    with Manager(path, profile="support-chat", background=False, clock=lambda: START) as manager:
        for chat in range(CHATS):
            said(manager, f"chat-{chat}", *(body(chat, n) for n in range(30)), day=chat)
        manager.flush(timeout=300)
        said(manager, "now", "What did we say about the heron survey?", day=CHATS)
        yield manager


def body(chat: int, number: int) -> str:
    """About 3,000 tokens; every part of it says something of the heron survey."""
    filler = " ".join(f"item {chat}-{number}-{n} checked" for n in range(420))
    return f"The heron survey {chat} report {number}: {filler} heron survey ends at lake {chat * 100 + number}."


def size(result: dict[str, Any]) -> int:
    return tokens(result["content"][0]["text"])


def test_the_chats_are_as_large_as_said(large: Manager) -> None:
    with large._store.reading(MINE) as tx:
        turns = tx.turns("chat-0", 1, 30)
    assert sum(tokens(t.text) for t in turns) >= SIZE
    assert len(turns) == 30


def test_a_search_stays_within_the_caps_of_excerpt_result_and_call(large: Manager) -> None:
    result = recall(large).handle("now", call("conversation_search", query="heron survey lake", max_results=10))
    answer = json.loads(result["content"][0]["text"])
    assert size(result) <= CAPS.call
    assert all(tokens(r["excerpt"]) <= CAPS.excerpt for r in answer["results"])
    assert all(tokens(json.dumps(r)) <= CAPS.result for r in answer["results"])
    assert len(answer["results"]) >= 4
    left = 10 - len(answer["results"])
    assert answer["left_out"] == f"{left} more would not fit; use a narrower query, or read one of the chats"


def test_reading_stays_within_the_cap_of_a_call(large: Manager) -> None:
    result = recall(large).handle("now", call("read_turns", chat_id="chat-3", first=1, last=20))
    answer = json.loads(result["content"][0]["text"])
    assert 0.9 * CAPS.call < size(result) <= CAPS.call
    assert answer["read_on"]["first"] == 1
    assert answer["read_on"]["last"] == 20


def test_a_list_stays_within_the_cap_of_a_call_and_goes_on(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile="support-chat", background=False) as manager:
        names = [f"{n:02}-" + "an id that is very long indeed " * 12 for n in range(20)]
        for n, name in enumerate(names):
            said(manager, name, "x", title="a long title " * 20, day=n)
        seen, given = [], {"count": 20}
        while given:
            result = recall(manager).handle(None, call("recent_chats", **given))
            assert size(result) <= CAPS.call
            answer = json.loads(result["content"][0]["text"])
            seen += [c["chat_id"] for c in answer["chats"]]
            given = {"count": 20, "cursor": answer["next_cursor"]} if "next_cursor" in answer else {}
        assert seen == names[::-1]


def test_all_calls_of_one_turn_stay_within_one_cap(large: Manager) -> None:
    go_on(large, 1)
    spent, number = 0, 0
    while not (result := recall(large).handle("now", read(number))).get("is_error"):
        spent, number = spent + size(result), number + 1
    assert CAPS.turn - CAPS.call < spent <= CAPS.turn
    assert f"the limit is {CAPS.turn:,}" in result["content"][0]["text"]
    go_on(large, 2)
    assert ask(recall(large), "now", "recent_chats", number=900)["chats"]


def go_on(manager: Manager, hour: int) -> None:
    """Begin a new turn, with the whole cap before it."""
    at = START + timedelta(days=CHATS, hours=hour)
    manager.conversation("now", tenant="t").add_user(f"Go on, {hour}.", said_at=at)


def read(number: int) -> dict[str, Any]:
    return call("read_turns", 100 + number, chat_id="chat-1", first=number + 1, last=number + 9)


def test_calls_side_by_side_share_the_cap(large: Manager) -> None:
    go_on(large, 3)
    recalling = recall(large)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda n: recalling.handle("now", read(50 + n)), range(8)))
    given = [size(r) for r in results if not r.get("is_error")]
    assert sum(given) <= CAPS.turn
    assert len(given) < 8


def test_the_same_call_again_takes_no_more_room(large: Manager) -> None:
    go_on(large, 4)
    texts = {str(recall(large).handle("now", read(70))) for _ in range(5)}
    assert len(texts) == 1


def test_outside_of_a_conversation_each_call_has_its_cap(large: Manager) -> None:
    results = [recall(large).handle(None, read(n)) for n in range(4)]
    assert all(0.9 * CAPS.call < size(r) <= CAPS.call for r in results)


def test_an_answer_that_cannot_fit_at_all_is_refused(manager: Manager) -> None:
    said(manager, "old", "heron")
    tight = recall(
        manager, caps=Caps(excerpt=20, result=20, call=20, turn=20), chat_url="https://x.test/" + "long/" * 99
    )
    assert "tokens; there is room for 20" in refused(tight, None, "read_turns", chat_id="old", first=1)


@pytest.mark.parametrize("given", [{"excerpt": 10}, {"result": 100}, {"call": 300}, {"turn": 1_000}])
def test_caps_that_contradict_each_other_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(InputError, match="does not work"):
        Caps(**given)


def test_the_audit_says_how_much_each_call_brought(manager: Manager) -> None:
    said(manager, "old", "heron")
    recalling = recall(manager)
    result = recalling.handle(None, call("conversation_search", query="heron"))
    assert audits(manager)[0].found[-1] == {"tokens": size(result), "call": "toolu_1"}
    assert "has no field" in refused(recalling, None, "conversation_search", q=1)
