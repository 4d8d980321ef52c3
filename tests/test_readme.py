"""README and docs are true: their code runs as it stands, prints what is shown, and their links lead somewhere.

All ```python blocks of a file run in order in one namespace, with the real client against a stand-in on the loopback
interface.  A ```text block right after the comment ``<!-- prints -->`` must equal what the code block before it
printed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback import ANSWER, model_server

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?P<prints>^<!-- prints -->\n\s*)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")

Block = tuple[str, str, str, int]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


def run(code: str, where: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, where, "exec"), namespace)
    return printed.getvalue()


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """An empty folder to run in, and a model on the loopback interface; yields the requests it gets."""
    with model_server() as (url, bodies):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.chdir(tmp_path)
        yield bodies
        gc.collect()  # what the code dropped without closing warns now, in this test


@pytest.mark.parametrize("page", [p for p in PAGES if any(b["kind"] == "python" for b in blocks_of(p))], ids=name_of)
def test_code_runs_as_shown(page: Path, requests: list[dict[str, Any]]) -> None:
    if importlib.util.find_spec("contextmgr.manager") is None:
        pytest.skip("contextmgr.manager is not written yet")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks_of(page):
        if block["kind"] == "python":
            line = block.string.count("\n", 0, block.start("text"))
            printed = run("\n" * line + block["text"], str(page), namespace)
        elif block["prints"]:
            assert printed.split("\n") == block["text"].split("\n")


def test_the_readme_calls_the_model(requests: list[dict[str, Any]]) -> None:
    test_code_runs_as_shown(ROOT / "README.md", requests)
    assert requests
    assert all(request["messages"][-1]["role"] == "user" for request in requests)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def ask(stream: bool, **more: Any) -> dict[str, Any]:
    """The stand-in's answer, as the real client reads it."""
    import anthropic

    base: Any = {"model": "claude-sonnet-5-5", "max_tokens": 5, **more}
    with anthropic.Anthropic() as client:
        if not stream:
            return client.messages.create(**base).to_dict()
        with client.messages.stream(**base) as opened:
            return opened.get_final_message().to_dict()


@pytest.mark.parametrize("stream", [False, True])
def test_the_stand_in_answers_the_real_client(requests: list[dict[str, Any]], stream: bool) -> None:
    messages = [{"role": "user", "content": "hi"}]
    reply = ask(stream, messages=messages)
    assert (reply["content"][0]["text"], reply["stop_reason"]) == (ANSWER, "end_turn")
    assert requests[0]["messages"] == messages


@pytest.mark.parametrize("stream", [False, True])
def test_the_stand_in_calls_the_tool_it_is_told_to(requests: list[dict[str, Any]], stream: bool) -> None:
    tool = {"name": "look", "input_schema": {"type": "object", "required": ["at"]}}
    reply = ask(stream, messages=[{"role": "user", "content": "look at it"}], tools=[tool])
    assert reply["stop_reason"] == "tool_use"
    assert (reply["content"][0]["name"], reply["content"][0]["input"]) == ("look", {"at": "example"})
