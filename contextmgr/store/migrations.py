"""Schema changes: an ordered list of small named functions, each applied once, in one transaction.

A released migration is never edited; a change of the tables is a new function at the end of the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from contextmgr.errors import StoreVersionError
from contextmgr.store import tables

Execute = Callable[[str], object]


def m0001_tables(execute: Execute, dialect: Dialect) -> None:
    """All tables and indexes of the first release."""
    for table in tables.METADATA.sorted_tables:
        if table.name != "migration":
            execute(str(CreateTable(table).compile(dialect=dialect)))
            for index in sorted(table.indexes, key=lambda i: str(i.name)):
                execute(str(CreateIndex(index).compile(dialect=dialect)))


MIGRATIONS: Sequence[Callable[[Execute, Dialect], None]] = (m0001_tables,)


def missing(applied: Sequence[str]) -> list[Callable[[Execute, Dialect], None]]:
    """The migrations still to run, in order.  Raises `StoreVersionError` where the store knows more than we do."""
    known = [m.__name__ for m in MIGRATIONS]
    newer = sorted(set(applied) - set(known))
    if newer:
        raise StoreVersionError(
            f"the store holds migrations this contextmgr does not know ({', '.join(newer)}); upgrade contextmgr"
        )
    return [m for m in MIGRATIONS if m.__name__ not in applied]
