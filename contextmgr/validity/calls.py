"""Rules on calls and their results, across messages.

A client call is answered in the very next user message.  A server call is answered by the API inside the assistant's
turn, and that turn stays open as long as user messages hold nothing but results: when the model calls a server tool
and a client tool together, the server tool's result comes only in the assistant message after the client's results,
and anything sent beside those results ends the turn without it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contextmgr.validity.findings import Finding
from contextmgr.validity.shape import NAME, Block, Message

ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
SERVER_ID: Final = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")

_MUST_BE_ANSWERED = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def check(messages: Sequence[Message], has_tools: bool, paused_tail: bool, found: list[Finding]) -> None:
    """V11-V17: append what is wrong with calls and results to ``found``."""
    state = _State(found)
    for i, message in enumerate(messages):
        if message.role == "user":
            state.user(i, message.content)
        else:
            state.assistant(i, message.content)
    state.end(paused_tail)
    if state.first_tool_block and not has_tools:
        found.append(Finding("V16", state.first_tool_block, "a tool block in a request without tools"))


@dataclass(slots=True)
class _State:
    """What is still to be answered while the messages are read in order: ids and where they were called."""

    found: list[Finding]
    seen: set[str] = field(default_factory=set)
    waiting: dict[str, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    first_tool_block: str = ""
    last_role: str = ""

    def add(self, rule: str, where: str, message: str) -> None:
        self.found.append(Finding(rule, where, message))

    def user(self, i: int, content: Sequence[Block]) -> None:
        self.last_role = "user"
        results: Counter[str] = Counter()
        others = 0
        for j, block in enumerate(content):
            kind = block.get("type", "")
            if kind != "tool_result":
                others += 1
                if kind.endswith(("tool_use", "_tool_result")):
                    self._misplaced(f"messages[{i}].content[{j}]", kind)
                continue
            where = f"messages[{i}].content[{j}]"
            self._note(where)
            if others:
                self.add("V14", where, "a result stands after another kind of block")
            answered = block.get("tool_use_id")
            if isinstance(answered, str) and answered in self.waiting:
                results[answered] += 1
            else:
                self.add("V15", where, f"{answered!r} is not a call of the message just before")
        self._settle(results)
        if others:
            self._turn_over(f"messages[{i}]")

    def assistant(self, i: int, content: Sequence[Block]) -> None:
        self.last_role = "assistant"
        self._settle({})
        for j, block in enumerate(content):
            kind = block.get("type", "")
            if kind.endswith("tool_use"):
                self._call(f"messages[{i}].content[{j}]", kind, block)
            elif kind.endswith("tool_result"):
                self._server_result(f"messages[{i}].content[{j}]", kind, block)

    def end(self, paused_tail: bool) -> None:
        self._settle({})
        if self.last_role == "assistant" and not paused_tail:
            self._turn_over("the end")

    def _settle(self, results: Mapping[str, int]) -> None:
        for call, where in self.waiting.items():
            times = results.get(call, 0)
            if times != 1:
                self.add("V13", where, f"the next message answers the call {call!r} {times} times")
        self.waiting = {}

    def _turn_over(self, by: str) -> None:
        for call, where in self.pending.items():
            self.add("V17", where, f"the server tool's call {call!r} has no result before the turn is over ({by})")
        self.pending = {}

    def _call(self, where: str, kind: str, block: Block) -> None:
        self._note(where)
        call, name = block.get("id"), block.get("name")
        if kind not in _MUST_BE_ANSWERED:
            if isinstance(call, str):
                self.optional.add(call)
            return
        if not isinstance(name, str) or not NAME.fullmatch(name):
            self.add("V11", where, f"its name is {name!r}; 1 to 128 letters, digits, '_' and '-' are allowed")
        if not isinstance(block.get("input"), Mapping):
            self.add("V11", where, "its input is not an object")
        form = SERVER_ID if kind == "server_tool_use" else ID
        if not isinstance(call, str) or not form.fullmatch(call):
            self.add("V11", where, f"its id {call!r} does not match ^{form.pattern}$")
            if not isinstance(call, str):
                return
        if call in self.seen:
            self.add("V12", where, f"the id {call!r} was used before in this request")
        self.seen.add(call)
        (self.waiting if kind == "tool_use" else self.pending)[call] = where

    def _server_result(self, where: str, kind: str, block: Block) -> None:
        self._note(where)
        answered = block.get("tool_use_id")
        if kind == "tool_result":
            self.add("V15", where, "a result stands in an assistant message")
        elif isinstance(answered, str) and answered in self.pending:
            del self.pending[answered]
        elif isinstance(answered, str) and answered not in self.optional:
            self.add("V17", where, f"no open call of a server tool before this result has the id {answered!r}")

    def _misplaced(self, where: str, kind: str) -> None:
        self._note(where)
        rule = "V11" if kind.endswith("tool_use") else "V17"
        self.add(rule, where, f"a {kind} block stands in a user message")

    def _note(self, where: str) -> None:
        self.first_tool_block = self.first_tool_block or where
