"""The examples run as their first lines say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback import ANSWER, model_server

RULE = "All database calls must use prepared statements. This is non-negotiable."
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, folder: Path, *arguments: str, url: str = "http://127.0.0.1:9") -> str:
    """Run an example in an empty folder; returns what it printed."""
    environment = os.environ | {
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": url,
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": str(EXAMPLES.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    command = [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quickstart_goes_on_where_it_was(tmp_path: Path) -> None:
    with model_server() as (url, bodies):
        first = run("quickstart.py", tmp_path, url=url)
        second = run("quickstart.py", tmp_path, url=url)
    assert ANSWER in first
    assert "1 pin proved" in second
    texts = [[b["text"] for m in body["messages"] for b in m["content"]] for body in bodies]
    assert [t.count(RULE) for t in texts] == [1, 1]


def test_long_session(tmp_path: Path) -> None:
    printed = run("long_session.py", tmp_path)
    assert "(full): the rule is in the preface" in printed
    assert "1 pin proved" in printed


def test_review_pins(tmp_path: Path) -> None:
    assert " messages\n" in run("review_pins.py", tmp_path, str(EXAMPLES / "sessions" / "small-session.jsonl"))


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.name)
def test_every_example_says_how_to_run_it(example: Path) -> None:
    assert f"    python examples/{example.name}" in example.read_text(encoding="utf-8")
