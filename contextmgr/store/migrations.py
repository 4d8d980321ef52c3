"""Schema changes: an ordered list of small named functions, each applied once, in one transaction.

A released migration is never edited; a change of the tables is a new function at the end of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Column, Index
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable, MetaData, Table

from contextmgr.errors import StoreVersionError
from contextmgr.store import state_tables, tables
from contextmgr.store.search_statements import FTS_TABLE

Execute = Callable[[str], object]


_STATE = (state_tables.Fact, state_tables.Note, state_tables.Recalled, state_tables.Audit)
_ADDED = {("conversation", "title_made"), ("epoch", "state")}  # columns that came after their table
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


def m0004_state(execute: Execute, dialect: Dialect) -> None:
    """The tables of facts, notes and recall, and what conversations and epochs know of them."""
    _create([str(model.__tablename__) for model in _STATE], execute, dialect)
    execute("ALTER TABLE conversation ADD COLUMN title_made INTEGER NOT NULL DEFAULT 0")
    execute("ALTER TABLE epoch ADD COLUMN state BIGINT NOT NULL DEFAULT 0")


def m0005_descriptions(execute: Execute, dialect: Dialect) -> None:
    """The table of descriptions of episodes."""
    _create(("search_description",), execute, dialect)


def _create(names: Sequence[str], execute: Execute, dialect: Dialect) -> None:
    for name in names:
        table = _as_it_was(tables.METADATA.tables[name])
        execute(str(CreateTable(table).compile(dialect=dialect)))
        for index in sorted(table.indexes, key=lambda i: str(i.name)):
            execute(str(CreateIndex(index).compile(dialect=dialect)))


def _as_it_was(table: Table) -> Table:
    """A table without the columns that later migrations add to it."""
    if not any(name == table.name for name, _ in _ADDED):
        return table
    columns = [
        Column(c.name, c.type, primary_key=c.primary_key, nullable=c.nullable)
        for c in table.columns
        if (table.name, c.name) not in _ADDED
    ]
    made = Table(table.name, MetaData(), *columns)
    for index in table.indexes:
        Index(index.name, *(made.c[c.name] for c in index.columns))
    return made


MIGRATIONS: Sequence[Callable[[Execute, Dialect], None]] = (
    m0001_tables,
    m0002_summaries,
    m0003_search,
    m0004_state,
    m0005_descriptions,
)


def missing(applied: Sequence[str]) -> list[Callable[[Execute, Dialect], None]]:
    """The migrations still to run, in order.  Raises `StoreVersionError` where the store knows more than we do."""
    known = [m.__name__ for m in MIGRATIONS]
    newer = sorted(set(applied) - set(known))
    if newer:
        raise StoreVersionError(
            f"the store holds migrations this contextmgr does not know ({', '.join(newer)}); upgrade contextmgr"
        )
    return [m for m in MIGRATIONS if m.__name__ not in applied]
