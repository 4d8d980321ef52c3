"""``contextmgr eval recall``: a gold file against a store, or against a recorded session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from contextmgr import Manager
from contextmgr.cli import app
from contextmgr.retrieval import TAIL


@pytest.fixture
def store(tmp_path: Path) -> str:
    file = tmp_path / "a.db"
    with Manager(file) as manager:
        for name, what in (("one", "bike"), ("two", "boat")):
            chat = manager.conversation(name, tenant="t")
            chat.add_user(f"My {what} was stolen.")
            for i in range(12):
                chat.add_user(f"Nothing else happened on day {i}, the weather was {'dry' if i % 2 else 'wet'}.")
    return f"sqlite:///{file}"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A recorded session whose turn 2 reads a log."""
    call = {"type": "tool_use", "id": "t1", "name": "read_log", "input": {"path": "logs/ark.log"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "quota of volume ark-2 reached"}
    messages = [
        {"role": "user", "content": "Why did the nightly export fail?"},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "The disk was full."},
        {"role": "user", "content": "Thanks, and what is for lunch?"},
    ]
    file = tmp_path / "session.json"
    file.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    return file


def gold(tmp_path: Path, *lines: object) -> str:
    file = tmp_path / "gold.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return str(file)


def recall(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["eval", "recall", *arguments])


def figures(*arguments: str) -> dict[str, Any]:
    ended = recall(*arguments, "--json")
    assert ended.exit_code == 0, ended.output
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


BIKE = {"query": "what was stolen?", "turns": [1], "conversation": "one", "category": "theft"}
WEATHER = {"query": "stolen bike", "turns": [1, 5], "conversation": "one", "category": "half"}


def test_by_category(store: str, tmp_path: Path) -> None:
    found = figures(gold(tmp_path, BIKE, WEATHER), "--store", store, "--tenant", "t")["scores"]
    assert [(name, score["questions"]) for name, score in found.items()] == [("all", 2), ("half", 1), ("theft", 1)]
    assert found["theft"]["recall@5"] == found["theft"]["mrr"] == [1.0, 1.0, 1.0]
    assert found["half"]["recall@5"][0] == 0.5
    assert found["all"]["recall@5"] == [0.75, 0.5, 1.0]


def test_the_table_shows_means_and_bounds(store: str, tmp_path: Path) -> None:
    shown = recall(gold(tmp_path, BIKE, WEATHER), "--store", store, "--tenant", "t").stdout
    assert all(name in shown for name in ("category", "recall@10", "any hit@10", "ndcg@10", "mrr", "theft", "half"))
    assert "0.750" in shown
    assert "0.500-1.000" in shown


def test_a_default_conversation_for_questions_without_one(store: str, tmp_path: Path) -> None:
    file = gold(tmp_path, {"query": "the stolen boat", "turns": [1]})
    where = ["--store", store, "--tenant", "t"]
    assert figures(file, *where, "--conversation", "two")["scores"]["all"]["mrr"][0] == 1
    assert "names no conversation" in recall(file, *where).output


def test_fewer_turns_looked_at(store: str, tmp_path: Path) -> None:
    file = gold(tmp_path, {"query": "the weather on day 3", "turns": [2, 3, 4, 5, 6, 7]})
    found = figures(file, "--store", store, "--tenant", "t", "--conversation", "one", "-k", "3")
    assert (found["k"], found["scores"]["all"]["recall@20"][0]) == (3, 0.5)


def test_a_question_that_finds_nothing_is_counted(store: str, tmp_path: Path) -> None:
    file = gold(tmp_path, BIKE, {"query": "zeppelin", "turns": [1], "conversation": "two"})
    assert figures(file, "--store", store, "--tenant", "t")["found_nothing"] == 1
    assert "1 questions found nothing" in recall(file, "--store", store, "--tenant", "t").stdout


def test_a_recorded_session(session: Path, tmp_path: Path) -> None:
    file = gold(
        tmp_path,
        {"query": "quota of ark-2", "turns": [2]},
        {"query": "logs/ark.log", "turns": [2], "conversation": "0"},
        {"query": "nightly export", "turns": [1], "category": "said"},
    )
    found = figures(file, "--session", str(session))["scores"]
    assert found["all"]["questions"] == 3
    assert found["all"]["mrr"] == [1.0, 1.0, 1.0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gold.jsonl", "session.json"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{not json", "line 2 of the gold file is not JSON"),
        ({"query": " ", "turns": [1]}, 'line 2 of the gold file needs an object with a "query"'),
        ({"query": "x", "turns": []}, 'line 2 of the gold file needs "turns"'),
        ({"query": "x", "turns": [1], "conversation": 7}, "line 2 of the gold file: 'conversation' must be a string"),
        ({"query": "x", "turns": [1], "conversation": "three"}, "conversation 'three'"),
        ({"query": "x", "turns": [14], "conversation": "one"}, "answered by turn 14, but 'one' has 13 turns"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_in_one_line(store: str, tmp_path: Path, line: object, said: str) -> None:
    ended = recall(gold(tmp_path, BIKE, line), "--store", store, "--tenant", "t")
    assert ended.exit_code == 2
    assert said in ended.output
    assert len(ended.output.splitlines()) == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "either --store with --tenant, or --session"),
        (["--store", "a.db", "--session", "b.json"], "either --store with --tenant, or --session"),
        (["--store", "a.db"], "needs --tenant"),
        (["--store", "missing.db", "--tenant", "t"], "there is no store at 'missing.db'"),
        (["--session", "missing.json"], "missing.json: cannot be read"),
        (["--store", "a.db", "--tenant", "t", "-k", "0"], "-k 0 must be"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, more: list[str], said: str) -> None:
    ended = recall(gold(tmp_path, BIKE), *more)
    assert (ended.exit_code, said in ended.output) == (2, True)


def test_another_tenants_conversation_is_not_there(store: str, tmp_path: Path) -> None:
    ended = recall(gold(tmp_path, BIKE), "--store", store, "--tenant", "u")
    assert (ended.exit_code, "NotFoundError" in ended.output) == (2, True)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe\x00broken"])
def test_a_file_without_questions(store: str, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "gold.jsonl"
    file.write_bytes(content)
    ended = recall(str(file), "--store", store, "--tenant", "t")
    assert (ended.exit_code, "the gold file" in ended.output) == (2, True)


def test_turns_that_are_not_indexed_are_told_of(tmp_path: Path) -> None:
    file = tmp_path / "b.db"
    manager = Manager(file, background=False)
    chat = manager.conversation("c", tenant="t")
    for i in range(300):
        chat.add_user(f"heron {i}")
    manager.close(timeout=0)
    found = figures(
        gold(tmp_path, {"query": "heron", "turns": [300], "conversation": "c"}), "--store", str(file), "--tenant", "t"
    )
    assert found["not_indexed"] == {"c": 300 - TAIL}
