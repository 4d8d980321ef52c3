"""D09: what is searched for is text, never grammar, and an error is never reported as "nothing found"."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from contextmgr.conversation import Conversation
from contextmgr.errors import InputError, StoreError
from contextmgr.indexing import Indexer
from contextmgr.store.sqlite import SqliteStore
from tests.field_reports.talk import opened

SAID = [
    r"pre-flight ORD-4471 C:\temp\a.log",
    "don't retry",
    "A::B 12.5 GB/s",
    "allow writes but NOT reads on replica",
    "TODO: fix",
]
LITERALS = [
    *((text, number) for number, text in enumerate(SAID, 1)),
    *(("ORD-4471", 1), ("ord 4471", 1), (r"C:\temp\a.log", 1), ("a.log", 1), ("pre-flight", 1), ("A::B", 3)),
    *(("12.5 GB/s", 3), ("writes NOT reads", 4), ("writes AND reads", 4), ("NOT replica", 4), ("TODO:", 5)),
    *(('"retry', 2), ("(retry", 2), ("retry*", 2), ("retry NEAR don't", 2), ("{replica}^", 4), ("terms:replica", 4)),
]
NOTHING = ["", "   ", "*", "--", "\x00", "🦜", "()", '"', "''", "?!", "AND", "^", ":", "scope:", "\ud800", "\n\t"]
HARMLESS = [
    *('"hello', "(open", "NEAR", "NEAR(", "C++", "foo/bar", "what happened?", "a" * 30_000, "x OR", "- - -"),
    "a\x00b",
]


@pytest.fixture(params=["indexed", "just said"])
def chat(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Conversation]:
    with opened(tmp_path / "a.db") as chat:
        for text in SAID:
            chat.add_user(text)
        for i in range(30):
            chat.add_user(f"Nothing of note on day {i}, the weather was as usual.")
        if request.param == "indexed":
            index(chat)
        yield chat


def index(chat: Conversation) -> None:
    """What the manager's thread does, done here and now."""
    Indexer(chat._store, chat.scope).run(chat.id, lambda: True)


@pytest.mark.parametrize(("query", "turn"), LITERALS)
def test_d09_every_literal_finds_its_own_turn(chat: Conversation, query: str, turn: int) -> None:
    assert turn in [h.turn for h in chat.search(query, k=3)]


@pytest.mark.parametrize("query", NOTHING)
def test_d09_what_holds_no_word_finds_nothing(chat: Conversation, query: str) -> None:
    assert chat.search(query) == []


@pytest.mark.parametrize("query", HARMLESS)
def test_d09_no_text_is_an_error(chat: Conversation, query: str) -> None:
    assert len(chat.search(query, k=3)) <= 3


@pytest.mark.parametrize("query", [None, 7, b"retry", ["retry"]])
def test_d09_what_is_no_text_is(chat: Conversation, query: object) -> None:
    with pytest.raises(InputError, match="query"):
        chat.search(query)  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 101, True, 2.5, None])
def test_d09_nor_is_a_number_of_hits(chat: Conversation, k: object) -> None:
    with pytest.raises(InputError, match="k must be"):
        chat.search("retry", k=k)  # type: ignore[arg-type]


def test_d09_an_engine_error_is_not_an_empty_answer(chat: Conversation) -> None:
    index(chat)
    store = chat._store
    assert isinstance(store, SqliteStore)
    store._connect().execute("DROP TABLE search_fts")
    with pytest.raises(StoreError, match="search_fts"):
        chat.search("retry")
