"""Searching all chats of a scope at once: bounded, comparable, and never across a scope or into a private chat."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks.histories import reads
from contextmgr import Manager
from contextmgr.conversation import Conversation
from contextmgr.errors import InputError
from contextmgr.retrieval import ChatHit, Searcher
from contextmgr.retrieval.tails import TAIL
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord
from contextmgr.store.search_statements import CHECK
from contextmgr.store.sqlite import SqliteStore

SECRET = "The gate code for dock 4 is 7731."
NOW = datetime(2026, 9, 1, tzinfo=UTC)


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Manager]:
    with Manager(tmp_path / "a.db", background=False) as manager:
        yield manager


def chats(manager: Manager, query: str, k: int = 8, scope: Scope | None = None, **more: Any) -> list[ChatHit]:
    return Searcher(manager._store, scope or Scope(tenant="t"), len).search_chats(query, k, **more)


def places(hits: list[ChatHit]) -> list[tuple[str, int]]:
    return [(h.conversation, h.hit.turn) for h in hits]


def said(manager: Manager, name: str, *texts: str, **scope: Any) -> Conversation:
    chat = manager.conversation(name, **{"tenant": "t", **scope})
    for text in texts:
        chat.add_user(text)
    return chat


def private(manager: Manager, name: str, visibility: Visibility, *texts: str) -> Conversation:
    record = ConversationRecord(id=name, visibility=visibility, created_at=NOW, updated_at=NOW)
    with manager._store.writing(Scope(tenant="t")) as tx:
        tx.create_conversation(record)
    return said(manager, name, *texts)


def test_the_best_turn_of_all_chats_is_first(manager: Manager) -> None:
    said(manager, "one", "We had lunch.", "The heron nests by the lake.")
    said(manager, "two", "A heron flew by.", "It rained.")
    manager.flush()
    assert places(chats(manager, "where does the heron nest"))[0] == ("one", 2)
    assert {("one", 2), ("two", 1)} <= set(places(chats(manager, "heron")))


def test_titles_come_along(manager: Manager) -> None:
    manager.conversation("one", tenant="t", title="Birds").add_user("heron")
    assert chats(manager, "heron")[0].title == "Birds"
    manager.flush()
    assert chats(manager, "heron")[0].title == "Birds"


def test_scores_do_not_hang_on_which_chat_says_it(manager: Manager) -> None:
    for i, bird in enumerate(("swift", "robin", "raven")):
        said(manager, f"c{i}", f"The heron and the {bird} have a ring.")
    manager.flush()
    said(manager, "c9", *["Filler about nothing much."] * 9)
    hits = chats(manager, "heron ring")
    assert len({round(h.hit.score, 6) for h in hits}) == 1
    assert places(hits) == [("c2", 1), ("c1", 1), ("c0", 1)]


def test_a_chat_can_be_left_out(manager: Manager) -> None:
    said(manager, "one", "heron, heron, heron")
    said(manager, "two", "a heron by the lake")
    for _ in range(2):
        assert places(chats(manager, "heron", without=["one", "unknown"])) == [("two", 1)]
        manager.flush()


def test_what_is_left_out_takes_no_place(manager: Manager) -> None:
    said(manager, "one", "a heron by the lake")
    said(manager, "two", *(f"heron {i}" for i in range(700)))
    manager.flush()
    assert places(chats(manager, "heron", without=["two"])) == [("one", 1)]


def test_the_newest_turns_are_found_before_they_are_indexed(manager: Manager) -> None:
    said(manager, "one", "a heron by the lake")
    manager.flush()
    said(manager, "one", "the heron left")
    said(manager, "two", "a grey heron")
    assert set(places(chats(manager, "heron"))) == {("one", 1), ("one", 2), ("two", 1)}


def test_reasons_and_twins_go_by_the_numbers_of_their_chat(manager: Manager) -> None:
    said(manager, "one", "filler")
    chat = said(manager, "two", "Where is the heron?", "By the lake.", "A ring was seen.", "A ring was seen.")
    manager.flush()
    found = {h.hit.turn: h.hit for h in chats(manager, "heron")}
    assert "beside turn 1" in found[2].reason
    first = chats(manager, "ring")[0].hit
    assert {first.turn, *first.also} == {3, 4}
    chat.withdraw(3, "wrong")
    assert places(chats(manager, "ring"))[0] == ("two", 4)


def test_neighbours_of_another_chat_lend_nothing(manager: Manager) -> None:
    said(manager, "one", "heron")
    said(manager, "two", "nothing here")
    manager.flush()
    assert places(chats(manager, "heron")) == [("one", 1)]


def test_withdrawn_and_erased_turns_are_not_found(manager: Manager) -> None:
    chat = said(manager, "one", "a heron", "two herons", "three herons")
    chat.withdraw(1, "wrong")
    for _ in range(2):
        assert set(places(chats(manager, "heron"))) == {("one", 2), ("one", 3)}
        manager.flush()
    chat.erase_turn(2)
    assert places(chats(manager, "heron")) == [("one", 3)]
    chat.erase()
    assert chats(manager, "heron") == []


FOREIGN = [
    {"tenant": "t-2", "user": "u", "project": "p"},
    {"tenant": "t", "user": "v", "project": "p"},
    {"tenant": "t", "user": "u", "project": "q"},
    {"tenant": "t", "user": "u", "project": None},
    {"tenant": "t", "user": None, "project": "p"},
    {"tenant": "t", "user": "p", "project": "u"},
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
@pytest.mark.parametrize("flushed", [True, False])
def test_d10_another_scope_changes_nothing(tmp_path: Path, foreign: dict[str, Any], flushed: bool) -> None:
    mine = Scope(tenant="t", user="u", project="p")
    found = []
    for many in (0, 500):
        with Manager(tmp_path / f"{many}.db", background=False) as manager:
            names = {"user": "u", "project": "p"}
            said(manager, "dock", *(f"Dock {i} was swept, the gate was shut." for i in range(20)), **names)
            said(manager, "other", SECRET, **names)
            said(manager, "dock", *[f"{SECRET} Again: {SECRET}"] * many, **foreign)
            if flushed:
                manager.flush()
            hits = chats(manager, "gate code dock 4", 30, mine)
            found.append([(h.conversation, replace(h.hit, said_at=None)) for h in hits])
    assert found[0] == found[1]
    assert (found[1][0][0], found[1][0][1].excerpt) == ("other", SECRET)


@pytest.mark.parametrize("visibility", [Visibility.EXCLUDED, Visibility.INCOGNITO])
def test_private_chats_are_found_by_their_own_search_only(manager: Manager, visibility: Visibility) -> None:
    said(manager, "one", "a boat")
    chat = private(manager, "two", visibility, *[SECRET] * 3)
    for _ in range(2):
        assert chats(manager, "gate code 7731") == []
        assert chat.search("gate code 7731")[0].excerpt == SECRET
        manager.flush()
    with manager._store.reading(Scope(tenant="t")) as tx:
        assert tx.search.chats.holding(["7731"], 100) == {"7731": 0}


def set_visibility(manager: Manager, name: str, visibility: Visibility) -> None:
    assert isinstance(manager._store, SqliteStore)
    connection = manager._store._connect()
    connection.execute("UPDATE conversation SET visibility = ? WHERE id = ?", (visibility.value, name))


def test_a_chat_that_becomes_private_is_no_longer_found(manager: Manager) -> None:
    chat = said(manager, "one", SECRET, "A boat.")
    manager.flush()
    set_visibility(manager, "one", Visibility.EXCLUDED)
    assert chats(manager, "gate code 7731") == []  # even before its rows are written anew
    for shared in (False, True, False, True):
        with manager._store.writing(Scope(tenant="t")) as tx:
            tx.search.share("one", shared)
        with manager._store.reading(Scope(tenant="t")) as tx:
            assert tx.search.chats.holding(["7731"], 100) == {"7731": int(shared)}
            assert tx.search.chats.state().units == 2 * shared
    set_visibility(manager, "one", Visibility.NORMAL)
    assert places(chats(manager, "gate code 7731"))[0] == ("one", 1)
    chat.erase_turn(1)
    assert isinstance(manager._store, SqliteStore)
    manager._store._connect().execute(CHECK)


def test_the_sums_are_those_of_the_chats(manager: Manager) -> None:
    for name in ("one", "two"):
        said(manager, name, "a heron by the lake", "a boat")
    said(manager, "three", "heron", user="u")
    manager.flush()
    with manager._store.reading(Scope(tenant="t")) as tx:
        each = [tx.search.state(name) for name in ("one", "two")]
        whole = tx.search.chats.state()
        assert (whole.units, whole.terms) == (sum(s.units for s in each), sum(s.terms for s in each))
        assert tx.search.chats.holding(["heron", "boat"], 100) == {"heron": 2, "boat": 2}
        assert tx.search.chats.holding(["heron"], 1) == {"heron": 4}  # reckoned from the first turn of four


@pytest.mark.parametrize("query", ["", "   ", "the of and", "!?", '"', "scope : x", "terms:heron OR c*"])
def test_no_query_raises_or_is_grammar(manager: Manager, query: str) -> None:
    said(manager, "one", "a boat")
    manager.flush()
    assert chats(manager, query) == []


@pytest.mark.parametrize(("query", "k"), [(7, 8), ("x", 0), ("x", 101), ("x", True)])
def test_what_cannot_be_asked(manager: Manager, query: Any, k: Any) -> None:
    with pytest.raises(InputError):
        chats(manager, query, k)


def test_what_is_read_does_not_grow_with_the_number_of_chats(manager: Manager) -> None:
    said(manager, "c", "a heron by the lake", "yes, by the lake")
    manager.flush()
    read = []
    for first, last in ((0, 10), (10, 60)):
        for i in range(first, last):
            said(manager, f"c{i}", "a boat at sea", "and nothing else")
        manager.flush()
        with reads(manager) as found:
            assert places(chats(manager, "heron"))[0] == ("c", 1)
        read.append(found.rows)
    assert read[0] == read[1]


def test_only_a_bounded_tail_is_read(manager: Manager) -> None:
    for name in "abcdef":
        said(manager, name, *(f"heron {name}{i}" for i in range(40)))
    found = places(chats(manager, "heron", 100))
    assert len(found) == TAIL
    assert {name for name, _ in found} == set("cdef")


def test_a_hit_is_what_its_own_chat_gives(manager: Manager) -> None:
    said(manager, "one", "The blue heron nests by the lake.", "A boat.")
    manager.flush()
    (across,) = chats(manager, "blue heron", 1)
    (inside,) = manager.conversation("one", tenant="t").search("blue heron", k=1)
    assert replace(across.hit, score=inside.score) == inside
