"""A server over HTTP on this machine: the token, the names, the sizes, and the SDK's client behind them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from contextmgr.errors import InputError
from tests.mcp.talk import LIMIT, TOKEN, http_server, over_http

import httpx2  # isort: skip
from mcp.shared.exceptions import MCPError  # isort: skip
from contextmgr.mcp import Address, read_token  # isort: skip
from contextmgr.mcp.http import MAX_BODY  # isort: skip

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
}
Server = tuple[str, subprocess.Popen[str]]


@pytest.fixture(scope="module")
def server(store: Path) -> Iterator[Server]:
    with http_server(store) as found:
        yield found


def post(url: str, **headers: str) -> httpx2.Response:
    given = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    given |= {name.capitalize(): value for name, value in headers.items()}
    return send(url, json.dumps(HELLO).encode(), given)


def send(url: str, body: bytes, headers: Mapping[str, str | bytes]) -> httpx2.Response:
    given = {"Content-Type": b"application/json"} | {
        k: v if isinstance(v, bytes) else v.encode() for k, v in headers.items()
    }
    with httpx2.Client(timeout=LIMIT, trust_env=False) as client:
        return client.post(url, content=body, headers=given)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_real_client_searches(server: Server, mode: str) -> None:
    said = over_http(server[0], TOKEN, [("conversation_search", {"query": "deploy key"}), ("recent_chats", {})], mode)
    assert [r["chat_id"] for r in said.value(0)["results"]] == ["keys"]
    assert [c["chat_id"] for c in said.value(1)["chats"]] == ["lunch", "keys"]


def test_the_real_client_with_another_token_gets_nothing(server: Server) -> None:
    with pytest.raises(BaseExceptionGroup) as refused:
        over_http(server[0], "another-token-0123456789", [("recent_chats", {})])
    assert [type(leaf) for leaf in leaves(refused.value)] == [MCPError]


def leaves(error: BaseException) -> list[BaseException]:
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return [leaf for part in parts for leaf in leaves(part)] or [error]


WRONG = (
    "",
    "Bearer",
    f"Basic {TOKEN}",
    TOKEN,
    "Bearer wrong",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    "Bearer ünïc",
)


@pytest.mark.parametrize("authorization", [None, *WRONG])
def test_without_the_token_there_is_no_answer(server: Server, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization.encode()}
    answer = send(server[0], json.dumps(HELLO).encode(), headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in answer.text


def test_a_size_is_not_even_looked_at_without_the_token(server: Server) -> None:
    assert send(server[0], b"x" * (MAX_BODY + 1), {"Authorization": "Bearer wrong"}).status_code == 401


def test_with_the_token_it_answers(server: Server) -> None:
    answer = post(server[0])
    assert (answer.status_code, answer.json()["result"]["serverInfo"]["name"]) == (200, "contextmgr")


def test_another_host_name_is_refused(server: Server) -> None:
    assert post(server[0], host="attacker.example").status_code == 421


def test_another_origin_is_refused(server: Server) -> None:
    assert post(server[0], origin="https://attacker.example").status_code == 403
    assert post(server[0], origin="http://localhost:3000").status_code == 200


def test_a_body_that_is_too_large_is_refused(server: Server) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
    assert send(server[0], b"x" * (MAX_BODY + 1), headers).status_code == 413


def test_another_path_says_nothing(server: Server) -> None:
    assert post(server[0].replace("/mcp", "/")).status_code == 404


def test_stray_requests_leave_no_content_in_the_log(store: Path) -> None:
    with http_server(store) as (url, process):
        headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {TOKEN}"}
        send(url, b'{"quetzalcoatl', headers)
        post(url, host="quetzalcoatl")
        send(url, b"{}", {"Authorization": "Bearer quetzalcoatl"})
        process.terminate()
        out, log = process.communicate(timeout=LIMIT)
    assert out == ""
    assert "quetzalcoatl" not in log
    assert TOKEN not in log


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("8765", "127.0.0.1", 8765),
        ("0.0.0.0:1", "0.0.0.0", 1),
        ("[::1]:80", "::1", 80),
        ("box.example:0", "box.example", 0),
    ],
)
def test_addresses(text: str, host: str, port: int) -> None:
    assert Address.parse(text) == Address(host, port)


@pytest.mark.parametrize("text", ["", "host", "host:", ":80", "host:port", "host:70000", "1:2:x", "²"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(InputError, match="is no address"):
        Address.parse(text)


def test_listening_everywhere_needs_a_name_to_be_called_by() -> None:
    everywhere = Address.parse("0.0.0.0:8765")
    with pytest.raises(InputError, match="--allow-host"):
        everywhere.names([])
    assert "chats.example" in everywhere.names(["Chats.example"])


def test_a_name_of_this_machine_is_enough_for_itself() -> None:
    assert Address.parse("8765").names([]) == ["127.0.0.1", "localhost", "[::1]"]
    assert Address.parse("10.0.0.5:8765").names([]) == ["10.0.0.5"]


@pytest.mark.parametrize("token", ["", "  \n", "short", "with a space in the middle", "ünïcode-0123456789"])
def test_no_token_or_a_weak_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    file = tmp_path / "token"
    file.write_text(token, encoding="utf-8")
    monkeypatch.setenv("CONTEXTMGR_MCP_TOKEN", token)
    for where in (file, None):
        with pytest.raises(InputError, match="token"):
            read_token(where)


def test_the_token_file_comes_before_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("the-token-of-the-file\n", encoding="utf-8")
    monkeypatch.setenv("CONTEXTMGR_MCP_TOKEN", TOKEN)
    assert (read_token(file), read_token(None)) == ("the-token-of-the-file", TOKEN)


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_token(tmp_path / "nowhere")
