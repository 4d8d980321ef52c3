"""Descriptions of finished episodes: found by their words, held against their turns, gone with any turn they read."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.describing import STRETCH, plain
from contextmgr.errors import InputError
from contextmgr.store.description_base import Description, DescriptionStatus
from contextmgr.writers import WriterError
from tests.field_reports.talk import reply, text

START = datetime(2026, 8, 17, 9, tzinfo=UTC)
ANSWER: dict[str, Any] = {
    "description": "The nightly export failed: the quota on volume ark-2 was reached.",
    "turns": [1, 2],
    "references": [{"turn": 3, "phrase": "the second one", "meaning": "raise the quota", "turns": [2]}],
}


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


def told(manager: Manager, name: str = "c") -> Conversation:
    """An episode of four turns, and the beginning of another a day later."""
    chat = manager.conversation(name, tenant="t")
    for number, said in enumerate(
        [
            "Why did the nightly export fail?",
            "The quota on volume ark-2 was reached. Either delete files, or raise the quota.",
            "Then do the second one.",
            "Done, it is 40 GB now.",
            "What shall we have for lunch tomorrow, soup or bread?",
            "Soup.",
        ]
    ):
        at = START + timedelta(minutes=number, days=number // 4)
        if number % 2:
            chat.add_reply(reply(text(said)), said_at=at)
        else:
            chat.add_user(said, said_at=at)
    return chat


def opened(writer: Any, file: Path | str = "sqlite://", clock: Callable[[], datetime] | None = None) -> Manager:
    return Manager(file, background=False, describer=writer, clock=clock or Clock())


def writing(**changes: Any) -> Callable[[str, Mapping[str, Any]], Mapping[str, Any]]:
    return lambda prompt, schema: ANSWER | changes


def rows(chat: Conversation) -> list[Description]:
    with chat._store.reading(chat.scope) as tx:
        return tx.descriptions.all(chat.id)


def found(chat: Conversation, query: str) -> list[int]:
    return [h.turn for h in chat._searcher.search(chat.id, query, 8)]  # past the audit, which keeps what was asked


def test_a_finished_episode_is_described() -> None:
    with opened(writing()) as manager:
        chat = told(manager)
        assert manager.flush() == 0
        (row,) = rows(chat)
    assert (row.first, row.last, row.status, row.attempts) == (1, 4, DescriptionStatus.READY, 1)
    assert row.text == ANSWER["description"]
    assert [(r.turn, r.phrase, r.meaning) for r in row.references] == [(3, "the second one", "raise the quota")]
    assert [n for n, _ in row.coverage] == [1, 2, 3, 4]


def test_its_words_find_its_turns() -> None:
    with opened(writing()) as manager:
        chat = told(manager)
        before = chat.search("raise the quota")
        assert 3 not in [h.turn for h in before if h.share > 0.5]
        manager.flush()
        assert {1, 2, 3} <= {h.turn for h in chat.search("raise the quota") if h.share > 0.3}
        assert found(chat, "ark-2 volume")[:2] in ([1, 2], [2, 1])


def test_what_is_indexed_later_gets_the_words_too() -> None:
    with opened(writing()) as manager:
        chat = told(manager)
        assert manager._workers._describing is not None
        manager._workers._describing.flush(9)  # before anything is indexed
        manager.flush()
        assert 1 in found(chat, "ark-2")


def test_the_prompt_holds_the_turns_and_the_day() -> None:
    asked: list[str] = []

    def writer(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(prompt)
        return ANSWER

    with opened(writer) as manager:
        told(manager)
        manager.flush()
    (prompt,) = asked
    assert all(part in prompt for part in ("volume ark-2", "17 August 2026", "turns 1 to 4"))
    assert "lunch" not in prompt


@pytest.mark.parametrize(
    "changes",
    [
        {"description": "The nightly export failed: the quota on volume ark-9 was reached."},
        {"description": "Fifty zebras were counted on 3 May 2019 by Mr Kowalczyk."},
        {"turns": [99]},
        {"turns": []},
        {"description": " "},
        {"description": "x" * 700},
    ],
)
def test_what_the_turns_do_not_say_is_not_kept(changes: dict[str, Any]) -> None:
    with opened(writing(**changes)) as manager:
        chat = told(manager)
        manager.flush()
        (row,) = rows(chat)
    assert "ark-9" not in row.text
    assert "zebra" not in row.text.lower()
    assert row.status is DescriptionStatus.PLAIN or row.text in "The quota on volume ark-2 was reached."


@pytest.mark.parametrize(
    "change",
    [
        {"phrase": "the third one"},
        {"turn": 2},
        {"turn": 77},
        {"meaning": "raise the quota to 77 GB"},
        {"turns": [5]},
        {"meaning": ""},
    ],
)
def test_references_that_do_not_hold_are_left_out(change: dict[str, Any]) -> None:
    with opened(writing(references=[ANSWER["references"][0] | change])) as manager:
        chat = told(manager)
        manager.flush()
        (row,) = rows(chat)
    assert (row.status, row.references) == (DescriptionStatus.READY, ())


def test_a_failure_is_tried_again_and_then_given_up_with_its_reason() -> None:
    calls = []

    def writer(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        calls.append(prompt)
        raise TimeoutError("busy")

    clock = Clock()
    with opened(writer, clock=clock) as manager:
        chat = told(manager)
        left = []
        for _ in range(6):
            left.append(manager.flush())
            clock.now += timedelta(hours=1)
        (row,) = rows(chat)
    assert (left, len(calls)) == ([1, 1, 0, 0, 0, 0], 3)
    assert (row.status, row.attempts) == (DescriptionStatus.PLAIN, 3)
    assert "too late" in str(row.error)
    assert row.text == "Why did the nightly export fail? Done, it is 40 GB now."


def test_it_is_not_tried_again_at_once() -> None:
    calls = []

    def writer(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        calls.append(prompt)
        raise WriterError("too late", "busy", retry_after=3_600)

    clock = Clock()
    with opened(writer, clock=clock) as manager:
        told(manager)
        for minutes in (0, 1, 58):
            clock.now += timedelta(minutes=minutes)
            manager.flush()
        assert len(calls) == 1
        clock.now += timedelta(minutes=2)
        manager.flush()
    assert len(calls) == 2


def test_without_a_model_it_is_described_and_not_indexed() -> None:
    with opened("plain") as manager:
        chat = told(manager)
        assert manager.flush() == 0
        (row,) = rows(chat)
    assert (row.status, row.writer, row.words) == (DescriptionStatus.PLAIN, "plain", {})
    assert row.text == "Why did the nightly export fail? Done, it is 40 GB now."


def test_off_by_default() -> None:
    with opened(None) as manager:
        chat = told(manager)
        manager.flush()
        assert rows(chat) == []


def test_an_unknown_describer() -> None:
    with pytest.raises(InputError, match="describer='extractive'"):
        Manager("sqlite://", describer="extractive")  # type: ignore[arg-type]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[tuple[Conversation, Manager, Path]]:
    file = tmp_path / "a.db"
    with opened(writing(), file) as manager:
        chat = told(manager)
        manager.flush()
        yield chat, manager, file


def test_erasing_a_turn_erases_what_read_it(stored: tuple[Conversation, Manager, Path]) -> None:
    chat, manager, file = stored
    chat.erase_turn(2)
    (row,) = rows(chat)
    assert (row.text, row.references, row.coverage) == ("", (), ())
    assert found(chat, "ark-2 volume quota") == []
    assert manager.flush() == 0
    assert found(chat, "ark-2 volume quota") == []
    assert found(chat, "nightly export")[0] == 1
    with closing(sqlite3.connect(file)) as connection:
        dump = "\n".join(connection.iterdump())
    assert "ark-2" not in dump


def test_erasing_the_conversation_leaves_nothing(stored: tuple[Conversation, Manager, Path]) -> None:
    chat, _, file = stored
    chat.erase()
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM search_description").fetchone() == (0,)


def test_a_turn_erased_while_it_is_read_keeps_nothing(tmp_path: Path) -> None:
    holder: list[Conversation] = []

    def writer(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        holder[0].erase_turn(2)
        return ANSWER

    with opened(writer, tmp_path / "a.db") as manager:
        holder.append(told(manager))
        manager.flush()
        assert [row.text for row in rows(holder[0])] == [""]


def test_other_tenants_see_nothing(stored: tuple[Conversation, Manager, Path]) -> None:
    _, manager, _ = stored
    assert rows(manager.conversation("c", tenant="u")) == []


def test_a_killed_process_loses_no_episode(tmp_path: Path) -> None:
    def dies(prompt: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        raise KeyboardInterrupt

    clock = Clock()
    with opened(dies, tmp_path / "a.db", clock) as manager:
        chat = told(manager)
        with chat._store.writing(chat.scope) as tx:  # as when it dies between the lease and the answer
            tx.descriptions.put(chat.id, Description(first=1, last=4))
            leased = tx.descriptions.lease(chat.id, 1, 10)
            assert leased is not None
            assert tx.descriptions.lease(chat.id, 5, 10) is None
        manager._workers._describing = None
    clock.now += timedelta(hours=1)
    with opened(writing(), tmp_path / "a.db", clock) as manager:
        chat = manager.conversation("c", tenant="t")
        manager.flush()
        assert [(row.status, row.attempts) for row in rows(chat)] == [(DescriptionStatus.READY, 2)]


def test_a_long_episode_is_described_in_stretches() -> None:
    with opened("plain") as manager:
        chat = manager.conversation("c", tenant="t")
        for number in range(STRETCH + 40):
            chat.add_user(f"heron {number}", said_at=START + timedelta(seconds=number))
        manager.flush()
        assert [(row.first, row.last) for row in rows(chat)] == [(1, STRETCH)]


def test_a_plain_line_is_what_was_said() -> None:
    with opened(None) as manager:
        turns = told(manager).history.turns()
    assert plain(turns[:2]) == "Why did the nightly export fail? Either delete files, or raise the quota."
    assert plain([]) == ""


def test_the_first_episode_gives_a_title_that_goes_with_its_turns() -> None:
    with opened(writing()) as manager:
        told(manager)
        manager.conversation("named", tenant="t", title="Lunch")
        told(manager, "named")
        manager.flush()
        titles = {c.id: c.title for c in manager.conversations(tenant="t")}
        assert titles == {"c": "The nightly export failed: the quota on volume ark-2 was reached.", "named": "Lunch"}
        manager.conversation("c", tenant="t").erase_turn(2)
        assert {c.id: c.title for c in manager.conversations(tenant="t")} == {"c": None, "named": "Lunch"}
