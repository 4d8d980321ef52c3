"""Indexing: off the reply path, resumable, bounded; and what of a turn can be found."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.indexing import PENDING, WRITTEN, Indexer, index_text
from contextmgr.retrieval.tails import FRESH, TAIL
from contextmgr.store.search_statements import CHECK
from contextmgr.store.sqlite import SqliteStore
from contextmgr.turns import Turn
from tests.field_reports.talk import call, reply, result, run, step, text, thinking


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with Manager(tmp_path / "a.db", background=False) as manager:
        yield manager


@pytest.fixture
def chat(manager: Manager) -> Conversation:
    return manager.conversation("c", tenant="t")


def upto(chat: Conversation) -> int:
    with chat._store.reading(chat.scope) as tx:
        return tx.search.state(chat.id).upto


def found(chat: Conversation, query: str) -> list[int]:
    return [h.turn for h in chat.search(query)]


def said(*blocks: dict[str, Any], results: tuple[dict[str, Any], ...] = ()) -> str:
    with Manager("sqlite://", background=False) as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("go")
        turn: Turn = chat.add_reply(reply(*blocks))
        return index_text(chat.add_tool_results(results) if results else turn)


def test_words_names_arguments_and_results_are_searched() -> None:
    found = said(text("Looking."), call("t1", "read_log", path="dal/orders.py"), results=(result("t1", "1,204 rows"),))
    assert all(part in found for part in ("Looking.", "read_log", "dal/orders.py", "1,204 rows"))


def test_thinking_and_encoded_data_are_not() -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" * 90}}
    found = said(thinking("heron", "c2ln"), call("t1"), results=(result("t1", [block, text("QUJDREVG" * 60)]),))
    assert not any(part in found for part in ("heron", "c2ln", "iVBORw0KGgo", "QUJDREVGQUJDREVG"))


def test_a_long_result_is_searched_by_its_ends() -> None:
    found = said(call("t1"), results=(result("t1", f"alpha {'line of log ' * 2_000} omega"),))
    assert "alpha" in found
    assert "omega" in found
    assert len(found) < 2_500


def test_nothing_is_indexed_on_the_reply_path_until_there_is_a_batch(chat: Conversation, manager: Manager) -> None:
    for i in range(5):
        chat.add_user(f"heron {i}")
    assert upto(chat) == 0
    assert manager.flush() == 0
    assert upto(chat) == 5


def test_a_thread_indexes_a_batch(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager:
        chat = manager.conversation("c", tenant="t")
        for i in range(PENDING):
            chat.add_user(f"heron {i}")
        manager._workers._indexing.flush(10)  # waits for the thread
        assert upto(chat) == PENDING


def test_what_was_just_said_is_found(chat: Conversation, manager: Manager) -> None:
    chat.add_user("The blue heron protocol.")
    assert found(chat, "heron") == [1]
    manager.flush()
    chat.add_user("The grey heron protocol.")
    assert sorted(found(chat, "heron protocol")) == [1, 2]


def test_indexed_or_not_the_answer_is_the_same(chat: Conversation, manager: Manager) -> None:
    for i in range(40):
        chat.add_user(f"Day {i}: the heron was seen at post {i % 7}, wind {i % 5}." + " and so on" * (i % 4))
    before = chat.search("heron at post 3 with wind 2")
    manager.flush()
    after = chat.search("heron at post 3 with wind 2")
    assert [h.turn for h in after[:1]] == [h.turn for h in before[:1]]
    assert {h.turn for h in after[:4]} == {h.turn for h in before[:4]}


def test_closing_indexes_what_is_left(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", background=False) as manager:
        manager.conversation("c", tenant="t").add_user("heron")
    with Manager(tmp_path / "a.db", background=False) as manager:
        assert upto(manager.conversation("c", tenant="t")) == 1


def test_closing_without_time_says_what_is_left(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    manager = Manager(tmp_path / "a.db", background=False)
    chat = manager.conversation("c", tenant="t")
    for _ in range(3):
        chat.add_user("heron")
    manager.close(timeout=0)
    assert "3 turns are not indexed" in caplog.text


def test_indexing_stops_between_turns_and_goes_on(chat: Conversation, manager: Manager) -> None:
    for i in range(WRITTEN + 8):
        chat.add_user(f"heron {i}")
    for reached in (5, 10):
        steps = iter(range(5))
        Indexer(chat._store, chat.scope).run(chat.id, lambda: next(steps, None) is not None)  # noqa: B023 run at once
        assert upto(chat) == reached
    assert manager.flush() == 0
    assert upto(chat) == WRITTEN + 8


def test_an_open_turn_waits_for_its_results(chat: Conversation, manager: Manager) -> None:
    chat.add_user("go")
    chat.add_reply(reply(call("t1")))
    assert manager.flush() == 0
    assert upto(chat) == 1
    chat.add_tool_results([result("t1", "a heron")])
    assert 2 in found(chat, "heron")
    manager.flush()
    assert 2 in found(chat, "heron")


def test_a_late_result_is_indexed_with_its_turn(chat: Conversation, manager: Manager) -> None:
    chat.add_user("go")
    chat.add_reply(reply(call("t1")))
    chat.add_user("never mind")
    manager.flush()
    chat.add_tool_results([result("t1", "a heron")])
    assert manager.flush() == 0
    assert 2 in found(chat, "heron")


def test_a_turn_that_cannot_be_read_is_recorded_and_given_up(
    chat: Conversation, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(turn: Turn) -> str:
        if turn.number == 2:
            raise ValueError("unreadable")
        return turn.text

    for i in range(3):
        chat.add_user(f"heron {i}")
    monkeypatch.setattr("contextmgr.indexing.index_text", refuse)
    assert [manager.flush() for _ in range(5)] == [1] * 5
    with chat._store.reading(chat.scope) as tx:
        (failed,) = tx.search.unread(chat.id, 99, 9)
    assert (failed.number, failed.error, failed.attempts) == (2, "ValueError", 3)
    assert sorted(found(chat, "heron")) == [1, 3]


KILLED = """
import os, signal, sys
from contextmgr import Manager
from contextmgr.indexing import Indexer
manager = Manager(sys.argv[1], background=False)
chat = manager.conversation("c", tenant="t")
for i in range(600):
    chat.add_user(f"heron{i} protocol")
steps = iter(range(300))
def going():
    if next(steps, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
    return True
Indexer(manager._store, chat.scope).run("c", going)
"""


def test_killing_the_process_loses_no_row(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert run(KILLED, file).returncode == -9
    with Manager(file, background=False) as manager:
        chat = manager.conversation("c", tenant="t")
        assert 0 < upto(chat) < 600
        assert manager.flush() == 0
        assert upto(chat) == 600
        assert [found(chat, f"heron{i}")[0] for i in (0, 255, 256, 511, 599)] == [1, 256, 257, 512, 600]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT n) FROM search_text").fetchone() == (600, 600)
        connection.execute(CHECK)


KILLED_THREAD = """
import os, signal, sys
from contextmgr import Manager
from contextmgr.store.search_rows import SearchRows
manager = Manager(sys.argv[1])
chat = manager.conversation("c", tenant="t")
for i in range(300):
    chat.add_user(f"heron{i} protocol")
put = SearchRows.put
def dying(self, conversation, units, unread, upto):
    put(self, conversation, units, unread, upto)
    if upto > 64:
        os.kill(os.getpid(), signal.SIGKILL)  # inside the transaction
SearchRows.put = dying
manager.flush()
"""


def test_killing_a_thread_that_writes_loses_no_row(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    assert run(KILLED_THREAD, file).returncode == -9
    with Manager(file) as manager:
        chat = manager.conversation("c", tenant="t")
        assert 0 < upto(chat) < 300
        assert manager.flush() == 0
        assert [found(chat, f"heron{i}")[0] for i in (0, 63, 64, 65, 299)] == [1, 64, 65, 66, 300]
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*), count(DISTINCT n) FROM search_text").fetchone() == (300, 300)
        connection.execute(CHECK)


def test_only_a_bounded_tail_is_searched_before_it_is_indexed(chat: Conversation, manager: Manager) -> None:
    for i in range(TAIL + 10):
        chat.add_user(f"heron{i} protocol")
    assert found(chat, "heron9") == []
    assert found(chat, "heron10")[0] == 11
    manager.flush()
    assert found(chat, "heron9")[0] == 10


def test_a_tail_is_analysed_once(chat: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(5):
        chat.add_user(f"heron {i}")
    found(chat, "heron")
    monkeypatch.setattr("contextmgr.retrieval.tails.index_text", lambda turn: f"tern {turn.number}")
    chat.add_user("heron 5")
    assert set(found(chat, "heron")[:5]) == {1, 2, 3, 4, 5}
    assert found(chat, "tern")[0] == 6


def test_long_turns_of_a_tail_are_analysed_a_few_at_a_time(chat: Conversation, manager: Manager) -> None:
    chat.add_user("heron, tern")
    for i in range(3):
        chat.add_user(f"heron{i} " + "protocol and ledger " * (FRESH // 30))
    assert found(chat, "tern") == []  # the newest come first
    assert found(chat, "tern")[0] == 1


def test_a_result_that_comes_is_found_though_its_turn_was_analysed(chat: Conversation) -> None:
    chat.add_user("go")
    chat.add_reply(reply(call("t1")))
    assert found(chat, "heron") == []
    chat.add_tool_results([result("t1", "a heron")])
    assert 2 in found(chat, "heron")


def test_two_that_index_the_same_leave_one_row_each(chat: Conversation, manager: Manager) -> None:
    for i in range(10):
        chat.add_user(f"heron {i}")
    for _ in range(2):
        Indexer(chat._store, chat.scope).run(chat.id, lambda: True)
    chat.search("heron")
    with chat._store.reading(chat.scope) as tx:
        assert tx.search.state(chat.id).units == 10


def test_statistics_stay_right_through_erasing(chat: Conversation, manager: Manager) -> None:
    for i in range(10):
        chat.add_user(f"heron {i} protocol")
    manager.flush()
    for number in (3, 3, 7):
        chat.erase_turn(number)
    with chat._store.reading(chat.scope) as tx:
        state = tx.search.state(chat.id)
        units = tx.search.units(chat.id, range(1, 11))
        assert (state.units, state.terms) == (8, sum(u.length for u in units))
        assert sum(tx.search.episode_terms(chat.id, {u.episode or 0 for u in units}).values()) == state.terms
    assert isinstance(chat._store, SqliteStore)
    chat._store._connect().execute(CHECK)


def test_tool_rounds_are_found_by_their_calls(chat: Conversation) -> None:
    chat.add_user("go")
    step(chat, "t1", "fine", path="dal/orders.py")
    assert found(chat, "dal/orders.py")[0] == 2
    assert found(chat, "orders.py")[0] == 2


def test_whoever_is_overtaken_by_another_process_goes_on(chat: Conversation) -> None:
    for i in range(4 * WRITTEN):
        chat.add_user(f"heron {i}")
    other = Indexer(chat._store, chat.scope)
    overtaken = iter([False, True])  # once, while the first batch is read

    def going() -> bool:
        if next(overtaken, False):
            other.run(chat.id, iter([True, *[True] * WRITTEN, *[False] * 99]).__next__)
        return True

    Indexer(chat._store, chat.scope).run(chat.id, going)
    assert upto(chat) == 4 * WRITTEN


def test_all_turns_that_changed_are_indexed_again(chat: Conversation, manager: Manager) -> None:
    for i in range(5 * WRITTEN):
        chat.add_user(f"heron {i}")
    manager.flush()
    with chat._store.writing(chat.scope) as tx:
        for number in range(1, 5 * WRITTEN + 1):
            tx.search.outdate(chat.id, number)
    Indexer(chat._store, chat.scope).run(chat.id, lambda: True)
    with chat._store.reading(chat.scope) as tx:
        assert tx.search.unread(chat.id, 9, 9) == []
