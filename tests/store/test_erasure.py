"""Erasing reaches every copy: in every table, in every file of the store, and only there."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contextmgr import Conversation, ErasedError, Manager, NotFoundError, StoreBusyError
from contextmgr.store import tables
from contextmgr.store.state_base import AuditRecord

SECRET = "blue heron protocol"
OTHER = "grey heron protocol"
MODEL = "claude-sonnet-5-5"
TOOLS = [{"name": "read", "input_schema": {"type": "object"}}]
TABLES = tables.METADATA.tables


def test_every_table_says_how_a_turn_reaches_it() -> None:
    assert set(tables.REACH) == set(TABLES)


def test_every_table_but_the_shared_ones_has_an_owner() -> None:
    free = {tables.Reach.NONE, tables.Reach.SHARED}
    assert {n for n, t in TABLES.items() if {"tenant", "conv"} - set(t.columns.keys())} == {
        name for name, reach in tables.REACH.items() if reach in free
    }


def said(text: str, **more: object) -> dict[str, object]:
    return {"role": "assistant", "model": MODEL, "content": [{"type": "text", "text": text}], **more}


def calls(identity: str, path: str) -> dict[str, object]:
    block = {"type": "tool_use", "id": identity, "name": "read", "input": {"path": path}}
    return {"role": "assistant", "model": MODEL, "stop_reason": "tool_use", "content": [block]}


def result(identity: str, content: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": identity, "content": content}


def ask(chat: Conversation, **more: object) -> int:
    given = {"model": MODEL, "max_tokens": 500, "system": f"system of {chat.id}", "tools": TOOLS} | more
    return chat.assemble(**given).number  # type: ignore[arg-type]


def plant(chat: Conversation, phrase: str) -> dict[str, int]:
    """Put a phrase everywhere that a turn can be copied to; returns the turns that said it, by what they are."""
    said_in = {"pinned": chat.add_user(f"Keep the {phrase}.", pin=True, metadata={"note": phrase}, key=phrase).number}
    said_in["pinned late"] = chat.add_user(f"I once saw a {phrase}.").number
    ask(chat)
    said_in["asked"] = chat.add_reply(said(f"May I use the {phrase}?")).number
    said_in["approved"] = chat.add_user(f"Yes, {phrase}.", pin="approval", context=said_in["asked"]).number
    ask(chat)
    said_in["called"] = chat.add_reply(calls("t1", phrase)).number
    chat.add_tool_results([result("t1", f"{phrase} " * 4_000)])
    keep(chat, phrase, said_in)
    ask(chat)
    said_in["interrupted"] = chat.add_reply(calls("t2", "x")).number
    said_in["quoted"] = chat.add_user(f"Never mind. About the {phrase}: never share it.").number
    chat.pins.add(said_in["quoted"], quote=f"the {phrase}: never")
    chat.add_tool_results([result("t2", f"late {phrase}")])
    ask(chat)
    chat.add_reply(said("fine"))
    said_in["withdrawn"] = chat.add_user(f"No, the {phrase}.").number
    chat.withdraw(said_in["withdrawn"], f"about the {phrase}")
    chat.add_user("Go on.")
    ask(chat)
    chat.add_reply(said("done"))
    for i in range(12):  # the first turns leave the window; their pins move to the preface
        chat.add_user(f"step {i} " + "and so on " * 200)
        ask(chat, max_tokens=501 + i)
        chat.add_reply(said("done"))
    chat.add_user("What was that?")
    chat.pins.add(said_in["pinned late"])
    ask(chat)
    chat.pins.add(chat.add_user(f"And once more the {phrase}.").number)
    said_in["revoked"] = chat.history.count()
    chat.pins.revoke(chat.pins.list()[-1].id, f"no more {phrase}")
    ask(chat)
    return said_in


def keep(chat: Conversation, phrase: str, said_in: dict[str, int]) -> None:
    """Put a phrase into facts and notes, and into the record of a search."""
    chat.facts.set("protocol", f"{phrase} of old", turn=said_in["pinned"])
    chat.facts.set("protocol", phrase, turn=said_in["approved"])
    chat.facts.set("everywhere", phrase, turn=said_in["pinned"], scope="user")
    with chat._store.writing(chat.scope) as tx:
        chat._keeping.set_note(tx, chat.id, "plan", f"look for the {phrase}", via=said_in["called"])
        now = datetime.now(UTC)
        tx.state.audit(AuditRecord(action="search", conversation="c", turn=said_in["asked"], query=phrase, at=now))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def planted(file: Path) -> Iterator[tuple[Conversation, Conversation, dict[str, int]]]:
    """Two conversations that said a phrase each, and the turns of the first."""
    with Manager(file, profile=6_000) as manager:
        chat = manager.conversation("c", tenant="acme", title=f"about the {SECRET}")
        other = manager.conversation("c", tenant="else")
        turns = plant(chat, SECRET)
        plant(other, OTHER)
        yield chat, other, turns


def by_table(file: Path, phrase: str) -> dict[str, int]:
    """How many rows of each table hold a phrase, in any column, as text or as escaped JSON."""
    with closing(sqlite3.connect(file)) as connection:
        rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in TABLES}
    return {name: n for name, found in rows.items() if (n := sum(phrase in str(row) for row in found))}


def in_files(file: Path, phrase: str) -> dict[str, int]:
    """How often the bytes of a phrase stand in each file of a store."""
    counts = {f.name: f.read_bytes().count(phrase.encode()) for f in file.parent.iterdir()}
    return {name: n for name, n in counts.items() if n}


Planted = tuple[Conversation, Conversation, dict[str, int]]


def test_the_phrase_is_everywhere_at_first(planted: Planted, file: Path) -> None:
    assert set(by_table(file, SECRET)) == {
        *("conversation", "turn", "result", "pin", "epoch", "view", "fact", "note", "audit"),
    }
    assert in_files(file, SECRET)


def test_as_form_attachment_and_part_of_the_preface(planted: Planted, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT kind, block FROM view").fetchall()
        parts = [p for (text,) in connection.execute("SELECT preface FROM epoch") for p in json.loads(text)]
    assert {kind for kind, block in rows if SECRET in block} == {"form", "late", "pin", "state"}
    assert {kind for kind, block, *_ in parts if SECRET in str(block)} == {"pin", "context", "state"}


def erase_all_turns(planted: Planted) -> None:
    chat, _, turns = planted
    for number in turns.values():
        chat.erase_turn(number)


def test_erased_turns_are_in_no_table_and_no_file(planted: Planted, file: Path) -> None:
    erase_all_turns(planted)
    planted[0]._store.scrub()
    assert by_table(file, SECRET) == {"conversation": 1}  # the title is the caller's, and goes with the conversation
    planted[0].erase()
    planted[0]._store.close()
    assert in_files(file, SECRET) == {}


@pytest.mark.parametrize(
    "which", ["pinned", "pinned late", "asked", "approved", "called", "interrupted", "quoted", "withdrawn", "revoked"]
)
def test_one_erased_turn_takes_its_own_words_with_it(planted: Planted, file: Path, which: str) -> None:
    chat, _, turns = planted
    others = {n: chat.history.turn(n) for n in turns.values() if n != turns[which]}
    chat.erase_turn(turns[which])
    assert {n: chat.history.turn(n) for n in others} == others
    assert chat.history.turn(turns[which]).text == ""
    for name, number in turns.items():
        if name != which:
            chat.erase_turn(number)
    assert by_table(file, SECRET) == {"conversation": 1}


def test_an_erased_conversation_is_in_no_table_and_no_file(planted: Planted, file: Path) -> None:
    planted[0].erase()
    assert by_table(file, SECRET) == {}
    assert by_table(file, "system of c") == {"head": 1}  # the other's
    planted[0]._store.close()
    assert in_files(file, SECRET) == {}


def test_the_head_goes_with_the_last_conversation_that_used_it(planted: Planted, file: Path) -> None:
    for chat in planted[:2]:
        chat.erase()
    assert by_table(file, "system of c") == {}


@pytest.mark.parametrize("erase", [erase_all_turns, lambda planted: planted[0].erase()])
def test_others_are_untouched(planted: Planted, file: Path, erase: Callable[[Planted], None]) -> None:
    other = planted[1]
    numbers = range(1, ask(other) + 1)
    before = by_table(file, OTHER), other.history.turns(), other.pins.list(every=True)
    requests = [other.request_at(n) for n in numbers]
    erase(planted)
    assert (by_table(file, OTHER), other.history.turns(), other.pins.list(every=True)) == before
    assert [other.request_at(n) for n in numbers] == requests


def test_erasing_twice_is_fine(planted: Planted) -> None:
    chat, _, turns = planted
    for _ in range(2):
        chat.erase_turn(turns["pinned"])
    for _ in range(2):
        chat.erase()
    with pytest.raises(NotFoundError):
        chat.add_user("x")


def test_requests_that_showed_it_say_so(planted: Planted) -> None:
    chat, _, turns = planted
    shows = [n for n in range(1, ask(chat) + 1) if f"Yes, {SECRET}." in str(chat.request_at(n).params)]
    assert len(shows) > 10
    chat.erase_turn(turns["approved"])
    for number in shows:
        with pytest.raises(ErasedError, match=f"request {number}"):
            chat.request_at(number)


def test_the_next_request_is_valid_without_it(planted: Planted) -> None:
    chat, _, turns = planted
    ask(chat)
    for number in turns.values():
        chat.erase_turn(number)
        chat.add_user("And now?")
        request = chat.assemble(model=MODEL, max_tokens=500, system="s", tools=TOOLS)
        assert request.report.why == "broken"
        assert number not in {p.turn for p in chat.pins.list()}
        chat.add_reply(said("well"))
    assert SECRET not in str(request.params)


def test_an_open_turn_can_be_erased(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("read it")
        number = chat.add_reply(calls("t1", SECRET)).number
        chat.erase_turn(number)
        assert ask(chat) == 1


def test_a_late_result_erased_before_it_was_shown_is_not_shown(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("read it")
        number = chat.add_reply(calls("t1", "x")).number
        chat.add_user("never mind")
        chat.add_tool_results([result("t1", SECRET)])
        chat.erase_turn(number)
        assert SECRET not in str(chat.request_at(ask(chat)).params)


def test_erasing_while_another_reads_says_that_the_log_still_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with Manager(file, wait=0.05) as manager, closing(sqlite3.connect(file, isolation_level=None)) as reader:
        chat = manager.conversation("c", tenant="t")
        chat.add_user(SECRET)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM turn").fetchone()
        with pytest.raises(StoreBusyError, match="erase again"):
            chat.erase_turn(1)
        reader.execute("COMMIT")
        chat.erase_turn(1)
        assert in_files(file, SECRET) == {}
