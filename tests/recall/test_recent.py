"""recent_chats: by time of last use, with a cursor that visits each chat once."""

from __future__ import annotations

import pytest

from contextmgr import Manager
from contextmgr.recall import Recall, made_title
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord
from tests.recall.talk import MINE, START, ask, recall, refused, said


@pytest.fixture
def week(manager: Manager) -> Recall:
    for day in range(7):
        said(manager, f"day-{day}", f"Plan number {day}.", "Done.", day=day)
    said(manager, "now", "What were my last few chats?", day=7)
    return recall(manager)


def ids(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [chat["chat_id"] for chat in answer["chats"]]


def test_my_last_few_chats_newest_first_without_this_one(week: Recall) -> None:
    answer = ask(week, "now", "recent_chats", count=3)
    assert ids(answer) == ["day-6", "day-5", "day-4"]
    assert answer["notes"] == ["this chat itself is not in the list"]


def test_a_chat_is_told_with_title_times_and_turns(week: Recall) -> None:
    (chat,) = ask(week, None, "recent_chats", count=1, order="oldest")["chats"]
    assert chat == {
        "chat_id": "day-0",
        "title": "Plan number 0.",
        "first_used": "2026-08-17T09:30:00+00:00",
        "last_used": "2026-08-17T09:31:00+00:00",
        "turns": 2,
        "url": None,
    }


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 20])
def test_a_walk_by_cursor_visits_each_chat_once(week: Recall, order: str, count: int) -> None:
    seen: list[str] = []
    given: dict[str, object] = {"count": count, "order": order}
    while (answer := ask(week, "now", "recent_chats", number=len(seen), **given)) and "next_cursor" in answer:
        seen += ids(answer)
        given["cursor"] = answer["next_cursor"]
    expected = [f"day-{n}" for n in range(7)]
    assert seen + ids(answer) == (expected if order == "oldest" else expected[::-1])


def test_chats_used_at_the_same_moment_are_each_visited_once(manager: Manager) -> None:
    for name in "abcde":
        said(manager, name, "Hello there.")
    first = ask(recall(manager), None, "recent_chats", count=2)
    rest = ask(recall(manager), None, "recent_chats", count=9, cursor=first["next_cursor"])
    assert ids(first) + ids(rest) == list("abcde")


def test_a_span_of_days_is_half_open_in_the_zone_of_the_conversation(manager: Manager) -> None:
    said(manager, "before-midnight-in-tokyo", "a", day=0)  # 18:30 on the 17th there
    said(manager, "now", "b", day=5, zone="Asia/Tokyo")
    recalling = recall(manager)
    assert ids(ask(recalling, "now", "recent_chats", after="2026-08-17", before="2026-08-18")) != []
    assert ids(ask(recalling, "now", "recent_chats", after="2026-08-18")) == []
    assert ids(ask(recalling, "now", "recent_chats", before="2026-08-17T18:30")) == []
    assert ids(ask(recalling, "now", "recent_chats", after="2026-08-17T09:30:00Z")) != []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"before": "yesterday"}, "before must be a date as YYYY-MM-DD or an ISO 8601 time"),
        ({"after": "2026-02-30"}, "after must be a date as YYYY-MM-DD"),
        ({"after": "0001-01-01T00:00+14:00"}, "after must be a date as YYYY-MM-DD"),
        ({"before": "2026-08-01", "after": "2026-08-02"}, "must be later than after="),
        ({"order": "random"}, "order must be one of 'newest', 'oldest', not 'random'"),
        ({"order": ["newest"]}, "order must be one of"),
        ({"count": None, "page": 2}, "recent_chats has no field 'page'"),
        ({"cursor": "zzz"}, "cursor='zzz' is not one; give next_cursor"),
        ({"cursor": "é"}, "is not one; give next_cursor"),
        ({"cursor": "WzEsMl0="}, "is not one; give next_cursor"),
    ],
)
def test_a_bad_argument_is_told(week: Recall, given: dict[str, object], told: str) -> None:
    assert told in refused(week, "now", "recent_chats", **given)


def test_a_cursor_goes_with_its_order(week: Recall) -> None:
    cursor = ask(week, "now", "recent_chats", count=1)["next_cursor"]
    assert "cursor belongs to order='newest'" in refused(week, "now", "recent_chats", cursor=cursor, order="oldest")


def test_excluded_incognito_and_empty_chats_are_never_listed(manager: Manager) -> None:
    for visibility in (Visibility.EXCLUDED, Visibility.INCOGNITO):
        record = ConversationRecord(id=visibility.value, visibility=visibility, created_at=START, updated_at=START)
        with manager._store.writing(MINE) as tx:
            tx.create_conversation(record)
        said(manager, visibility.value, "A secret.")
    said(manager, "empty")
    assert ids(ask(recall(manager), None, "recent_chats")) == []


def test_further_projects_are_in_one_order_and_can_be_narrowed(manager: Manager) -> None:
    for day, project in enumerate(("red", "blue", "green")):
        said(manager, f"in-{project}", "x", day=day, scope=Scope(tenant="t", project=project))
    recalling = recall(manager, Scope(tenant="t", project="red"), projects=("blue",))
    both = ask(recalling, None, "recent_chats")["chats"]
    assert [(c["chat_id"], c.get("project_id")) for c in both] == [("in-blue", "blue"), ("in-red", None)]
    assert ids(ask(recalling, None, "recent_chats", project_id="blue")) == ["in-blue"]
    assert ids(ask(recalling, None, "recent_chats", project_id="red")) == ["in-red"]


@pytest.mark.parametrize("project", ["green", "*", "%", "never-was"])
def test_a_project_that_may_not_be_read_answers_like_one_with_nothing_in_it(manager: Manager, project: str) -> None:
    said(manager, "in-green", "x", scope=Scope(tenant="t", project="green"))
    recalling = recall(manager, Scope(tenant="t", project="red"), projects=("blue",))
    empty = ask(recalling, None, "recent_chats", project_id="blue")
    assert ask(recalling, None, "recent_chats", project_id=project) == empty == {"chats": []}


@pytest.mark.parametrize(
    ("request_", "title"),
    [
        ("Hello! Can you fix the flaky login test?", "Can you fix the flaky login test?"),
        ("## Task\n\n- Write the **DAL** layer", "Task"),
        ("```py\nx = 1\n```\nWhy is this slow?", "Why is this slow?"),
        (
            "Fix it. " + "Then go on with the next thing. " * 9,
            "Fix it. Then go on with the next thing. Then go on with…",
        ),
        ("Rename the handler in dal/orders.py. Then run the tests.", "Rename the handler in dal/orders.py."),
        ("!!!\n\n", ""),
        ("a" * 99, "a" * 59 + "…"),
        ("two\x00 words\u202e here", "two words here"),
    ],
)
def test_a_title_is_one_clean_line_of_the_first_request(request_: str, title: str) -> None:
    made = made_title(request_)
    assert made.replace("\ufffd", "").replace("  ", " ") == title
    assert len(made) <= 60
    assert made.isprintable()


def test_the_callers_title_comes_first(manager: Manager) -> None:
    said(manager, "a", "Something else.", title="Garden\nplans " + "x" * 200)
    (chat,) = ask(recall(manager), None, "recent_chats")["chats"]
    assert chat["title"].startswith("Garden plans x")
    assert len(chat["title"]) == 120


def test_a_title_goes_on_after_a_colon() -> None:
    assert made_title("Implement the following plan:\n\n# Rounding in ledger.py\nx") == (
        "Implement the following plan: Rounding in ledger.py"
    )


def test_a_time_at_the_edge_of_the_calendar_is_told(manager: Manager) -> None:
    said(manager, "now", "When?", zone="America/New_York")
    edge = "0001-01-01T00:00:00+00:00"
    assert "must be later" in refused(recall(manager), "now", "recent_chats", before=edge, after=edge)
