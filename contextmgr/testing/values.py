"""Values to fill a store with: one of each kind, every field in use, and the bytes that stores get wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from contextmgr import jsontext
from contextmgr.features import Features
from contextmgr.heads import Head
from contextmgr.pins import Pin, PinKind
from contextmgr.scope import Scope
from contextmgr.turns import Block, Status, ToolResult, Turn, Usage
from contextmgr.views import Anchor, Epoch, Form, Part, PrefaceBlock, RequestRecord, RowKind, ViewRow, Why

NOW = datetime(2026, 8, 17, 9, 30, 0, 123456, tzinfo=UTC)
SCOPE = Scope(tenant="acme", user="ada", project="dal")
NEIGHBOURS = (
    Scope(tenant="other", user="ada", project="dal"),
    Scope(tenant="acme", user="bob", project="dal"),
    Scope(tenant="acme", user=None, project="dal"),
    Scope(tenant="acme", user="ada", project=None),
)
"""Scopes that differ from `SCOPE` in one value each; `SCOPE` and none of them may see the other's data."""
AWKWARD: Block = {
    "type": "text",
    "z": "key order \u00e9 \u4e2d \U0001f426",
    "a": ["\x00", "\udc97", "\ud83d", '"\\\n\u2028'],
    "n": [0, -1, 2**63, 1e-7, 1.5, True, None, {}],
    "text": "<|endoftext|>'; DROP TABLE turn; --",
}
"""A block that comes back exactly, or not at all."""
HEAD = Head("claude-x", ({"type": "text", "text": "You are careful."},), ({"name": "read", "input_schema": {}},), None)


def user_turn(number: int, text: str = "hello", *, metadata: Mapping[str, object] | None = None) -> Turn:
    """A user turn that says ``text``."""
    block = {"type": "text", "text": text}
    return Turn(
        number=number,
        role="user",
        author="user",
        blocks=(block,),
        said_at=NOW,
        metadata=dict(metadata or {}),
        sha256=jsontext.sha256(jsontext.dumps([block])),
        features=Features(prose=len(text)),
    )


def assistant_turn(number: int, *, calls: int = 0, results: Sequence[ToolResult] = ()) -> Turn:
    """An assistant turn with ``calls`` tool calls; open unless every call has its result."""
    blocks: list[Block] = [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, dict(AWKWARD)]
    blocks += [{"type": "tool_use", "id": f"t{i}", "name": "read", "input": {"path": f"{i}"}} for i in range(calls)]
    return Turn(
        number=number,
        role="assistant",
        author="model",
        blocks=tuple(blocks),
        results=tuple(results),
        status=Status.OPEN if calls > len(results) else Status.CLOSED,
        stop_reason="tool_use" if calls else "end_turn",
        model="claude-x",
        usage=Usage(input_tokens=1, cache_read_tokens=2, cache_write_tokens=3, output_tokens=4),
        request=7,
        said_at=NOW,
        sendable=False,
        sha256="a" * 64,
        features=Features(1, 2, 3, 4, 5, 6),
        thinking_features=Features(fixed=9),
    )


def tool_result(call: int, text: str = "ok", *, late: bool = False) -> ToolResult:
    """The result of call number ``call``."""
    body = {"type": "tool_result", "tool_use_id": f"t{call}", "content": [{"type": "text", "text": text}]}
    return ToolResult(call=call, body=body, late=late, sha256="b" * 64, features=Features(numeric=3), said_at=NOW)


def pin(name: str, *, turn: int | None = 1, order: int = 0) -> Pin:
    """An active pin of turn ``turn``, or a project pin with None."""
    text = f"rule {name}"
    return Pin(
        id=name,
        text=text,
        sha256=jsontext.sha256(text),
        kind=PinKind.CONSTRAINT,
        author="operator" if turn is None else "user",
        order=order,
        turn=turn,
        block=None if turn is None else 0,
        start=None if turn is None else 0,
        end=None if turn is None else len(text),
        project=turn is None,
        tokens=5,
        said_at=NOW,
    )


def epoch(number: int, *, broken: str | None = None) -> Epoch:
    """An epoch with a preface that copies turn 1."""
    part = PrefaceBlock(part=Part.PIN, block={"type": "text", "text": "rule p"}, pin="p", turn=1, index=0)
    return Epoch(
        number=number,
        first=1,
        opened_at=2,
        head=HEAD,
        why=Why.FULL,
        preface=(part,),
        tiers={"system": Features(prose=7), "pinned": Features(code=1)},
        hidden=frozenset({3, 5}),
        broken=broken,
        at=NOW,
    )


def view_row(order: int, *, turn: int = 2, ref: str | None = None) -> ViewRow:
    """A row of a view: the masked form of a result, or with ``ref`` an attached pin."""
    if ref is None:
        block = {"type": "tool_result", "content": "[masked]"}
        return ViewRow(order=order, turn=turn, kind=RowKind.FORM, block=block, call=0, form=Form.MASKED)
    return ViewRow(order=order, turn=turn, kind=RowKind.PIN, block={"type": "text", "text": f"rule {ref}"}, ref=ref)


def request(number: int, *, anchored: bool = False) -> RequestRecord:
    """An issued request with a proof of pin ``p``."""
    return RequestRecord(
        number=number,
        epoch=1,
        tail=2,
        rows=1,
        max_tokens=2**40,
        tokens=99,
        features=Features(1, 2, 3),
        previous_tail=1,
        anchor=Anchor(request=number - 1, true_input=88, features=Features(fixed=8)) if anchored else None,
        report={"z": 1, "a": [1.25, "x"]},
        proof=({"pin": "p", "sha256": "c"},),
        at=NOW,
    )
