"""Long conversations, stored fast, and a count of what SQLite reads: for `benchmarks.core` and a test.

Turns come in rounds of three, as an agent makes them: a user's request, a tool call with its result, an answer;
about 2,000 tokens a round.  They are written through the store's own transactions, thousands to a commit.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from contextmgr import Conversation, Manager, Profile, jsontext, load_profile
from contextmgr.store.sqlite import Durability, SqliteStore
from contextmgr.tokens import Count, blocks_features
from contextmgr.turns import Block, ToolResult, Turn

MODEL = "claude-sonnet-5-5"
SYSTEM = "You are a careful programmer. Work in small steps, run the tests, and say what you changed. " * 20
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": f"{name} a file", "input_schema": {"type": "object", "properties": {}}}
    for name in ("read", "write", "search", "run")
]
COMMIT = 5_000
START = datetime(2026, 1, 1, tzinfo=UTC)
_SENTENCE = "the handler returns the order and its lines, ORDER BY lineNo, as load_order(order_id) did before "


def profile(*, search: bool = False) -> Profile:
    """A budget whose epochs begin at about 40 turns and end at about 80, so that the median view is about 60.

    Search is off unless asked for, so that what is measured is the core.
    """
    sized = load_profile("coding-agent").with_budget(52_000)
    quiet = sized.retrieved.model_copy(update={"enabled": search})
    return sized.model_copy(update={"fill": 0.5, "retrieved": quiet})


def text(size: int) -> str:
    """Words and names, ``size`` bytes of them."""
    return (_SENTENCE * (size // len(_SENTENCE) + 1))[:size]


def filled(file: Path, turns: int, count: Count, *, durability: Durability = "process") -> tuple[Manager, Conversation]:
    """A manager, and a conversation of ``turns`` turns with three pins at its beginning."""
    manager = Manager(file, profile=profile(), durability=durability, background=False)
    chat = manager.conversation("c", tenant="bench")
    store = manager._store
    made = list(_round(count))
    for start in range(0, turns, COMMIT):
        with store.writing(chat.scope) as tx:
            for i in range(start, min(turns, start + COMMIT)):
                turn, result = made[i % 3]
                at = START + timedelta(seconds=i)
                number, _ = tx.next_turn(chat.id, at)
                tx.add_turn(chat.id, replace(turn, number=number, said_at=at), None)
                if result is not None:
                    tx.add_result(chat.id, number, 0, result)
    for number in (1, 4, 7):
        chat.pins.add(number, quote=f"Rule {number % 3}: ")
    return manager, chat


def _round(count: Count) -> Iterator[tuple[Turn, ToolResult | None]]:
    said = {"type": "text", "text": "Rule 1: " + text(1_200)}
    call = {"type": "tool_use", "id": "toolu_01", "name": "read", "input": {"path": "orders/load.py"}}
    body = {"type": "tool_result", "tool_use_id": "toolu_01", "content": text(1_600)}
    result = ToolResult(call=0, body=body, sha256="0" * 64, features=blocks_features([body], count), said_at=START)
    yield _turn("user", said, count), None
    yield replace(_turn("assistant", call, count), stop_reason="tool_use"), result
    yield replace(_turn("assistant", {"type": "text", "text": text(1_400)}, count), stop_reason="end_turn"), None


def _turn(role: Any, block: Block, count: Count) -> Turn:
    return Turn(
        number=0,
        role=role,
        author="user" if role == "user" else "model",
        blocks=(block,),
        said_at=START,
        sha256=jsontext.sha256(jsontext.dumps([block])),
        features=blocks_features([block], count),
    )


@dataclass(slots=True)
class Reads:
    """What SQLite did: rows handed out, and steps of its virtual machine."""

    rows: int = 0
    steps: int = 0


@contextmanager
def reads(manager: Manager) -> Iterator[Reads]:
    """Count what the manager's SQLite store reads meanwhile; much slower than without."""
    store = manager._store
    assert isinstance(store, SqliteStore)
    connection, found = store._connect(), Reads()
    before = connection.row_factory
    connection.row_factory = _counting(found)
    connection.set_progress_handler(_stepping(found), 1)
    try:
        yield found
    finally:
        connection.set_progress_handler(None, 1)
        connection.row_factory = before


def _counting(found: Reads) -> Callable[[sqlite3.Cursor, tuple[Any, ...]], sqlite3.Row]:
    def row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> sqlite3.Row:
        found.rows += 1
        return sqlite3.Row(cursor, values)

    return row


def _stepping(found: Reads) -> Callable[[], int]:
    def step() -> int:
        found.steps += 1
        return 0

    return step
