"""Driving a conversation the way an application does, in a few words per step: say, answer, call, give results, ask."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contextmgr import Manager
from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.profiles import Profile, load_profile
from contextmgr.turns import Turn
from tests.request_check import blocks_of

ROOT = Path(__file__).resolve().parents[2]
MODEL = "claude-sonnet-5-5"
UNBOUND = "claude-sonnet-4-6"  # its thinking is not bound to what it followed, and the open round's must go back
SYSTEM = "You are a careful engineer. Work step by step and say what you did."


def tool(name: str) -> dict[str, Any]:
    """A small tool."""
    return {
        "name": name,
        "description": f"Run {name} and return what it printed.",
        "input_schema": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    }


TOOLS = [tool(n) for n in ("run_job", "read_log", "describe_table", "read_turns")]


def call(identity: str, name: str = "read_log", **given: Any) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": identity, "name": name, "input": given or {"what": "everything"}}


def result(identity: str, content: object = "ok", **more: Any) -> dict[str, Any]:
    """A tool_result block."""
    return {"type": "tool_result", "tool_use_id": identity, "content": content, **more}


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def thinking(words: str, signature: str) -> dict[str, Any]:
    """A signed thinking block."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def reply(*blocks: Mapping[str, Any], stop: str | None = None, model: str = MODEL) -> dict[str, Any]:
    """An assistant message."""
    calls = any(b["type"] == "tool_use" for b in blocks)
    return {"role": "assistant", "model": model, "content": list(blocks), "stop_reason": stop or ends(calls)}


def ends(calls: bool) -> str:
    """The stop reason of a message with or without calls."""
    return "tool_use" if calls else "end_turn"


def prose(words: int, seed: str = "") -> str:
    """About that many tokens of plain, repeatable prose."""
    stock = [
        "the",
        "loader",
        "reads",
        "each",
        "batch",
        "of",
        "rows",
        "and",
        "writes",
        "a",
        "short",
        "report",
        "before",
        "the",
        "next",
        "one",
        "begins",
    ]
    return " ".join([seed, *(stock[i * 7 % len(stock)] for i in range(words))]).strip()


def log(lines: int, seed: str = "shard") -> str:
    """Lines of a log, about 20 tokens each."""
    return "\n".join(f"2026-08-{i % 28 + 1:02} {seed} {i:05} checksum {i * 7919 % 65536:#06x} ok" for i in range(lines))


def profile(budget: int, **recent: Any) -> Profile:
    """The coding profile at a budget, without its own pins; ``recent`` changes the recent window, or the policy."""
    base = load_profile("coding-agent").with_budget(budget).model_dump()
    policy = {k: recent.pop(k) for k in ("policy", "fill", "pin_first_user_turn") if k in recent}
    data = {**base, "name": "trial", "pin_first_user_turn": False, **policy}
    return Profile(**{**data, "recent": {**base["recent"], **recent}})


@contextmanager
def opened(path: Path, budget: Profile | int | str = 20_000, **more: Any) -> Iterator[Conversation]:
    """The conversation ``talk`` of tenant ``t-1`` in a store on disk; leaving and entering again is a restart."""
    chosen = profile(budget) if isinstance(budget, int) else budget
    with Manager(path, profile=chosen, **more) as manager:
        yield manager.conversation("talk", tenant="t-1")


def ask(chat: Conversation, **more: Any) -> AssembledRequest:
    """Assemble with the usual head."""
    given: dict[str, Any] = {"model": MODEL, "max_tokens": 1024, "system": SYSTEM, "tools": TOOLS}
    return chat.assemble(**{**given, **more})


def exchange(chat: Conversation, said: str, answer: str = "Done.") -> AssembledRequest:
    """The user says something, the request is assembled, the model answers in words."""
    chat.add_user(said)
    request = ask(chat)
    chat.add_reply(reply(text(answer)))
    return request


def step(chat: Conversation, identity: str, output: object, *blocks: Mapping[str, Any], **given: Any) -> Turn:
    """The model calls one tool and gets its output."""
    chat.add_reply(reply(*blocks, call(identity, **given)))
    return chat.add_tool_results([result(identity, output)])


def results_in(request: AssembledRequest) -> dict[str, dict[str, Any]]:
    """The tool results of a request by id."""
    return {b["tool_use_id"]: b for _, b in blocks_of(request.params) if b["type"] == "tool_result"}


def calls_in(request: AssembledRequest) -> list[str]:
    """The ids of the tool calls of a request, in order."""
    return [b["id"] for _, b in blocks_of(request.params) if b["type"] == "tool_use"]


def texts_in(request: AssembledRequest, role: str | None = None) -> list[str]:
    """The texts that stand in blocks of their own, of one role or both."""
    return [b["text"] for r, b in blocks_of(request.params) if b["type"] == "text" and role in (None, r)]


def words_of(content: object) -> str:
    """A result's content as one text."""
    if isinstance(content, str):
        return content
    return "\n".join(str(p.get("text", "")) for p in content) if isinstance(content, Iterable) else ""


def run(code: str, *arguments: object, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own, from the root of this checkout, whatever it ends with."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)


def start(code: str, *arguments: object, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start code in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def numbers(turns: Sequence[Turn]) -> list[int]:
    """Turn numbers."""
    return [t.number for t in turns]
