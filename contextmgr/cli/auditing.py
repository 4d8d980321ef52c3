"""``contextmgr audit``: who searched and recalled what, and what came back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from contextmgr.cli.console import output
from contextmgr.cli.existing import existing_store
from contextmgr.errors import InputError
from contextmgr.scope import Scope
from contextmgr.store.state_base import AuditRecord

MOST = 10_000
_IDS = ("chat_id", "conversation")
_WIDTH = 24  # columns, so that a chat, a turn and a score go on one line


def run(store: str, scope: Scope, conversation: str | None, *, last: int, as_json: bool) -> None:
    """Print the newest ``last`` records of a scope, or of one conversation in it, the newest at the end.

    Raises `StoreError` for a store that is not there, `InputError` for a ``last`` out of range.
    """
    if not 1 <= last <= MOST:
        raise InputError(f"--last {last} must be a number from 1 to {MOST:,}")
    opened = existing_store(store)
    try:
        with opened.reading(scope) as tx:
            records = tx.state.audits(last, conversation)[::-1]
    finally:
        opened.close()
    if as_json:
        for record in records:
            typer.echo(json.dumps(_json(record, scope), ensure_ascii=False))
    elif records:
        output().print(table(records, scope))
    else:
        output().print("no search or recall has been put down here", markup=False)


def table(records: Sequence[AuditRecord], scope: Scope) -> Table:
    """One row per record."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown.add_column("when (UTC)", no_wrap=True)
    for title in ("who", "where", "action", "query"):
        shown.add_column(title, overflow="fold", max_width=_WIDTH)
    shown.add_column("came back", overflow="fold")
    for record in records:
        cells = (_who(record, scope), _where(record), record.action, record.query, _came_back(record))
        shown.add_row(f"{record.at:%Y-%m-%d %H:%M:%S}", *(_cell(cell) for cell in cells))
    return shown


def _json(record: AuditRecord, scope: Scope) -> dict[str, Any]:
    value = dataclasses.asdict(record) | {"at": record.at.isoformat(), "found": [dict(f) for f in record.found]}
    return {"tenant": scope.tenant, **value}


def _who(record: AuditRecord, scope: Scope) -> str:
    return " / ".join(name for name in (scope.tenant, record.user, record.project) if name is not None)


def _where(record: AuditRecord) -> str | None:
    if record.conversation is None:
        return None
    return record.conversation if record.turn is None else f"{record.conversation}, turn {record.turn}"


def _came_back(record: AuditRecord) -> str:
    if record.error is not None:
        return f"error: {record.error}"
    return "\n".join(" ".join(_fields(found)) for found in record.found)


def _fields(found: Mapping[str, Any]) -> Iterator[str]:
    """What a record says of one thing that came back, in few words."""
    for name, value in found.items():
        if value is None:
            continue
        if name in _IDS:
            yield str(value)
        elif name == "score":
            yield f"({value})"
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield f"{name} {', '.join(map(str, value))}"
        else:
            yield f"{name} {value}"


def _cell(text: str | None) -> Text:
    """Text as it is, except for what would move the cursor or colour the screen."""
    return Text("-" if not text else "".join(c if c.isprintable() or c == "\n" else "�" for c in text))
