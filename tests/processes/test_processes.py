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


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-m", f"tests.processes.{program}", *map(str, arguments)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, cwd=ROOT, text=True, **pipes)  # type: ignore[call-overload,no-any-return]


def finish(processes: list[subprocess.Popen[str]]) -> list[list[str]]:
    """Let them all go at once; returns the lines of each.  What one prints as an error is the test's."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends = [(*p.communicate(), p.returncode) for p in processes]
    assert [(error, code) for _, error, code in ends] == [("", 0)] * len(ends)
    return [out.splitlines() for out, *_ in ends]


def run(program: str, *arguments: object) -> list[Any]:
    return [json.loads(line) for line in finish([start(program, *arguments)])[0]]


def test_writers_readers_and_an_assembler_together(tmp_path: Path) -> None:
    """Four processes add 50 turns each to a store that none has made yet, beside a long reader and an assembler."""
    file = tmp_path / "new.db"
    writers = [start("crowd", "write", file, f"w{i}", 50) for i in range(4)]
    others = [start("crowd", "read", file, 3), start("crowd", "assemble", file, 200)]
    *numbers, stable, assembled = finish(writers + others)
    assert sorted(int(n) for lines in numbers for n in lines) == list(range(1, 201))
    assert (stable, assembled) == (["True"], ["True"])
    with Manager(file) as manager:
        said = [t.text for t in manager.conversation("c", tenant="t").history.turns()]
    assert {f"w{i}": [t for t in said if t.startswith(f"w{i} ")] for i in range(4)} == {
        f"w{i}": [f"w{i} {k}" for k in range(50)] for i in range(4)
    }


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
