"""How the search tables number conversations, so that the chats of a scope are one stretch of the full-text table."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from contextmgr.ranking import Unit
from contextmgr.scope import Scope, Visibility
from contextmgr.store import ConversationRecord
from contextmgr.store.chat_statements import CHAT_BITS
from contextmgr.store.fts_text import any_of
from contextmgr.store.search_statements import CHECK
from contextmgr.store.sqlite import SqliteStore

NOW = datetime(2026, 9, 1, tzinfo=UTC)
ONE, TWO = Scope(tenant="t", user="one"), Scope(tenant="t", user="two")


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    store = SqliteStore(None)
    yield store
    store.close()


def indexed(
    store: SqliteStore, scope: Scope, name: str, *texts: str, visibility: Visibility = Visibility.NORMAL
) -> int:
    """Begin a conversation and index turns of it; returns its number."""
    with store.writing(scope) as tx:
        tx.create_conversation(ConversationRecord(id=name, visibility=visibility, created_at=NOW, updated_at=NOW))
        units = [Unit.of(n, "user", text, episode=1) for n, text in enumerate(texts, 1)]
        tx.search.put(name, units, (), len(units))
        number = tx.search.number(name)
    assert number is not None
    return number


def test_chats_of_a_scope_follow_each_other(store: SqliteStore) -> None:
    numbers = [indexed(store, scope, name, "heron") for name in "abc" for scope in (ONE, TWO)]
    assert {n >> CHAT_BITS for n in numbers[::2]} == {1}
    assert {n >> CHAT_BITS for n in numbers[1::2]} == {2}
    assert len(set(numbers)) == 6


def test_a_private_chat_stands_apart(store: SqliteStore) -> None:
    numbers = [indexed(store, ONE, v.value, "heron", visibility=v) for v in Visibility]
    assert len({n >> CHAT_BITS for n in numbers}) == 3


def test_counts_stay_the_scopes_own_when_its_stretch_is_full(store: SqliteStore) -> None:
    indexed(store, ONE, "a", "heron")
    indexed(store, TWO, "b", *["heron"] * 50)
    full = (2 << CHAT_BITS) - 1
    with store.writing(ONE) as tx:
        tx.erase_conversation("a")
    indexed(store, ONE, "a")  # no rows, so that its number can be moved
    store._connect().execute("UPDATE search_state SET number = ? WHERE units = 0", (full,))
    assert indexed(store, ONE, "c", "heron") >> CHAT_BITS > full >> CHAT_BITS
    with store.reading(ONE) as tx:
        assert tx.search.chats.holding(["heron"], 10) == {"heron": 1}
        assert [m.length for m in tx.search.chats.matches([["heron"]], 10, ())] == [1]


def test_erasing_leaves_an_index_without_a_trace(store: SqliteStore) -> None:
    indexed(store, ONE, "a", "heron", "tern")
    with store.writing(ONE) as tx:
        tx.search.share("a", False)
        tx.erase_turn("a", 1)
        tx.search.share("a", True)
        tx.erase_conversation("a")
        assert tx.search.chats.state().units == 0
    store._connect().execute(CHECK)


@pytest.mark.parametrize(
    ("needed", "query"),
    [
        ([["a"]], '("a")'),
        ([["a", "b"], ["c"]], '("c") OR ("a" AND (("b")))'),
        ([["a", "b"], ["a", "c"]], '("a" AND (("b") OR ("c")))'),
        ([["a"], ["a", "b"]], '("a")'),
        ([['x" OR "y']], '("x_22__20_or_20__22_y")'.replace("or", "_4f__52_")),
    ],
)
def test_groups_share_their_beginning(needed: list[list[str]], query: str) -> None:
    assert any_of(needed) == query
