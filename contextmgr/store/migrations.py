"""Schema changes: an ordered list of small named functions, each applied once, in one transaction.

A released migration is never edited; a change of the tables is a new function at the end of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from contextmgr.errors import StoreVersionError
from contextmgr.store import tables
from contextmgr.store.search_statements import FTS_TABLE

Execute = Callable[[str], object]


_FIRST = (*("conversation", "turn", "result", "pin", "head", "epoch", "view", "request", "task", "calibration"),)


def m0001_tables(execute: Execute, dialect: Dialect) -> None:
    """The tables of turns, pins, epochs and requests."""
    _create(_FIRST, execute, dialect)


def m0002_summaries(execute: Execute, dialect: Dialect) -> None:
    """The tables of summaries and of work in the background."""
    _create(("summary", "job"), execute, dialect)


def m0003_search(execute: Execute, dialect: Dialect) -> None:
    """The tables of the search index, and an index of withdrawn turns, which no search may find."""
    _create(("search_state", "search_text", "search_episode", "search_vector"), execute, dialect)
    execute("CREATE INDEX ix_turn_withdrawn ON turn (tenant, conv, n) WHERE withdrawn IS NOT NULL")
    if dialect.name == "sqlite":
        execute(FTS_TABLE)


def _create(names: Sequence[str], execute: Execute, dialect: Dialect) -> None:
    for name in names:
        table = tables.METADATA.tables[name]
        execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            execute(str(CreateIndex(index).compile(dialect=dialect)))


MIGRATIONS: Sequence[Callable[[Execute, Dialect], None]] = (m0001_tables, m0002_summaries, m0003_search)


def missing(applied: Sequence[str]) -> list[Callable[[Execute, Dialect], None]]:
    """The migrations still to run, in order.  Raises `StoreVersionError` where the store knows more than we do."""
    known = [m.__name__ for m in MIGRATIONS]
    newer = sorted(set(applied) - set(known))
    if newer:
        raise StoreVersionError(
            f"the store holds migrations this contextmgr does not know ({', '.join(newer)}); upgrade contextmgr"
        )
    return [m for m in MIGRATIONS if m.__name__ not in applied]
