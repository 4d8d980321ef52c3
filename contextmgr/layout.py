"""From an epoch, its turns and its rows to a request: messages, cache marks, and the place of every pin.

Laws: pure and total, so the same records give the same bytes; nothing of an earlier request of the epoch moves;
results stand first and in call order; neighbours of one role are one message; thinking received before the epoch
is absent from it; ids that recur are renamed alike in call and result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from contextmgr import forms, jsontext, labels
from contextmgr.pins import Pin
from contextmgr.proof import Place
from contextmgr.turns import (
    SERVER_CALL_TYPES,
    Block,
    Turn,
    is_blank,
    is_server_result,
    is_thinking,
    open_round,
    server_answers,
    server_calls,
)
from contextmgr.views import Epoch, RowKind, ViewRow

_MARKABLE = frozenset({"text", "image", "document", "search_result", "tool_use", "tool_result"})
_NOT_AN_ID = re.compile(r"[^a-zA-Z0-9_-]")
_SERVER_ID = re.compile(r"srvtoolu_[a-zA-Z0-9_]+")
_PREFACE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a request shows.  ``turns`` are the visible ones in order, ``rows`` those of the epoch so far.

    ``previous_tail`` and ``previous_rows`` say where the request before it in the epoch ended (0: there is none).
    """

    epoch: Epoch
    turns: tuple[Turn, ...]
    rows: tuple[ViewRow, ...]
    previous_tail: int = 0
    previous_rows: int = 0


@dataclass(frozen=True, slots=True)
class Laid:
    """A request as laid out: params without ``max_tokens``, and where each pinned text stands."""

    params: dict[str, Any]
    places: Mapping[str, tuple[Place, ...]]


@dataclass(slots=True)
class _Spot:
    """Where one block came from: turn (0: the preface), row order (-1: the turn itself) and its index there."""

    message: int
    block: int
    turn: int
    row: int
    index: int
    pin: str | None


@dataclass(slots=True)
class _Messages:
    items: list[dict[str, Any]] = field(default_factory=list)
    spots: list[_Spot] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    server_ids: dict[str, str] = field(default_factory=dict)

    def add(
        self, role: str, block: Block, *, turn: int, row: int = -1, index: int = -1, pin: str | None = None
    ) -> None:
        """Append a block, joining it to a last message of the same role; blank texts are skipped."""
        if not block or is_blank(block):
            return
        if not self.items or self.items[-1]["role"] != role:
            self.items.append({"role": role, "content": []})
        content = self.items[-1]["content"]
        content.append(dict(block))
        self.spots.append(_Spot(len(self.items) - 1, len(content) - 1, turn, row, index, pin))

    def own_id(self, raw: str) -> str:
        """An id for a call that is unique in the request: the call's own where possible."""
        return self._unique(_NOT_AN_ID.sub("_", raw) or "call")

    def server_block(self, block: Block) -> Block:
        """A server tool's call or result under an id of the API's own form, renamed alike in both."""
        if block["type"] in SERVER_CALL_TYPES:
            raw = str(block.get("id"))
            self.server_ids[raw] = self._unique(_server_id(block["type"], raw))
            return {**block, "id": self.server_ids[raw]}
        if is_server_result(block):
            return {**block, "tool_use_id": self.server_ids.get(str(block["tool_use_id"]), block["tool_use_id"])}
        return block

    def _unique(self, clean: str) -> str:
        name, k = clean, 2
        while name in self.ids:
            name, k = f"{clean}_{k}", k + 1
        self.ids.add(name)
        return name


def _server_id(kind: str, raw: str) -> str:
    if kind != "server_tool_use":
        return _NOT_AN_ID.sub("_", raw) or "call"
    return raw if _SERVER_ID.fullmatch(raw) else "srvtoolu_" + re.sub(r"[^a-zA-Z0-9_]", "_", raw)


def layout(plan: Plan, pins: Sequence[Pin]) -> Laid:
    """Lay a plan out.  ``pins`` are the active ones, whose places are looked up."""
    messages = _Messages()
    for part in plan.epoch.preface:
        messages.add("user", part.block, turn=_PREFACE, row=part.turn or -1, index=_index(part.index), pin=part.pin)
    by_turn: dict[int, list[ViewRow]] = {}
    for row in plan.rows:
        by_turn.setdefault(row.turn, []).append(row)
    kept_round = _open_round(plan)
    unpaired = unpaired_server_calls(plan.turns)
    for turn in plan.turns:
        rows = by_turn.get(turn.number, [])
        if turn.role == "user":
            _user(messages, turn, rows)
        else:
            thinks = turn.number > plan.epoch.opened_at or turn.number in kept_round
            _assistant(messages, plan, turn, rows, thinks=thinks, dropped=unpaired)
    places = _places(messages, plan, pins)
    _mark(messages, plan)
    return Laid(_params(messages, plan), places)


def _index(index: int | None) -> int:
    return -1 if index is None else index


def _sent(block: Block, sendable: bool) -> Block:
    return block if sendable else jsontext.sendable_value(block)


def _user(messages: _Messages, turn: Turn, rows: Iterable[ViewRow]) -> None:
    for i, block in enumerate(turn.blocks):
        messages.add("user", forms.legal_part(_sent(block, turn.sendable)), turn=turn.number, index=i)
    _attach(messages, turn, rows)


def _attach(messages: _Messages, turn: Turn, rows: Iterable[ViewRow]) -> None:
    for row in rows:
        if row.kind is not RowKind.FORM:
            pin = row.ref if row.kind is RowKind.PIN else None
            messages.add("user", row.block, turn=turn.number, row=row.order, pin=pin)


def _assistant(
    messages: _Messages, plan: Plan, turn: Turn, rows: Sequence[ViewRow], *, thinks: bool, dropped: frozenset[str]
) -> None:
    sends_tools = bool(plan.epoch.head.tools)
    ids: list[str] = []
    for i, block in enumerate(assistant_blocks(turn, thinks=thinks, dropped=dropped, tools=sends_tools)):
        if block["type"] == "tool_use":
            ids.append(messages.own_id(str(block["id"])))
            block = {**block, "id": ids[-1], "name": tool_name(str(block["name"]))}
        block = messages.server_block(block)
        messages.add("assistant", forms.legal_part(_sent(block, turn.sendable)), turn=turn.number, index=i)
    if turn.calls:
        _results(messages, turn, rows, ids)
    _attach(messages, turn, rows)


def _is_tool_block(block: Block) -> bool:
    return block["type"] == "tool_use" or block["type"] in SERVER_CALL_TYPES or is_server_result(block)


def assistant_blocks(
    turn: Turn, *, thinks: bool, dropped: frozenset[str] = frozenset(), tools: bool = True
) -> list[Block]:
    """The blocks of an assistant turn as they may be sent: thinking whole or not at all, no dangling server call.

    ``tools`` says whether the request has any; without them it cannot hold tool blocks.
    """
    blocks = [b for b in turn.blocks if not _names(b, dropped) and (tools or not _is_tool_block(b))]
    if not (thinks and _thinking_may_return(turn, blocks)):
        blocks = [b for b in blocks if not is_thinking(b)]
    if turn.is_paused and blocks and blocks[-1].get("type") == "text":
        # a request may end on this turn, and there trailing white space is illegal; the form is the same ever after
        blocks[-1] = {**blocks[-1], "text": str(blocks[-1]["text"]).rstrip()}
    return blocks


def tool_name(raw: str) -> str:
    """A tool's name in the form the API takes; names of other APIs may hold dots."""
    return _NOT_AN_ID.sub("_", raw)[:128]


def _names(block: Block, ids: frozenset[str]) -> bool:
    if not ids:
        return False
    if block["type"] in SERVER_CALL_TYPES:
        return str(block.get("id")) in ids
    return is_server_result(block) and str(block["tool_use_id"]) in ids


def _thinking_may_return(turn: Turn, blocks: Sequence[Block]) -> bool:
    """Whether a turn's thinking can be sent: all of it signed and byte for byte, and not the last thing said."""
    own = [b for b in blocks if is_thinking(b)]
    said = [b for b in blocks if not is_blank(b)]
    ends = bool(said) and is_thinking(said[-1]) and not turn.is_paused  # the API refuses a message that ends so
    faithful = turn.sendable or jsontext.is_sendable_value(jsontext.dumps(own))
    return faithful and not ends and all(map(_is_signed, own))


def _is_signed(block: Block) -> bool:
    return bool(block.get("data") if block.get("type") == "redacted_thinking" else block.get("signature"))


def _results(messages: _Messages, turn: Turn, rows: Sequence[ViewRow], ids: Sequence[str]) -> None:
    formed = {r.call: r for r in rows if r.kind is RowKind.FORM}
    have = turn.in_place
    for i, call in enumerate(turn.calls):
        row = formed.get(i)
        if row is not None:
            body = row.block
        else:
            body = forms.as_sent(_sent(have[i].body, have[i].sendable)) if i in have else forms.filler()
        order = row.order if row is not None else -1
        if ids:
            messages.add("user", {**body, "tool_use_id": ids[i]}, turn=turn.number, row=order, index=i)
        else:
            for block in _as_text(call, turn.number, body):
                messages.add("user", block, turn=turn.number, row=order, index=i)


def _as_text(call: Block, turn: int, body: Block) -> list[Block]:
    """A call and its result as labelled text, for a request without tools, which cannot hold tool blocks."""
    content = body.get("content")
    parts = [labels.text_block(content)] if isinstance(content, str) else [dict(p) for p in content or ()]
    return [labels.text_block(jsontext.sendable(labels.call_as_text(call, turn))), *parts]


def unpaired_server_calls(turns: Sequence[Turn]) -> frozenset[str]:
    """Ids of server tool calls that stand without their result, or results without their call: neither can be sent.

    A last turn that still waits for the API keeps its calls.
    """
    calls = {i: t.number for t in turns if t.role == "assistant" for i in server_calls(t.blocks)}
    answers = {i for t in turns if t.role == "assistant" for i in server_answers(t.blocks)}
    if not calls and not answers:
        return frozenset()
    waiting = turns[-1].number if turns[-1].waits_for_server else None
    lone = {i for i, n in calls.items() if i not in answers and n != waiting}
    return frozenset(lone | (answers - set(calls)))


def _open_round(plan: Plan) -> frozenset[int]:
    """Turns of the tool round that was open when the epoch began, where the model demands their thinking."""
    if not (plan.epoch.keeps_round and plan.epoch.head.thinks):
        return frozenset()
    old = [t for t in plan.turns if t.number <= plan.epoch.opened_at]
    return open_round(old, plan.epoch.head.model)


def _places(messages: _Messages, plan: Plan, pins: Sequence[Pin]) -> dict[str, tuple[Place, ...]]:
    own: dict[str, list[_Spot]] = {}
    said: dict[tuple[int, int], _Spot] = {}
    for spot in messages.spots:
        if spot.pin is not None:
            own.setdefault(spot.pin, []).append(spot)
        elif spot.turn == _PREFACE and spot.row > 0:
            said[spot.row, spot.index] = spot
        elif spot.row < 0 and messages.items[spot.message]["role"] == "user":
            said[spot.turn, spot.index] = spot
    unsendable = {t.number for t in plan.turns if not t.sendable}
    places: dict[str, tuple[Place, ...]] = {}
    for pin in pins:
        found = [
            _place(s, "preface" if s.turn == _PREFACE else "attached", 0, len(pin.text)) for s in own.get(pin.id, ())
        ]
        if pin.turn is not None and pin.block is not None and pin.turn not in unsendable:
            home = said.get((pin.turn, pin.block))
            if home is not None:
                where = "preface" if home.turn == _PREFACE else "turn"
                found.append(_place(home, where, pin.start or 0, pin.end or 0))
        places[pin.id] = tuple(found)
    return places


def _place(spot: _Spot, where: str, start: int, end: int) -> Place:
    return Place(where=where, message=spot.message, block=spot.block, start=start, end=end)


def _mark(messages: _Messages, plan: Plan) -> None:
    """Cache marks on messages: end of preface, where the previous request ended, last markable block."""
    markable = [s for s in messages.spots if messages.items[s.message]["content"][s.block]["type"] in _MARKABLE]
    preface = [s for s in markable if s.turn == _PREFACE]
    earlier = [s for s in markable if _was_sent(s, plan)] if plan.previous_tail else []
    for spots in (preface, earlier, markable):
        if spots:
            messages.items[spots[-1].message]["content"][spots[-1].block]["cache_control"] = _control(plan)


def _was_sent(spot: _Spot, plan: Plan) -> bool:
    if spot.turn == _PREFACE:
        return True
    return spot.turn <= plan.previous_tail and (spot.row < plan.previous_rows)


def _control(plan: Plan) -> dict[str, str]:
    return {"type": "ephemeral"} if plan.epoch.ttl == "5m" else {"type": "ephemeral", "ttl": plan.epoch.ttl}


def _params(messages: _Messages, plan: Plan) -> dict[str, Any]:
    head = plan.epoch.head
    params: dict[str, Any] = {"model": head.model}
    system, tools = [dict(b) for b in head.system], [dict(t) for t in head.tools]
    if system:
        system[-1]["cache_control"] = _control(plan)
        params["system"] = system
    elif tools:
        loaded = [t for t in tools if not t.get("defer_loading")]
        if loaded:
            loaded[-1]["cache_control"] = _control(plan)
    if tools:
        params["tools"] = tools
    if head.thinking is not None:
        params["thinking"] = dict(head.thinking)
    params["messages"] = messages.items
    return params
