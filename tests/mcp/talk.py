"""A store with chats of two people, and the SDK's real client talking to servers of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra contextmgr[mcp] is not installed")

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent, Tool

from contextmgr import Manager

REPOSITORY = Path(__file__).resolve().parents[2]
START = datetime(2026, 8, 17, 9, 30, tzinfo=UTC)
TOKEN = "only-for-these-tests-0123456789"
LIMIT = 60.0  # seconds: what hangs fails
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Heard:
    """What a client heard: the tools, and the answers to its calls."""

    tools: list[Tool]
    answers: list[CallToolResult]
    instructions: str | None

    def text(self, place: int) -> str:
        (block,) = self.answers[place].content
        assert isinstance(block, TextContent)
        return block.text

    def value(self, place: int) -> Any:
        assert not self.answers[place].is_error, self.text(place)
        return json.loads(self.text(place))

    def refused(self, place: int) -> str:
        assert self.answers[place].is_error
        return self.text(place)


def make_store(file: Path) -> Path:
    """Ann has two chats, Bob has one about the same thing; each is a scope of its own."""
    chats = [
        ("ann", "keys", "The deploy key rotates every Tuesday at noon.", "Noted: Tuesday at noon."),
        ("ann", "lunch", "Where is the best ramen near the office?", "Try the place behind the station."),
        ("bob", "secret", "My deploy key is kept in the green vault.", "In the green vault, then."),
    ]
    with Manager(file, profile="support-chat", background=False) as manager:
        for place, (user, name, asked, answered) in enumerate(chats):
            at = START + timedelta(days=place)
            chat = manager.conversation(name, tenant="acme", user=user)
            chat.add_user(asked, said_at=at)
            chat.add_reply({"content": answered, "stop_reason": "end_turn"}, said_at=at + timedelta(minutes=1))
        assert manager.flush() == 0
    return file


def arguments(store: Path, *more: str, user: str = "ann") -> list[str]:
    return ["-m", "contextmgr", "mcp", "--store", str(store), "--tenant", "acme", "--user", user, *more]


def environment(**more: str) -> dict[str, str]:
    return {"PYTHONPATH": str(REPOSITORY), "PYTHONWARNINGS": "error", **more}


def over_stdio(store: Path, *more: str, user: str = "ann", calls: Sequence[Call], mode: str = "auto") -> Heard:
    """Start a server as a client's configuration does, call its tools, and let it end."""
    server = StdioServerParameters(
        command=sys.executable, args=arguments(store, *more, user=user), env=environment(), cwd=store.parent
    )
    return heard(lambda: Client(server, mode=mode, read_timeout_seconds=LIMIT), calls)


def over_http(url: str, token: str, calls: Sequence[Call], mode: str = "auto") -> Heard:
    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=LIMIT, trust_env=False) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode, read_timeout_seconds=LIMIT) as client,
        ):
            yield client

    return heard(connected, calls)


def heard(connect: Any, calls: Sequence[Call]) -> Heard:
    """Connect, list the tools and make the calls, within `LIMIT` seconds."""

    async def talking() -> Heard:
        with anyio.fail_after(LIMIT):
            async with connect() as client:
                tools = (await client.list_tools()).tools
                answers = [await client.call_tool(name, given) for name, given in calls]
                return Heard(tools, answers, client.instructions)

    return anyio.run(talking)


@contextmanager
def http_server(store: Path, *more: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server on a free port of this machine, and its address; it is ended afterwards."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = subprocess.Popen(
        [sys.executable, *arguments(store, "--http", "0", *more)],
        env={**inherited, **environment(CONTEXTMGR_MCP_TOKEN=TOKEN)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert "serving MCP at http://127.0.0.1:" in said, said + process.stderr.read()
        yield said.split()[-1], process
    finally:
        process.terminate()
        process.communicate(timeout=LIMIT)
