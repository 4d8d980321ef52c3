"""Random histories: a strategy of steps, and a player that carries them out on a real conversation.

A step that does not apply where it comes (a result without a call, say) is skipped, so any list of steps is a history.
"""

from __future__ import annotations

import base64
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from contextmgr import AssembledRequest, BudgetError, ErasedError, Manager, NothingToAnswerError, OpenTurnError
from contextmgr.errors import ContextManagerError, FactError, PinError, ResultConflictError

PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x06\x40\x00\x00\x03\x84\x08\x02\x00\x00\x00" + b"\x00" * 64
).decode()
TOOLS = [
    {"name": "bash", "description": "Run a command.", "input_schema": {"type": "object"}},
    {"name": "read_turns", "description": "Read stored turns.", "input_schema": {"type": "object"}},
]
WORDS = ("the", "orders", "table", "keeps", "amounts", "in", "cents", "and", "the", "export", "job", "reads", "it")
MODELS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-opus-4-5", "claude-sonnet-5")
HEADS = [
    {"model": m, "system": s, "tools": t, "thinking": k}
    for m, s, t, k in (
        (MODELS[0], "You are a careful coder.", TOOLS, None),
        (MODELS[0], "You are a careful coder.", TOOLS[:1], None),
        (MODELS[1], [{"type": "text", "text": "Be brief."}], TOOLS, {"type": "adaptive"}),
        (MODELS[2], None, TOOLS, {"type": "enabled", "budget_tokens": 1024}),
        (MODELS[3], "No tools here.", [], None),
    )
]

seeds = st.integers(0, 10**6)
ODD = [
    *("Zażółć gęślą jaźń 🐍", "数据库的所有调用都必须使用预处理语句。", "why does <|endoftext|> end my stream?"),
    *("a\x00b", "pi\udc97ce"),
]


def words(seed: int, size: int) -> str:
    """Some words, different for each seed."""
    return " ".join(WORDS[(seed + i) % len(WORDS)] for i in range(size)) + f" {seed}"


def lines(seed: int, size: int) -> str:
    """Lines of tool output."""
    return "\n".join(f"line {seed + i}: {WORDS[(seed + i) % len(WORDS)]} ok" for i in range(size))


texts = st.one_of(st.builds(words, seeds, st.integers(1, 40)), st.sampled_from(ODD))
outputs = st.one_of(
    st.builds(lines, seeds, st.integers(0, 120)),
    st.sampled_from(["", " \n", [], "x" * 60_000, "size=3\x00end", "pi\udc97ce"]),
    st.builds(lambda t: [{"type": "text", "text": t}, {"type": "text", "text": " "}], texts),
    st.just([{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}]),
)
KINDS = ("plain", "plain", "thinking", "blank", "empty", "server", "paused", "mixed", "unknown", "same ids")
some = st.lists(outputs, min_size=1, max_size=4)
steps = st.one_of(
    st.tuples(st.just("user"), texts, st.sampled_from([False, False, False, True, "decision", "image"])),
    st.tuples(st.just("reply"), texts, st.integers(0, 4), st.sampled_from(KINDS)),
    st.tuples(st.just("reply"), texts, st.integers(1, 3), st.just("plain")),
    st.tuples(st.just("results"), some, st.sampled_from(["all", "all", "all", "some"])),
    st.tuples(st.just("results"), some, st.just("all")),
    st.tuples(st.just("assemble"), st.integers(0, len(HEADS) - 1), st.sampled_from([64, 512])),
    st.tuples(st.just("assemble"), st.just(0), st.just(64)),
    st.tuples(st.just("round"), texts, st.integers(0, 3), st.lists(outputs, min_size=1, max_size=3)),
    st.tuples(st.just("round"), texts, st.integers(1, 2), st.lists(outputs, min_size=1, max_size=3)),
    st.tuples(st.just("rounds"), st.integers(3, 20), seeds),
    st.tuples(st.just("rounds"), st.integers(3, 20), seeds),
    st.tuples(st.just("flush")),
    st.tuples(st.just("undo"), seeds),
    st.tuples(st.just("interrupt")),
    st.tuples(st.just("late"), outputs),
    st.tuples(st.just("pin"), seeds),
    st.tuples(st.just("replace"), texts, seeds),
    st.tuples(st.just("revoke"), seeds),
    st.tuples(st.just("withdraw"), seeds),
    st.tuples(st.just("restore"), seeds),
    st.tuples(st.just("erase"), seeds),
    st.tuples(st.just("task"), texts),
    st.tuples(st.just("fact"), st.sampled_from("abc"), seeds, st.sampled_from(["conversation", "project", "user"])),
    st.tuples(st.just("note"), st.sampled_from("pq"), texts, st.booleans()),
    st.tuples(st.just("recall"), st.sampled_from(["note", "remember", "conversation_search", "recent_chats"]), texts),
    st.tuples(st.just("wait"), st.sampled_from([30, 400, 4000])),
)
histories = st.lists(steps, min_size=1, max_size=40)


@dataclass
class Clock:
    """A clock that moves only when told to."""

    at: datetime = datetime(2026, 11, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=1)
        return self.at


@dataclass
class Player:
    """Carries steps out and keeps what was said and what was issued."""

    manager: Manager
    clock: Clock
    said: dict[int, list[Any]] = field(default_factory=dict)
    issued: dict[int, str] = field(default_factory=dict)
    requests: list[AssembledRequest] = field(default_factory=list)
    erased: set[int] = field(default_factory=set)
    answered: list[tuple[Mapping[str, Any], list[Any]]] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    refused: int = 0
    head: int = 0

    def __post_init__(self) -> None:
        self.chat = self.manager.conversation("history", tenant="acme", project="orbit")

    def play(self, step: tuple[Any, ...]) -> AssembledRequest | None:
        """Carry out one step; returns the request it assembled, if it did."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(self, f"_{step[0]}")(*step[1:])

    def _keep(self, turn: Any) -> None:
        self.said[turn.number] = json.loads(json.dumps(list(turn.blocks)))

    def _user(self, text: str, how: object) -> None:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        if how == "image":
            content.append({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}})
            how = False
        try:
            self._keep(self.chat.add_user(content, pin=how))
        except PinError:
            self._keep(self.chat.add_user(content))

    def _reply(self, text: str, calls: int, kind: str) -> None:
        if not self.said:
            return
        number = max(self.said) + 1
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}]
        stop = "tool_use" if calls else "end_turn"
        if kind == "thinking":
            blocks.insert(0, {"type": "thinking", "thinking": f" {text}\r\n", "signature": f"c2ln{number}"})
            blocks.insert(1, {"type": "redacted_thinking", "data": f"ZGF0YQ{number}"})
        elif kind == "blank":
            blocks[0]["text"] = " \n"
        elif kind == "empty":
            blocks, calls, stop = [], 0, "end_turn"
        elif kind == "unknown":
            blocks.append({"type": "hologram", "value": {"n": number}})
        elif kind in ("server", "mixed", "paused"):
            blocks.append({"type": "server_tool_use", "id": f"srvtoolu_{number}", "name": "web_search", "input": {}})
            if kind == "server":
                blocks.append({"type": "web_search_tool_result", "tool_use_id": f"srvtoolu_{number}", "content": []})
            if kind == "paused":
                calls, stop = 0, "pause_turn"
        name = f"tu_{0 if kind == 'same ids' else number}"
        blocks += [
            {"type": "tool_use", "id": f"{name}_{i % 2}", "name": "bash", "input": {"n": i}} for i in range(calls)
        ]
        reply = {"role": "assistant", "content": blocks, "stop_reason": stop, "model": HEADS[self.head]["model"]}
        try:
            turn = self.chat.add_reply(reply)
        except ContextManagerError:
            return
        self._keep(turn)
        if turn.request is not None:
            self.answered.append((json.loads(self.issued[turn.request]), self.said[turn.number]))

    def _results(self, outputs: list[Any], how: str) -> None:
        turn = self.chat.history.turns()[-1] if self.said else None
        if turn is None or not turn.is_open:
            return
        ids = list(turn.missing_ids)
        if how == "some":
            ids = ids[: max(1, len(ids) // 2)]
        blocks = [_result(i, outputs[k % len(outputs)], k) for k, i in enumerate(ids)]
        self.chat.add_tool_results(blocks[::-1] if len(set(ids)) == len(ids) else blocks)

    def _assemble(self, head: int, max_tokens: int) -> AssembledRequest | None:
        self.head = head
        try:
            request = self.chat.assemble(max_tokens=max_tokens, **HEADS[head])
        except (OpenTurnError, NothingToAnswerError):
            return None
        except BudgetError:
            self.refused += 1
            return None
        self.issued[request.number] = json.dumps(request.params)
        self.requests.append(request)
        return request

    def _round(self, text: str, calls: int, outputs: list[Any]) -> AssembledRequest | None:
        self._reply(text, calls, "plain")
        self._results(outputs, "all")
        if not calls:
            self._user(text, False)
        return self._assemble(self.head, 64)

    def _rounds(self, count: int, seed: int) -> AssembledRequest | None:
        """Some rounds of a tool loop, each assembled; the last request is returned, unless it was refused."""
        request: AssembledRequest | None = None
        for i in range(count):
            kind = ("plain", "thinking", "plain", "mixed", "same ids", "blank")[(seed + i) % 6]
            self._reply(f"step {seed + i}", 1 + (seed + i) % 3, kind)
            self._results([f"row {i} of {seed}\n" * ((seed * 7 + i * 13) % 90)], "all")
            if seed % 3 == 0:
                self.manager.flush()
            if seed % 5 == 0:
                self.clock.at += timedelta(seconds=400)
            request = self._assemble(self.head, 64)
        return request

    def _flush(self) -> None:
        self.manager.flush()

    def _undo(self, seed: int) -> None:
        live = [s.id for s in self.chat.compactions() if s.status in ("ready", "active")]
        if live:
            self.chat.undo(live[seed % len(live)])

    def _interrupt(self) -> None:
        self.chat.interrupt()

    def _late(self, output: Any) -> None:
        for turn in reversed(self.chat.history.turns()):
            if turn.status == "interrupted" and len(turn.results) < len(turn.calls):
                taken = {r.call for r in turn.results}
                free = [i for i in range(len(turn.calls)) if i not in taken]
                try:
                    self.chat.add_tool_results([_result(str(turn.calls[free[0]]["id"]), output, 0)])
                except ResultConflictError:  # a later call has the same id, and a result
                    return
                return

    def _pin(self, seed: int) -> None:
        self._each_user(seed, lambda n: self.chat.pins.add(n))

    def _each_user(self, seed: int, act: Any) -> None:
        users = [t.number for t in self.chat.history.turns() if t.role == "user" and t.number not in self.erased]
        if users:
            try:
                act(users[seed % len(users)])
            except PinError:
                return

    def _replace(self, text: str, seed: int) -> None:
        pins = self.chat.pins.list()
        if pins:
            try:
                self._keep(self.chat.add_user(text, replaces=pins[seed % len(pins)].id))
            except PinError:
                return

    def _revoke(self, seed: int) -> None:
        pins = self.chat.pins.list()
        if pins:
            self.chat.pins.revoke(pins[seed % len(pins)].id, "no longer needed")

    def _withdraw(self, seed: int) -> None:
        self._one(seed, lambda n: self.chat.withdraw(n, "unreadable"))

    def _restore(self, seed: int) -> None:
        self._one(seed, self.chat.restore)

    def _erase(self, seed: int) -> None:
        def act(number: int) -> None:
            self.chat.erase_turn(number)
            self.erased.add(number)

        self._one(seed, act)

    def _one(self, seed: int, act: Any) -> None:
        numbers = sorted(set(self.said) - self.erased)
        if numbers:
            act(numbers[seed % len(numbers)])

    def _task(self, text: str) -> None:
        try:
            self.chat.set_task("brief", text)
        except ContextManagerError:
            return

    def _fact(self, key: str, seed: int, scope: str) -> None:
        """A value that nobody says anywhere: it can only come from the state."""
        users = [t.number for t in self.chat.history.turns() if t.role == "user" and t.number not in self.erased]
        value = f"value{len(self.values)}of{seed}"
        turn = users[seed % len(users)] if users and seed % 3 else None
        fact = self.chat.facts.set(key, value, turn=turn, scope=scope)
        if fact.value == value:  # else one from a later turn stays in force
            self.values[fact.id] = value

    def _note(self, section: str, text: str, append: bool) -> None:
        write = self.chat.notes.append if append else self.chat.notes.set
        try:
            write(section, text)
        except FactError:
            return

    def _recall(self, name: str, text: str) -> None:
        """A call of one of the recall tools, answered."""
        given = {
            "note": {"section": "plan", "text": text},
            "remember": {"key": "k", "value": text},
            "conversation_search": {"query": text},
            "recent_chats": {},
        }
        if not self.said:
            return
        call = {"type": "tool_use", "id": f"rc_{max(self.said) + 1}", "name": name, "input": given[name]}
        try:
            turn = self.chat.add_reply({"role": "assistant", "content": [call], "stop_reason": "tool_use"})
        except ContextManagerError:
            return
        self._keep(turn)
        self.chat.add_tool_results([self.chat.handle_tool_use(call)])

    def _wait(self, seconds: int) -> None:
        self.clock.at += timedelta(seconds=seconds)

    def rebuilt(self, number: int) -> str | None:
        """Request ``number`` again as JSON; None where it showed a turn erased since."""
        try:
            return json.dumps(self.chat.request_at(number).params)
        except ErasedError:
            return None


def _result(call: str, content: Any, k: int) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call, "content": content}
    return {**block, "is_error": True} if k % 3 == 2 else block
