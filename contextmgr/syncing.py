"""``sync(messages)``: take a whole message list, find what is new in it, and refuse a changed past.

Two lists are recognised: what the last request of ours held, carried on (our preface, attachments, masks and renamed
ids come back and are not history), and the conversation's own messages from its beginning.  Both are compared block
by block, because neighbours of one role may have been merged on the way; thinking and blank texts do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from contextmgr import forms, jsontext
from contextmgr.errors import HistoryConflictError, TurnError
from contextmgr.turns import Block, Turn, is_blank, is_thinking, to_blocks


@dataclass(frozen=True, slots=True)
class Item:
    """One block with the role it was said in; ``at`` is the index of its message, for errors.

    ``awaited`` marks the place of a result that has not come yet.
    """

    role: str
    block: Block
    at: int = -1
    awaited: bool = False

    @property
    def value(self) -> str:
        """Text that is equal for items that say the same."""
        block = {k: v for k, v in self.block.items() if k not in ("cache_control",) and v is not None}
        content = block.get("content")
        if block.get("type") == "tool_result" and isinstance(content, list) and len(content) == 1:
            only = content[0]
            if isinstance(only, Mapping) and only.get("type") == "text":
                block["content"] = only.get("text")
        if block.get("type") == "tool_result" and not block.get("is_error"):
            block.pop("is_error", None)
        return self.role + jsontext.canonical(jsontext.sendable_value(block))


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn found in the messages: its role, its blocks, and the results that come first in a user message."""

    role: str
    blocks: tuple[Block, ...]
    results: tuple[Block, ...] = ()


def items_of(messages: Sequence[Mapping[str, Any]]) -> list[Item]:
    """Messages as items, results in call order.  Raises `TurnError` for what is not a user or assistant message."""
    items: list[Item] = []
    calls: list[str] = []
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ("user", "assistant"):
            raise TurnError(f"messages[{at}] must be a user or assistant message, not {str(message)[:60]!r}")
        blocks = [b for b in to_blocks(message.get("content", "")) if not is_blank(b)]
        if role == "assistant":
            calls = [str(b.get("id")) for b in blocks if b["type"] == "tool_use"]
        else:
            blocks.sort(key=lambda b: _rank(b, calls))
        items += [Item(role, b, at) for b in blocks]
    return items


def _rank(block: Block, calls: Sequence[str]) -> int:
    if block["type"] != "tool_result":
        return len(calls) + 1
    call = str(block.get("tool_use_id"))
    return calls.index(call) if call in calls else len(calls)


def stored_items(turns: Sequence[Turn]) -> Iterator[Item]:
    """Stored turns as the items a client's own list would hold."""
    for turn in turns:
        for block in turn.blocks:
            if not is_blank(block):
                yield Item(turn.role, block, turn.number)
        have = turn.in_place
        for i, call in enumerate(turn.calls):
            body = forms.as_sent(have[i].body) if i in have else {**forms.filler(), "type": "tool_result"}
            awaited = turn.is_open and i not in have
            yield Item("user", {**body, "tool_use_id": call["id"]}, turn.number, awaited)


def after(known: Sequence[Item], given: Sequence[Item], *, what: str) -> list[Item]:
    """What ``given`` says beyond ``known``.  Raises `HistoryConflictError` at the first block that differs."""
    index, conflict, came = _carried(known, given)
    if conflict is not None:
        item, stored = conflict
        raise HistoryConflictError(
            f"messages[{item.at}] differs from {what} (at {stored.at}): the past cannot be changed; "
            "send it as it was, or start a new conversation"
        )
    return [*came, *given[index:]]


def carries_on(known: Sequence[Item], given: Sequence[Item]) -> bool:
    """Whether ``given`` begins with all of ``known``."""
    index, conflict, _ = _carried(known, given)
    return conflict is None and len(_worded(given[:index])) == len(_worded(known))


def _carried(known: Sequence[Item], given: Sequence[Item]) -> tuple[int, tuple[Item, Item] | None, list[Item]]:
    """How many items of ``given`` are known, the first pair that differs, and awaited results among the known.

    A client may drop thinking.
    """
    said = iter(_worded(known))
    told, last_at = 0, -1
    came: list[Item] = []
    for index, item in enumerate(given):
        if is_thinking(item.block):
            told = index + 1 if item.at == last_at else told
            continue
        stored = next((s for s in said if not s.awaited or _fills(s, item)), None)
        if stored is None:
            return told, None, came
        if item.value != stored.value and not _fills(stored, item):
            return told, (item, stored), came
        if stored.awaited:
            came.append(item)
        told, last_at = index + 1, item.at
    return told, None, came


def _worded(items: Sequence[Item]) -> list[Item]:
    return [i for i in items if not is_thinking(i.block)]


def _fills(known: Item, given: Item) -> bool:
    """Whether a client's own stand-in answers a call whose result we never got."""
    call = known.block.get("tool_use_id")
    return (
        call is not None
        and call == given.block.get("tool_use_id")
        and known.block.get("content") == forms.filler()["content"]
    )


def new_turns(items: Sequence[Item]) -> list[NewTurn]:
    """Group new items into turns; neighbouring blocks of one role are one turn."""
    turns: list[NewTurn] = []
    start = 0
    while start < len(items):
        role = items[start].role
        end = start
        while end < len(items) and items[end].role == role:
            end += 1
        blocks = [i.block for i in items[start:end]]
        results = tuple(b for b in blocks if b["type"] == "tool_result")
        turns.append(NewTurn(role, tuple(b for b in blocks if b["type"] != "tool_result"), results))
        start = end
    return turns
