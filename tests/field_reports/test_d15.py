"""D15: what was erased is in no index, no shadow table and no file, and takes no hit's place.

The other copies of a turn are in tests/store/test_erasure.py; here are those that searching makes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from contextmgr import ErasedError, Manager
from contextmgr.conversation import Conversation
from contextmgr.embedders import FunctionEmbedder
from contextmgr.store.search_statements import CHECK
from tests.field_reports.talk import ask, call, profile, prose, reply, result, text, texts_in

PHRASE = "blue heron protocol"
WORDS = ("heron", "protocol")
EMBEDDER = FunctionEmbedder(
    "letters", 26, lambda texts: [[t.count(chr(97 + i)) + 0.1 for i in range(26)] for t in texts]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def chats(file: Path) -> Iterator[tuple[Conversation, Conversation]]:
    """A conversation whose turn 3 and one tool result hold the phrase, all indexed and quoted, and another tenant's."""
    with Manager(file, profile=profile(6_000), background=False, embedder=EMBEDDER) as manager:
        made = []
        for tenant in ("t-1", "t-2"):
            chat = manager.conversation("talk", tenant=tenant)
            for i in range(60):
                chat.add_user(f"Follow the {PHRASE} in this house." if i == 1 else f"Number {i}. {prose(60)}")
                chat.add_reply(reply(text("Done. " + prose(60))))
            chat.add_user("Read it.")
            chat.add_reply(reply(call("t1")))
            chat.add_tool_results([result("t1", f"log of the {PHRASE}")])
            chat.add_user("What did I say of the heron protocol?")
            chat.withdraw(chat.history.count() - 1, "a trial")
            manager.flush()
            assert any(PHRASE in t for t in texts_in(ask(chat)) if t.startswith("[Earlier"))
            made.append(chat)
        yield made[0], made[1]


def holding(chat: Conversation) -> list[int]:
    return [t.number for t in chat.history.turns() if "heron" in str((t.blocks, t.results))]


def erase_turns(chat: Conversation) -> None:
    for number in holding(chat):
        chat.erase_turn(number)


WAYS: list[Callable[[Conversation], None]] = [erase_turns, lambda chat: chat.erase()]


def words_in(file: Path) -> set[str]:
    """The words that the full-text table still knows, those of erased turns included, if any were left."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'search_fts', 'row')")
        return {row[0] for row in connection.execute("SELECT term FROM temp.vocabulary")}


@pytest.mark.parametrize("erase", WAYS, ids=["turns", "conversation"])
def test_d15_no_table_and_no_file_holds_it(
    chats: tuple[Conversation, Conversation], file: Path, erase: Callable[[Conversation], None]
) -> None:
    numbers = holding(chats[0])
    for chat in chats:
        erase(chat)
    with closing(sqlite3.connect(file)) as connection:
        names = [r[0] for r in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {n for n in names for row in connection.execute(f'SELECT * FROM "{n}"') if "heron" in str(row)}
        vectors = connection.execute("SELECT n FROM search_vector").fetchall()
        connection.execute(CHECK)
    assert found == set()
    assert not {row[0] for row in vectors} & set(numbers)
    assert words_in(file).isdisjoint(WORDS)
    chats[0]._store.close()
    assert [f.name for f in file.parent.iterdir() if b"heron" in f.read_bytes()] == []


def test_d15_before_that_all_of_them_do(chats: tuple[Conversation, Conversation], file: Path) -> None:
    assert words_in(file).issuperset(WORDS[:1])
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM search_text WHERE terms LIKE '% heron %'").fetchone()[0] >= 4


@pytest.mark.parametrize("erase", WAYS, ids=["turns", "conversation"])
def test_d15_other_tenants_still_find_theirs(
    chats: tuple[Conversation, Conversation], erase: Callable[[Conversation], None]
) -> None:
    before = chats[1].search("heron protocol")
    erase(chats[0])
    assert chats[1].search("heron protocol") == before


def test_d15_live_turns_take_its_place(chats: tuple[Conversation, Conversation]) -> None:
    chat = chats[0]
    assert 3 in [h.turn for h in chat.search("heron number 7", k=3)]
    erase_turns(chat)
    hits = chat.search("heron number 7", k=3)
    assert len(hits) == 3
    assert not {h.turn for h in hits} & {3, 122}
    assert all("heron" not in h.excerpt for h in hits)


def test_d15_a_request_that_quoted_it_says_so(chats: tuple[Conversation, Conversation]) -> None:
    chat = chats[0]
    number = ask(chat).number
    chat.erase_turn(3)
    with pytest.raises(ErasedError):
        chat.request_at(number)
    assert PHRASE not in str(ask(chat).params)


def test_d15_what_is_indexed_meanwhile_does_not_come_back(file: Path) -> None:
    with Manager(file, background=False) as manager:
        chat = manager.conversation("talk", tenant="t-1")
        chat.add_user(PHRASE)
        chat.erase_turn(1)
        manager.flush()
        assert chat.search(PHRASE) == []
    assert words_in(file).isdisjoint(WORDS)
