"""Importing again: nothing twice, nothing lost, nothing changed, wherever a recording was cut before."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextmgr import Scope, open_store
from contextmgr.importing import Found, Import, Imported, Outcome, beyond, files_in, read_file
from contextmgr.importing.naming import conversation_name
from contextmgr.importing.storing import add_piece
from contextmgr.store import Store
from contextmgr.transcripts import Session, read_recorded
from contextmgr.transcripts.recorded_file import parse
from contextmgr.turns import Turn
from tests.transcripts.lines import ClaudeLines, call, result, text

WRITTEN = datetime(2026, 3, 2, tzinfo=UTC)
MINE = Scope(tenant="t")
Lines = Sequence[dict[str, Any]]


class Place:
    """A store in memory and an import into it."""

    def __init__(self) -> None:
        self.store: Store = open_store("sqlite://")
        self.importing = Import(self.store, MINE)

    def add(self, lines: Lines, name: str = "c") -> Imported:
        return self.importing.add(Found(name=name, session=session_of(lines), written=WRITTEN))

    def turns(self, name: str = "c") -> list[Turn]:
        with self.store.reading(MINE) as tx:
            record = tx.conversation(name)
            return tx.turns(name, 1, record.last_turn) if record is not None else []

    def title(self, name: str = "c") -> str | None:
        with self.store.reading(MINE) as tx:
            record = tx.conversation(name)
            return record.title if record is not None else None


@pytest.fixture
def place() -> Iterator[Place]:
    place = Place()
    yield place
    place.importing.close()


def session_of(lines: Lines, file: str = "test.jsonl") -> Session:
    return read_recorded(parse(file, "\n".join(map(json.dumps, lines))))[0]


def said(turns: Sequence[Turn]) -> tuple[list[Any], list[Any]]:
    """What turns hold: the blocks said, in order, and the results."""
    blocks = [(t.role, json.dumps(b)) for t in turns for b in t.blocks]
    return blocks, sorted(json.dumps(r.body, sort_keys=True) for t in turns for r in t.results)


def talk() -> list[dict[str, Any]]:
    lines = ClaudeLines()
    return [
        lines.user("Where is the config read?"),
        lines.reply("m1", {"type": "thinking", "thinking": "hm", "signature": "c2ln"}),
        lines.reply("m1", text("I look."), call("a"), stop_reason="tool_use"),
        lines.reply("m1", call("b")),
        lines.user([result("a", "config.py")]),
        lines.user([result("b", "nothing")]),
        lines.reply("m2", text("In config.py.")),
        lines.user("And tested?"),
        lines.reply("m3", text("In test_config.py.")),
    ]


def test_a_session_becomes_a_conversation(place: Place) -> None:
    done = place.add(talk())
    assert (done.outcome, done.turns, done.reason) == (Outcome.NEW, 5, None)
    assert [t.role for t in place.turns()] == ["user", "assistant", "assistant", "user", "assistant"]
    assert place.title() == "Where is the config read?"


def test_thinking_is_kept_with_its_signature(place: Place) -> None:
    place.add(talk())
    assert place.turns()[1].blocks[0] == {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def test_again_adds_nothing(place: Place) -> None:
    place.add(talk())
    before = place.turns()
    assert (place.add(talk()).outcome, place.turns()) == (Outcome.UNCHANGED, before)


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_session_that_grew_is_gone_on_from(place: Place, cut: int) -> None:
    place.add(talk()[:cut])
    done = place.add(talk())
    whole = Place()
    whole.add(talk())
    assert (done.outcome, done.reason) == (Outcome.CONTINUED, None)
    assert said(place.turns()) == said(whole.turns())
    whole.importing.close()


@st.composite
def recordings(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Claude Code lines as they are written while a session lasts: one block a line, results as they come."""
    lines, made, number = ClaudeLines(), [], 0
    made.append(lines.user("begin"))
    for message in range(draw(st.integers(1, 5))):
        calls = []
        for _ in range(draw(st.integers(1, 3))):
            number += 1
            block = draw(st.sampled_from([text(f"words {number}"), call(f"call_{number}")]))
            calls += [block["id"]] if block["type"] == "tool_use" else []
            made.append(lines.reply(f"m{message}", block))
        made += [lines.user([result(one, f"result of {one}")]) for one in draw(st.permutations(calls))]
        if draw(st.booleans()):
            made.append(lines.user(f"go on {message}"))
    return made


@given(recordings(), st.lists(st.floats(0, 1), max_size=3))
@settings(max_examples=40)
def test_wherever_it_was_cut_before_the_outcome_is_the_same(lines: Lines, cuts: list[float]) -> None:
    parts, whole = Place(), Place()
    for cut in sorted(cuts):
        parts.add(lines[: 1 + int(cut * (len(lines) - 1))])
    assert parts.add(lines).reason is None
    whole.add(lines)
    assert said(parts.turns()) == said(whole.turns())
    assert parts.add(lines).outcome is Outcome.UNCHANGED
    for each in (parts, whole):
        each.importing.close()


def test_a_reply_that_waits_for_results_goes_on_once_they_are_there(place: Place) -> None:
    lines = talk()
    place.add(lines[:3])
    assert place.add(lines[:4]).turns == 0
    assert place.turns()[-1].is_open
    assert place.add(lines).turns == 4
    assert [len(t.calls) for t in place.turns()] == [0, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("changed", [0, 2, 4, 6])
def test_a_changed_past_is_told_and_left_alone(place: Place, changed: int) -> None:
    lines = talk()
    place.add(lines)
    before = place.turns()
    lines[changed] = json.loads(json.dumps(lines[changed]).replace("conf", "prof").replace("I look", "I see"))
    more = ClaudeLines()
    more.count = 100
    done = place.add([*lines, more.user("more")])
    assert (done.outcome, done.turns, place.turns()) == (Outcome.CHANGED, 0, before)
    assert done.reason is not None
    assert "the past cannot be changed" in done.reason


def test_a_recording_that_was_cut_short_changes_nothing(place: Place) -> None:
    place.add(talk())
    assert place.add(talk()[:4]).outcome is Outcome.UNCHANGED


def test_what_was_erased_stays_erased(place: Place) -> None:
    place.add(talk()[:7])
    chat = place.importing._manager.conversation("c", tenant="t")
    chat.erase_turn(1)
    chat.erase_turn(2)
    done = place.add(talk())
    assert (done.outcome, done.turns, done.reason) == (Outcome.CONTINUED, 2, None)
    assert [len(t.blocks) for t in place.turns()] == [0, 0, 1, 1, 1]
    assert all(not t.results for t in place.turns())


def test_two_imports_at_once_store_it_once(place: Place) -> None:
    """The second has seen nothing of what the first one stores."""
    lines = talk()
    pieces = beyond(session_of(lines).events, ())
    place.add(lines)
    chat = place.importing._manager.conversation("c", tenant="t")
    for piece in pieces:
        add_piece(chat, piece, WRITTEN)
    assert len(place.turns()) == 5


def test_times_are_those_recorded(place: Place) -> None:
    lines = talk()
    for minute, line in enumerate(lines):
        line["timestamp"] = f"2026-03-01T10:{minute:02}:00.000Z"
    place.add(lines)
    with place.store.reading(MINE) as tx:
        (record,) = tx.conversations(2)
    assert [t.said_at.minute for t in place.turns() if t.said_at] == [0, 1, 6, 7, 8]
    assert (record.created_at.minute, record.updated_at.minute) == (0, 8)


def test_a_recording_without_times_ends_when_its_file_was_written(place: Place) -> None:
    messages = {"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]}
    (session,) = read_recorded(parse("a.json", json.dumps(messages)))
    place.importing.add(Found(name="c", session=session, written=WRITTEN))
    assert [t.said_at for t in place.turns()] == [WRITTEN - timedelta(seconds=5), WRITTEN]


def test_the_clients_own_messages_are_marked(place: Place) -> None:
    lines = ClaudeLines()
    place.add(
        [
            lines.user("<bash-stdout>x</bash-stdout>", isMeta=True),
            lines.user("List the files"),
            lines.reply("m", text("ho")),
        ]
    )
    assert [t.metadata.get("human", True) for t in place.turns()] == [False, True, True]
    assert place.turns()[0].metadata["source"] == "u1"
    assert place.title() == "List the files"


def test_nothing_is_pinned_by_importing(place: Place) -> None:
    place.add(talk())
    with place.store.reading(MINE) as tx:
        assert tx.pins("c") == []


def test_a_title_that_was_recorded_comes_first(place: Place) -> None:
    place.add(talk())
    place.add([*talk(), {"type": "custom-title", "customTitle": "Config reading", "sessionId": "s"}])
    assert place.title() == "Where is the config read?"  # nothing was added: nothing is touched
    more = ClaudeLines()
    more.count = 50
    place.add(
        [*talk(), {"type": "custom-title", "customTitle": "Config reading", "sessionId": "s"}, more.user("thanks")]
    )
    assert place.title() == "Config reading"


@pytest.mark.parametrize(
    ("file", "ids", "name"),
    [
        ("old.jsonl", ["one", "one"], "one"),
        ("one.jsonl", ["one", "two"], "one"),
        ("x.jsonl.gz", ["one", "two"], "two"),
        ("x.jsonl", ["one", " "], "one"),
    ],
)
def test_a_conversation_is_named_by_the_session(file: str, ids: list[str], name: str) -> None:
    made = ClaudeLines()
    lines = [{**made.user(f"said {i}"), "sessionId": one} for i, one in enumerate(ids)]
    recorded = parse(file, "\n".join(map(json.dumps, lines)))
    assert conversation_name(recorded, read_recorded(recorded)[0]) == name


def test_recordings_without_an_id_are_told_apart_by_how_they_begin(tmp_path: Path) -> None:
    names = []
    for place, opening in enumerate(("first", "second")):
        file = tmp_path / str(place) / "session.json"
        file.parent.mkdir()
        messages = [{"role": "user", "content": opening}, {"role": "assistant", "content": "ok"}]
        file.write_text(json.dumps([{"messages": messages}, {"messages": messages}]), encoding="utf-8")
    for file in files_in([tmp_path]):
        names += [found.name for found in read_file(file)]
    assert len(set(names)) == 4
    assert all(name.startswith("session-") for name in names)


@pytest.mark.parametrize(
    "name", ["claude-code-packmind", "claude-code-entire", "codex-agentv", "swe-agent", "pi-agent"]
)
def test_real_recordings_in_pieces_or_at_once(data_dir: Path, name: str) -> None:
    file = min((data_dir / "trajectories" / name).glob("*.gz"), key=lambda f: f.stat().st_size)
    (first, *_) = read_file(files_in([file])[0])
    events = first.session.events
    parts, whole = Place(), Place()
    for cut in (1, len(events) // 3, len(events) // 2, len(events)):
        found = Found(name="c", session=Session(file="f", format="x", index=0, events=events[:cut]), written=WRITTEN)
        assert parts.importing.add(found).reason is None
    assert whole.importing.add(found).reason is None
    assert said(parts.turns()) == said(whole.turns())
    assert len(whole.turns()) > 10
    for each in (parts, whole):
        each.importing.close()
