"""Several processes on one store, and processes that are killed: nothing acknowledged is lost, nothing is torn."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def run(program: str, *arguments: object) -> list[Any]:
    """Run a program of this folder; returns the lines it printed, and allows it no warning and no log line."""
    command = [sys.executable, "-W", "error", "-m", f"tests.processes.{program}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_writers_a_reader_and_an_assembler_together(tmp_path: Path) -> None:
    """Four processes add 50 turns each to a store that none has made yet, beside a long reader and an assembler."""
    ((*numbers, stable, assembled),) = run("crowd", tmp_path / "new.db", 4, 50, 3)
    assert sorted(n for taken in numbers for n in taken) == list(range(1, 201))
    assert stable
    assert assembled > 1
    with Manager(tmp_path / "new.db") as manager:
        said = [t.text for t in manager.conversation("c", tenant="t").history.turns()]
    for i in range(4):
        assert [t for t in said if t.startswith(f"w{i} ")] == [f"w{i} {k}" for k in range(50)]


def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path) -> None:
    (found,) = run("kills", tmp_path, 12, 7)
    assert found["rounds"] == 12
    assert found["checked"] >= 12


@pytest.mark.slow
def test_a_killed_process_loses_nothing_200_times(tmp_path: Path) -> None:
    (found,) = run("kills", tmp_path, 240, 11)
    assert found["rounds"] == 240
    assert {"between exchanges", "before the answer", "before the request", "nothing stored"} <= set(found["found"])


def test_processes_that_assemble_at_once_get_one_request(tmp_path: Path) -> None:
    rounds = run("race", tmp_path / "a.db", 4, 8)
    assert [len(got) for got in rounds] == [4] * 8
    assert [len({tuple(one) for one in got}) for got in rounds] == [1] * 8
    assert [got[0][0] for got in rounds] == list(range(1, 9))
