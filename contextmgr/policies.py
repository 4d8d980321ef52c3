"""Two policies everyone knows, to compare with: send everything, and slide a window on every call.

Both are played well, not badly: results stand beside their calls, blank texts are dropped, repeated ids are renamed,
calls without a result get one that says so, and marks follow the same rule as ours (end of system, end of the request
before, last block).  What they do not do is mask, cut, pin, or keep a prefix once the window moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from contextmgr import forms, jsontext
from contextmgr.heads import Head
from contextmgr.turns import Block, Role, is_blank, is_thinking, pair

LEFT_OUT = "[Earlier turns are left out.]"

Message = dict[str, Any]
Tokens = Callable[[Mapping[str, Any]], int]


@dataclass(slots=True)
class PlainTurn:
    """A turn as these policies send it: its blocks, and the results of its calls.

    ``bare`` is ``blocks`` without thinking; ``tokens`` and ``bare_tokens`` are the sizes with the results.
    """

    role: Role
    blocks: list[Block]
    bare: list[Block] = field(default_factory=list)
    results: list[Block] = field(default_factory=list)
    tokens: int = 0
    bare_tokens: int = 0


class PlainHistory:
    """What was said so far, ready to be sent.  ``tokens`` sizes one block."""

    def __init__(self, tokens: Tokens) -> None:
        self.turns: list[PlainTurn] = []
        self._tokens = tokens
        self._ids: set[str] = set()
        self._calls: list[Block] = []  # of the last reply, with their ids as recorded
        self._own_ids: list[str] = []
        self._given: dict[int, Block] = {}

    def user(self, blocks: Iterable[Block]) -> None:
        """Add a user message."""
        self.settle()
        self._add(PlainTurn("user", [_legal(b) for b in blocks if not is_blank(b)]))

    def reply(self, blocks: Iterable[Block], *, paused: bool = False) -> None:
        """Add an assistant message; its results follow by `results`.  ``paused``: a request will end on it."""
        self.settle()
        kept = [_legal(b) for b in blocks if not is_blank(b)]
        if paused and kept and kept[-1]["type"] == "text":
            kept[-1] = {**kept[-1], "text": kept[-1]["text"].rstrip()}
        self._calls = [b for b in kept if b["type"] == "tool_use"]
        self._own_ids = [self._own_id(str(b["id"])) for b in self._calls]
        ids = iter(self._own_ids)
        sent = [{**b, "id": next(ids)} if b["type"] == "tool_use" else b for b in kept]
        self._add(PlainTurn("assistant", sent))

    def results(self, blocks: Iterable[Block]) -> None:
        """Add results of the last reply's calls, in any order."""
        for block in blocks:
            call = pair(self._calls, self._given, str(block["tool_use_id"]))
            if call is not None:
                self._given[call] = forms.as_sent(_legal(block))

    def settle(self) -> None:
        """Close the last reply: results in call order, and a filler where none came."""
        if not self._calls:
            return
        turn = self.turns[-1]
        for i, own_id in enumerate(self._own_ids):
            turn.results.append({**self._given.get(i, forms.filler()), "tool_use_id": own_id})
        size = sum(map(self._tokens, turn.results))
        turn.tokens += size
        turn.bare_tokens += size
        self._calls, self._own_ids, self._given = [], [], {}

    def _add(self, turn: PlainTurn) -> None:
        turn.bare = [b for b in turn.blocks if not is_thinking(b)]
        turn.tokens = sum(map(self._tokens, turn.blocks))
        turn.bare_tokens = sum(map(self._tokens, turn.bare))
        self.turns.append(turn)

    def _own_id(self, raw: str) -> str:
        name, k = raw, 2
        while name in self._ids:
            name, k = f"{raw}_{k}", k + 1
        self._ids.add(name)
        return name


class Policy(Protocol):
    """Makes the next request out of a settled history."""

    name: str

    def request(self, history: PlainHistory) -> dict[str, Any]:
        """Arguments of ``client.messages.create``, cache marks included."""
        ...


class SendEverything:
    """Every request holds the whole conversation, so each one extends the one before.

    ``ttl`` is the lifetime asked for in cache marks.
    """

    name = "send_everything"

    def __init__(self, head: Head, *, max_tokens: int, ttl: str = "5m") -> None:
        self._head = _head(head, max_tokens, ttl)
        self._mark = _control(ttl)
        self._messages: list[Message] = []
        self._laid = 0
        self._end: _Place | None = None

    def request(self, history: PlainHistory) -> dict[str, Any]:
        """The next request.  Blocks are the same objects in every request; marked ones are copies."""
        for turn in history.turns[self._laid :]:
            _lay(self._messages, turn, turn.blocks)
        self._laid = len(history.turns)
        before, self._end = self._end, _last_markable(self._messages)
        return self._head | {"messages": _marked(self._messages, (before, self._end), self._mark)}


class SlideEveryCall:
    """Every request holds the newest turns that fit ``room`` tokens, by the history's own count.

    The window starts at a user turn where it holds one, and always holds the newest turn.  While nothing has left,
    requests are whole; from then on every prefix is new at every call, so no thinking can go back.
    """

    name = "slide_every_call"

    def __init__(self, head: Head, *, max_tokens: int, room: int, tokens: Tokens, ttl: str = "5m") -> None:
        self._head = _head(head, max_tokens, ttl)
        self._mark = _control(ttl)
        self._room = room - sum(map(tokens, (*head.system, *head.tools)))
        self._whole = 0
        self._added = 0
        self._slides = False

    def request(self, history: PlainHistory) -> dict[str, Any]:
        """The next request."""
        turns = history.turns
        self._whole += sum(t.tokens for t in turns[self._added :])
        self._added = len(turns)
        self._slides = self._slides or self._whole > self._room
        window = turns[_start(turns, self._room) :] if self._slides else turns
        messages: list[Message] = []
        if window and window[0].role == "assistant":
            messages.append({"role": "user", "content": [{"type": "text", "text": LEFT_OUT}]})
        for turn in window:
            _lay(messages, turn, turn.bare if self._slides else turn.blocks)
        return self._head | {"messages": _marked(messages, (_last_markable(messages),), self._mark)}


def _start(turns: Sequence[PlainTurn], room: int) -> int:
    """Index of the first turn of the window, thinking not counted."""
    first, size = len(turns), 0
    while first > 0 and (size + turns[first - 1].bare_tokens <= room or first == len(turns)):
        first -= 1
        size += turns[first].bare_tokens
    return next((i for i in range(first, len(turns)) if turns[i].role == "user"), first)


_Place = tuple[int, int]  # message and block index


def _legal(block: Block) -> Block:
    """A block that can be sent: U+FFFD for what cannot, and a label for an image of another format."""
    sent = block if jsontext.is_sendable_value(jsontext.dumps(block)) else jsontext.sendable_value(block)
    return forms.legal_part(sent)


def _lay(messages: list[Message], turn: PlainTurn, blocks: Sequence[Block]) -> None:
    _join(messages, turn.role, blocks)
    _join(messages, "user", turn.results)


def _join(messages: list[Message], role: str, blocks: Sequence[Block]) -> None:
    """Append blocks, to the last message where it has the same role."""
    if not blocks:
        return
    if not messages or messages[-1]["role"] != role:
        messages.append({"role": role, "content": []})
    messages[-1]["content"].extend(blocks)


def _last_markable(messages: Sequence[Message]) -> _Place | None:
    for m in range(len(messages) - 1, -1, -1):
        content = messages[m]["content"]
        for b in range(len(content) - 1, -1, -1):
            if not is_thinking(content[b]):
                return m, b
    return None


def _marked(messages: Sequence[Message], places: Iterable[_Place | None], mark: Mapping[str, str]) -> list[Message]:
    """A copy with marks at the places; only what carries one is copied deeper."""
    out = list(messages)
    for m, b in {p for p in places if p is not None}:
        content = list(out[m]["content"])
        content[b] = {**content[b], "cache_control": dict(mark)}
        out[m] = {**out[m], "content": content}
    return out


def _head(head: Head, max_tokens: int, ttl: str) -> dict[str, Any]:
    params: dict[str, Any] = {"model": head.model, "max_tokens": max_tokens}
    tools, system = list(head.tools), list(head.system)
    last = system or tools
    if last:
        last[-1] = {**last[-1], "cache_control": _control(ttl)}
    return params | ({"system": system} if system else {}) | ({"tools": tools} if tools else {})


def _control(ttl: str) -> dict[str, str]:
    return {"type": "ephemeral"} if ttl == "5m" else {"type": "ephemeral", "ttl": ttl}
