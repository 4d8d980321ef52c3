"""Every recorded session at hand: all of it is read, and the counts are those its collectors took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextmgr.transcripts import FORMATS, Said, Session, read_sessions
from tests.conftest import data_directory
from tests.transcripts.laws import check_laws

KINDS = {
    "claude-code": "claude-code",
    "codex": "codex",
    "pi": "pi",
    "swe-agent": "swe-agent",
    "tau-bench": "openai-messages",
}


def counted(*kinds: str) -> list[Any]:
    """What the collectors counted, per file of these kinds; without data, one empty entry whose test is skipped."""
    file = data_directory() / "manifest.json"
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else []
    found = [pytest.param(e, id=Path(e["file"]).name) for e in entries if e["kind"] in kinds]
    return found or [pytest.param({}, id="no data")]


def calls_of(session: Session) -> list[int]:
    return [len(reply.calls) for reply in session.replies]


def blocks_of(session: Session, kind: str) -> int:
    return sum(block["type"] == kind for event in session.events for block in event.blocks)


@pytest.mark.parametrize("entry", counted(*KINDS))
def test_a_file_is_read_whole(data_dir: Path, entry: dict[str, Any]) -> None:
    sessions = read_sessions(data_dir / entry["file"])
    assert {s.format for s in sessions} == {KINDS[entry["kind"]]} <= set(FORMATS)
    assert [s.index for s in sessions] == list(range(len(sessions)))
    for session in sessions:
        check_laws(session)


@pytest.mark.parametrize("entry", counted("claude-code"))
def test_claude_code_counts(data_dir: Path, entry: dict[str, Any]) -> None:
    (session,) = read_sessions(data_dir / entry["file"])
    made_by_client = entry["models"].get("<synthetic>", 0)
    assert session.skipped == made_by_client
    assert len(session.replies) == entry["asst"] - made_by_client
    calls = calls_of(session)
    assert (sum(calls), sum(c > 1 for c in calls)) == (entry["calls"], entry["par"])
    assert (session.client_compactions, blocks_of(session, "thinking")) == (entry["compact"], entry["think"])
    assert blocks_of(session, "image") == entry["imgs"]


@pytest.mark.parametrize("entry", counted("codex", "pi"))
def test_other_agents_counts(data_dir: Path, entry: dict[str, Any]) -> None:
    (session,) = read_sessions(data_dir / entry["file"])
    people = sum(isinstance(e, Said) and e.human for e in session.events)
    assert (people, session.client_compactions) == (entry["human"], entry["compact"])
    assert sum(c > 1 for c in calls_of(session)) == entry["par"]


def test_labels_find_their_messages(data_dir: Path) -> None:
    base = data_dir / "trajectories"
    labels = (base / "derived-labels" / "standing_instructions_gold.jsonl").read_text(encoding="utf-8")
    for label in map(json.loads, labels.splitlines()):
        locator = label["locator"]
        source = locator.get("uuid") or f"line:{locator['line_index0']}"
        events = [e for s in read_sessions(base / label["file"]) for e in s.events]
        (said,) = [e for e in events if isinstance(e, Said) and e.source == source]
        assert said.human
        assert label["text"] in "".join(b.get("text", "") for b in said.blocks)


def test_the_session_that_is_shipped(repository: Path) -> None:
    (session,) = read_sessions(repository / "examples" / "sessions" / "small-session.jsonl")
    check_laws(session)
    first = session.events[0]
    assert isinstance(first, Said)
    assert first.human
    assert (len(session.replies), session.skipped, session.format) == (40, 0, "claude-code")
    assert blocks_of(session, "image") == 0
