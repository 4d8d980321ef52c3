"""A server started as a client's configuration starts it: a process of its own, spoken to over its pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from contextmgr.recall import definitions
from tests.mcp.talk import LIMIT, REPOSITORY, arguments, environment, over_stdio


def test_a_client_of_today_searches(store: Path) -> None:
    said = over_stdio(store, calls=[("conversation_search", {"query": "deploy key"}), ("conversation_search", {})])
    assert [r["chat_id"] for r in said.value(0)["results"]] == ["keys"]
    assert [t.input_schema for t in said.tools] == [d["input_schema"] for d in definitions(writing=False)]
    assert "needs the field 'query'" in said.refused(1)
    assert said.instructions is not None
    assert "acme" not in said.instructions


def test_a_client_of_before_2026_writes_to_the_conversation_that_was_named(store: Path) -> None:
    link = "https://chat.example/{chat_id}#{first}"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("note", {"section": "open questions", "text": "who has the key?"}),
        ("conversation_search", {"query": "green vault"}),
    ]
    said = over_stdio(store, "--conversation", "secret", "--chat-url", link, user="bob", mode="legacy", calls=calls)
    assert said.value(0)["noted"] == "open questions"
    assert said.answers[1].is_error is False


def run(store: Path, *more: str, sent: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    inherited = {"env": {**environment(), "PATH": "/usr/bin:/bin"}}
    command = [sys.executable, *arguments(store, *more)]
    return subprocess.run(
        command, input=sent, capture_output=True, timeout=LIMIT, check=False, cwd=REPOSITORY, **inherited
    )


def test_nothing_but_the_protocol_is_on_standard_output_and_no_content_on_standard_error(store: Path) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    lines: list[bytes] = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b"not json at all: quetzalcoatl",
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"conversation_search","arguments":"quetzalcoatl"}}',
        b'{"jsonrpc":"2.0","id":3,"method":"quetzalcoatl"}',
    ]
    done = run(store, sent=b"\n".join(lines) + b"\n")
    assert {m["jsonrpc"] for m in map(json.loads, done.stdout.splitlines())} == {"2.0"}
    assert done.returncode == 0
    assert b"quetzalcoatl" not in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--conversation", "keys-of-nobody"], "NotFoundError: there is no conversation 'keys-of-nobody'"),
        (["--token-file", "token"], "belong to --http"),
        (["--http", "127.0.0.1:0"], "CONTEXTMGR_MCP_TOKEN holds none"),
    ],
)
def test_what_cannot_be_served_is_one_line_and_exit_status_2(store: Path, more: list[str], says: str) -> None:
    done = run(store, *more)
    assert (done.returncode, done.stdout) == (2, b"")
    assert says in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_without_the_extra_one_line_says_how_to_install_it(store: Path) -> None:
    script = (
        "import sys; sys.modules['mcp'] = None; from contextmgr.cli import main; sys.argv[0] = 'contextmgr'; main()"
    )
    command = [sys.executable, "-c", script, *arguments(store)[2:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, cwd=REPOSITORY)
    assert done.returncode == 2
    assert "pip install 'contextmgr[mcp]'" in done.stderr
    assert done.stderr.count("\n") == 1
