"""The command line: what it prints, writes and returns, and that asking for help costs nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from contextmgr.cli import app
from contextmgr.transcripts.recorded_file import stem
from tests.request_check import check_request

HEAVY = ("anthropic", "pydantic", "sqlalchemy", "sqlmodel", "tiktoken")
KEYS = {
    *("file", "format", "index", "calls", "refused", "invalid", "over_budget", "pins_expected", "pins_proven"),
    *("peak_tokens", "mean_tokens", "tokens_sent", "words_in_view", "cache_read_share", "cost", "rollovers", "seconds"),
    *("client_compactions", "skipped", "stand_in", "profile", "budget", "model", "policies", "error"),
    *("summaries", "items_kept", "items_replaced", "items_dropped", "masked", "cut", "summary_tokens_max"),
}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(a) for a in arguments])


def message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Two conversations of three calls each."""
    turns = [message(role, f"{role} {i}") for i in range(3) for role in ("user", "assistant")]
    file = tmp_path / "talks" / "two.json"
    file.parent.mkdir()
    one = [message("system", "Be exact."), *turns]
    file.write_text(json.dumps([{"messages": one}, {"messages": one}]), encoding="utf-8")
    return file


def rows(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_json_is_one_object_per_conversation(recording: Path) -> None:
    found = rows(run("replay", recording, "--json", "--pin", "first"))
    assert [(r["index"], r["calls"], r["pins_proven"]) for r in found] == [(0, 3, 3), (1, 3, 3)]
    assert found[0].keys() >= KEYS
    assert found[0]["policies"]["slide_every_call"].keys() >= {"calls", "invalid", "tokens_sent", "cost"}


def test_a_budget_scales_the_profile(recording: Path) -> None:
    (row, _) = rows(run("replay", recording, "--json", "--profile", "support-chat", "--budget", "9000"))
    assert (row["profile"], row["budget"], row["model"]) == ("support-chat", 9_000, "claude-sonnet-5-5")


def test_people_get_a_table_and_the_last_report(recording: Path) -> None:
    result = run("replay", recording, "--budget", "20000", "--model", "claude-opus-5-5")
    assert result.exit_code == 0
    for shown in ("two [1]", "all 2", "send everything", "budget 20,000 tokens", "request 3 · claude-opus-5-5"):
        assert shown in result.stdout


def test_a_stand_in_is_told(tmp_path: Path) -> None:
    file = tmp_path / "bare.json"
    file.write_text(json.dumps([message("user", "hello"), message("assistant", "hi")]), encoding="utf-8")
    assert "stand-in: 1 of 1 without a recorded system prompt; 13,000 tokens" in run("replay", file).stdout


def test_requests_are_dumped_as_sent(recording: Path, tmp_path: Path) -> None:
    run("replay", recording, "--json", "--dump", tmp_path / "out")
    files = sorted((tmp_path / "out").rglob("*.json"))
    assert [f.relative_to(tmp_path / "out").as_posix() for f in files[:3]] == [f"two-0/0000{n}.json" for n in (1, 2, 3)]
    requests = [json.loads(f.read_text(encoding="utf-8")) for f in files]
    assert len(requests) == 6
    assert [fault for request in requests for fault in check_request(request)] == []


def test_files_of_one_name_are_dumped_apart(recording: Path, tmp_path: Path) -> None:
    other = tmp_path / "talks" / "more" / "two.json"
    other.parent.mkdir()
    other.write_bytes(recording.read_bytes())
    run("replay", recording, other, "--json", "--dump", tmp_path / "out")
    assert sorted(f.name for f in (tmp_path / "out").iterdir()) == ["two-0", "two-1", "two~2-0", "two~2-1"]


def test_a_folder_stands_for_what_can_be_read_in_it(recording: Path) -> None:
    (recording.parent / "README.md").write_text("no session", encoding="utf-8")
    assert len(rows(run("replay", recording.parent, "--json"))) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pin", "last"], "InputError: --pin 'last'"),
        (["--summarizer", "magic"], "InputError: --summarizer 'magic' is unknown; use 'extractive'"),
        (["--pin", "2"], "InputError: pin 2: turn 2 of conversation 0"),
        (["--budget", "10"], "ProfileError: a budget of 10 tokens"),
        (["--profile", "nobody"], "ProfileError: no profile 'nobody'"),
        (["--model", " "], "InputError: model must be a model name"),
        (["no-such-file"], "TranscriptError: no-such-file: there is no such file"),
    ],
)
@pytest.mark.filterwarnings("ignore::contextmgr.UnknownModelWarning")
def test_bad_input_is_one_line_and_exit_2(recording: Path, arguments: list[str], said: str) -> None:
    result = run("replay", recording, "--json", *arguments)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert result.stderr.startswith(f"contextmgr: {said}")


def test_one_conversation_of_a_folder_does_not_stop_the_others(recording: Path) -> None:
    short = [message("user", "hello"), message("assistant", "hi")]
    (recording.parent / "a.json").write_text(json.dumps(short), encoding="utf-8")
    result = run("replay", recording.parent, "--json", "--pin", "3")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(r["calls"], (r["error"] or "").split(":")[0]) for r in found] == [(0, "InputError"), (3, ""), (3, "")]
    assert found[0].keys() == found[1].keys()
    assert result.exit_code == 1


def test_people_are_told_what_stopped(recording: Path) -> None:
    result = run("replay", recording.parent, "--pin", "2")
    assert (result.exit_code, "2 stopped" in result.stdout) == (1, True)
    assert "stopped in two [0]: InputError: pin 2" in result.stdout


def test_summaries_are_counted_for_people() -> None:
    small = Path(__file__).resolve().parents[1] / "examples" / "sessions" / "small-session.jsonl"
    result = run("replay", small, "--budget", "40000", "--summarizer", "extractive")
    assert result.exit_code == 0, result.output
    assert "items: " in result.stdout
    assert "summarised  left the view" in result.stdout


def test_a_folder_without_sessions_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    result = run("replay", tmp_path)
    assert (result.exit_code, "no file in this folder" in result.stderr) == (2, True)


def test_a_file_that_is_no_session_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing", encoding="utf-8")
    assert run("replay", tmp_path / "notes.txt").exit_code == 2


def test_a_dump_that_cannot_be_written_is_an_error(recording: Path) -> None:
    result = run("replay", recording, "--json", "--dump", recording)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_trouble_is_exit_1(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextmgr.replay import Outcome

    monkeypatch.setattr(Outcome, "is_clean", property(lambda _: False))
    assert run("replay", recording, "--json").exit_code == 1


@pytest.mark.parametrize(
    ("file", "name"),
    [("a/5e-0.jsonl.gz", "5e-0"), ("91-0.full.jsonl.gz", "91-0.full"), ("run.traj", "run"), (".json", "session")],
)
def test_a_stem_has_no_ending(file: str, name: str) -> None:
    assert stem(file) == name


def python(code: str) -> str:
    root = Path(__file__).resolve().parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return ran.stdout


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    code = f"import sys, contextmgr.cli; print(*sorted(sys.modules.keys() & set({HEAVY!r})))"
    assert python(code).split() == []


def test_the_version_is_printed() -> None:
    assert run("--version").stdout.startswith("contextmgr ")


def test_help_names_the_commands() -> None:
    shown = run("--help").stdout
    assert "replay" in shown
    assert "scenario" in shown


def test_a_scenario_is_run() -> None:
    result = run("scenario", "prepared-statements", "--json")
    assert result.exit_code == 0
    assert isinstance(json.loads(result.stdout), dict)


def test_a_scenario_nobody_knows_is_an_error() -> None:
    result = run("scenario", "no-such-scenario")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
