"""``contextmgr import`` and ``audit``: a Claude Code user imports sessions and searches them from any MCP client."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from contextmgr.cli import app
from tests.transcripts.lines import ClaudeLines, text

SCOPE = ("--tenant", "acme", "--user", "ann")
SESSION = "9f1c6a52-0000-4000-8000-000000000001"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def bring_in(store: Path, *paths: Path, more: tuple[str, ...] = ()) -> Result:
    return run("import", *paths, "--store", store, *SCOPE, *more)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder as Claude Code lays it out: a session, its sub-agent, and files that are none."""
    folder = tmp_path / "projects" / "-home-ann-shop"
    folder.mkdir(parents=True)
    lines = ClaudeLines()
    main = [
        lines.user("Why does the checkout lose vouchers?", sessionId=SESSION),
        lines.reply("m1", text("The cart drops them on refresh."), sessionId=SESSION),
    ]
    agent = [
        lines.user("Look for vouchers", sessionId=SESSION, isSidechain=True, agentId="a1"),
        lines.reply("m2", text("A sub-agent's finding."), sessionId=SESSION, isSidechain=True, agentId="a1"),
    ]
    write(folder / f"{SESSION}.jsonl", [*main, *agent])
    write(folder / "agent-a1.jsonl", agent)
    (folder / "settings.json").write_text('{"theme": "dark"}', encoding="utf-8")
    (folder / "notes.txt").write_text("not looked at", encoding="utf-8")
    return folder.parent


def write(file: Path, lines: list[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_folder_of_sessions_is_imported_without_its_sub_agents(store: Path, projects: Path) -> None:
    done = bring_in(store, projects)
    assert (done.exit_code, done.stdout.splitlines()) == (
        0,
        [
            f"{SESSION}  new, 2 turns added",
            "1 sessions: 1 new; 2 turns added; left out: 2 of sub-agents; 1 files that are no recordings",
        ],
    )
    assert run("search", "sub-agent finding", "--store", store, *SCOPE).stdout == ""


def test_what_was_imported_is_found_at_once(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    assert "The cart drops them" in run("search", "cart vouchers", "--store", store, *SCOPE).stdout


def test_json_is_one_object_per_session_and_the_summary_goes_elsewhere(store: Path, repository: Path) -> None:
    (row,) = rows(bring_in(store, repository / "examples" / "sessions" / "small-session.jsonl", more=("--json",)))
    assert row.pop("file").endswith("small-session.jsonl")
    assert row.pop("conversation").startswith("small-session-")
    assert row == {"outcome": "new", "turns": 49, "reason": None}


def test_importing_again_adds_what_is_new(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    lines = ClaudeLines()
    lines.count = 10
    file = next(projects.rglob(f"{SESSION}.jsonl"))
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps(lines.user("And gift cards?", sessionId=SESSION)) + "\n")
    assert bring_in(store, projects).stdout.splitlines()[0] == f"{SESSION}  continued, 1 turns added"
    assert bring_in(store, projects).stdout.startswith("1 sessions: 1 unchanged; 0 turns added")


def test_a_changed_past_is_exit_status_1(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    file = next(projects.rglob(f"{SESSION}.jsonl"))
    file.write_text(file.read_text(encoding="utf-8").replace("lose vouchers", "keep vouchers"), encoding="utf-8")
    done = bring_in(store, projects)
    assert done.exit_code == 1
    assert "changed past" in done.stderr
    assert "lose vouchers" in run("search", "vouchers", "--store", store, *SCOPE).stdout


@pytest.mark.parametrize("name", ["nowhere", "settings.json", "empty"])
def test_what_cannot_be_imported_is_exit_status_2(store: Path, projects: Path, name: str) -> None:
    (projects / "empty").mkdir()
    found = next(iter(projects.rglob(name)), projects / name)
    done = bring_in(store, found)
    assert done.exit_code == 2
    assert done.stderr.startswith("contextmgr: TranscriptError: ")


def test_another_tenant_sees_nothing_of_it(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    assert run("search", "vouchers", "--store", store, "--tenant", "other", "--user", "ann").exit_code == 1


def test_a_packed_session_keeps_its_name(store: Path, projects: Path) -> None:
    file = next(projects.rglob(f"{SESSION}.jsonl"))
    packed = file.with_name("renamed.jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert rows(bring_in(store, packed, more=("--json",)))[0]["conversation"] == SESSION
    assert bring_in(store, file).stdout.startswith("1 sessions: 1 unchanged")


def test_the_real_client_finds_a_session_that_was_imported(store: Path, repository: Path) -> None:
    from tests.mcp.talk import over_stdio

    bring_in(store, repository / "examples" / "sessions" / "small-session.jsonl")
    said = over_stdio(store, calls=[("conversation_search", {"query": "CalculateAttributionWithAccumulated removals"})])
    (best, *_) = said.value(0)["results"]
    assert best["chat_id"].startswith("small-session-")
    assert best["timestamp"].startswith("2026-01-23")


def test_any_mcp_client_searches_what_was_imported(store: Path, data_dir: Path) -> None:
    from tests.mcp.talk import over_stdio

    files = sorted((data_dir / "trajectories" / "claude-code-packmind").glob("*.gz"))[:3]
    assert bring_in(store, *files).exit_code == 0
    said = over_stdio(store, calls=[("recent_chats", {"count": 10}), ("conversation_search", {"query": "plan"})])
    chats = said.value(0)["chats"]
    assert len(chats) == 3
    (first, *_) = said.value(1)["results"]
    assert first["chat_id"] in {c["chat_id"] for c in chats}
    read = ("read_turns", {"chat_id": first["chat_id"], "first": first["turns"][0]})
    assert over_stdio(store, calls=[read]).value(0)["turns"]


def test_the_audit_shows_who_asked_what_and_what_came_back(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    ask(store, "cart vouchers", {"first": 1, "chat_id": "nobody's"})
    first, second = rows(run("audit", "--store", store, *SCOPE, "--json"))
    assert (first["tenant"], first["user"], first["action"]) == ("acme", "ann", "conversation_search")
    assert (first["query"], first["found"][0]["chat_id"]) == ("cart vouchers", SESSION)
    assert second["error"].startswith("there is no chat")
    shown = run("audit", "--store", store, *SCOPE).stdout
    assert shown.index("cart vouchers") < shown.index("error: there is no chat")


def test_the_audit_is_of_one_scope_and_as_long_as_wished(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    ask(store, "cart", {"first": 1})
    assert [r["action"] for r in rows(run("audit", "--store", store, *SCOPE, "--json", "--last", 1))] == ["read_turns"]
    assert rows(run("audit", "--store", store, "--tenant", "acme", "--json")) == []
    assert "no search or recall" in run("audit", "--store", store, "--tenant", "acme").stdout
    assert run("audit", "--store", store, *SCOPE, "--last", 0).exit_code == 2
    assert run("audit", "--store", f"{store}x", *SCOPE).exit_code == 2


def test_a_query_cannot_move_the_cursor_of_whoever_reads_the_audit(store: Path, projects: Path) -> None:
    bring_in(store, projects)
    ask(store, "cart \x1b[2J [red]vouchers[/red]", {"first": 1})
    shown = run("audit", "--store", store, *SCOPE).stdout
    assert "\x1b" not in shown
    assert "[red]" in shown


def ask(store: Path, query: str, read: dict[str, Any]) -> None:
    """Search and read as an MCP client does, in this process."""
    from contextmgr import Scope, open_store

    pytest.importorskip("mcp", reason="the extra contextmgr[mcp] is not installed")
    from contextmgr.mcp import session_recall

    opened = open_store(store)
    recall = session_recall(opened, Scope(tenant="acme", user="ann"))
    recall.answer(None, "conversation_search", {"query": query})
    recall.answer(None, "read_turns", read)
    opened.close()
