"""The benchmarks run: each explains itself, and a quick run gives the figures its README names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.facts import Kept, UserTurn, facts, stands_in
from benchmarks.growth import reading
from contextmgr.transcripts import Said

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = sorted(
    file.stem for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text(encoding="utf-8")
)


def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)


def figures(name: str, *arguments: str) -> dict[str, Any]:
    done = run(name, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_explains_itself(name: str) -> None:
    done = run(name, "--help")
    assert (done.returncode, "--json" in done.stdout) == (0, True), done.stderr


def test_costs(data_dir: Path) -> None:
    found = figures("costs", "--quick", "--jobs", "1", "--data", str(data_dir))
    assert found["clean"]
    assert found["contextmgr"].keys() >= {"cost", "mean_tokens", "words_in_view"}
    assert found["contextmgr"]["words_in_view"] > found["slide_every_call"]["words_in_view"]


def test_costs_without_recordings(tmp_path: Path) -> None:
    done = run("costs", "--data", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "no recorded sessions: give --data DIR\n")


@pytest.mark.slow
def test_compaction(data_dir: Path) -> None:
    found = figures("compaction", "--quick", "--jobs", "1", "--data", str(data_dir))
    (budget,) = found["budgets"].values()
    assert budget["clean"]
    assert 0 < budget["compactions"]["summary_tokens_max"] <= budget["compactions"]["summary_cap"]
    assert budget["contextmgr"]["facts_of_all_turns"] >= budget["without_summaries"]["facts_of_all_turns"]
    assert all(row["proved"] == row["instructions"] for row in found["standing"]["60000"].values())


def test_the_reading_of_a_short_history_is_counted() -> None:
    found = reading(150)
    assert found["rollovers"] > 0
    assert found["read"] > found["prompts"] > 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at src/store/base.py, line 120", {"src/store/base.py", "120"}),
        ("never --force; MAX_SIZE is 4 or maxSize", {"--force", "MAX_SIZE", "maxSize"}),
        ("e.g. this and that", set()),
        ("order ORD4471 of 12.5 EUR.", {"ORD4471", "12.5"}),
        ("see https://example.com/a?b=1.", {"https://example.com/a?b=1"}),
    ],
)
def test_facts(text: str, found: set[str]) -> None:
    assert facts(text) == found


@pytest.mark.parametrize(
    ("fact", "text", "stands"),
    [("12", "112 12", True), ("12", "112, 120", False), ("a/b.py", "x/a/b.py:3", True), ("run_it", "run_items", False)],
)
def test_facts_stand_as_whole_words(fact: str, text: str, stands: bool) -> None:
    assert stands_in(fact, text) is stands


def test_facts_of_a_turn_that_is_gone() -> None:
    turn = UserTurn(1, Said(blocks=({"type": "text", "text": "use port 8080 and db_name"},)))
    kept = Kept()
    kept.add([turn], {"messages": [{"role": "user", "content": [{"type": "text", "text": "port 8080"}]}]})
    kept.add([turn], {"messages": [{"role": "user", "content": [{"type": "text", "text": turn.texts[0]}]}]})
    assert (kept.gone, kept.said) == ([0.5], [0.5, 1.0])
