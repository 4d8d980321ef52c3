"""The SQLite store: one file, WAL, one connection per process, numbers given out under the write lock.

``durability="process"`` survives killing the process (synchronous=NORMAL), ``"power"`` a power cut as well
(FULL, one fsync per commit).  ``secure_delete`` is on, so erased text does not stay in free pages.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Literal

from sqlalchemy.dialects import sqlite as dialects
from sqlalchemy.schema import CreateTable

from contextmgr.errors import ContextManagerError, InputError, StoreBusyError, StoreError
from contextmgr.scope import Scope
from contextmgr.store import forking, migrations, tables
from contextmgr.store.search_statements import SCRUB
from contextmgr.store.statements import Compiled, compile_all
from contextmgr.store.transaction import RowTransaction

Durability = Literal["process", "power"]
_DIALECT = dialects.dialect(paramstyle="qmark")
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


@cache
def _statements() -> dict[str, Compiled]:
    """Compiled once per process: it takes longer than all the rest of opening a store."""
    return compile_all(_DIALECT)


class SqliteStore:
    """A `Store` in one SQLite file, or in memory with ``path=None``.

    ``wait`` is how long a lock may take, in seconds.  Raises `StoreError` where the file cannot be opened,
    `StoreBusyError` where a lock takes longer, `StoreVersionError` for a file of a newer release.
    """

    def __init__(self, path: str | Path | None, *, durability: Durability = "process", wait: float = 30.0) -> None:
        if durability not in _SYNCHRONOUS:
            raise StoreError(f"durability={durability!r} is unknown; use 'process' or 'power'")
        self._path = None if path is None else Path(path)
        self._durability = durability
        self._wait = wait
        self._lock = threading.RLock()
        self._dialect = _DIALECT
        self._statements = _statements()
        self._closed = False
        self._owner = 0
        self._connection: sqlite3.Connection | None = None
        try:
            self._migrate(self._connect())
        except BaseException:
            self.close()
            raise
        forking.closes_before_fork(self)

    def before_fork(self) -> None:
        """Finish and close the connection: SQLite's locks are not inherited, so neither may a connection be."""
        self._lock.acquire()
        if self._connection is not None and self._path is not None and not self._connection.in_transaction:
            self._connection.close()
            self._connection = None

    def after_fork(self) -> None:
        """Go on, in the parent and in the child alike, with a connection of one's own."""
        self._lock.release()

    def _connect(self) -> sqlite3.Connection:
        """This process's connection, opened at first use."""
        if self._closed:
            raise StoreError("the store is closed; open a new Manager")
        if self._connection is not None and self._owner == os.getpid():
            return self._connection
        if self._connection is not None:
            raise StoreError(
                "a store in memory, or inside a transaction, cannot be used by a forked process; "
                "use a file and fork between transactions"
            )
        target = ":memory:" if self._path is None else str(self._path)
        try:
            self._connection, self._owner = self._opened(target), os.getpid()
        except sqlite3.Error as error:
            raise StoreError(f"cannot open {target!r} as an SQLite store: {error}; give a writable path") from error
        return self._connection

    def _opened(self, target: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            target, timeout=self._wait, isolation_level=None, check_same_thread=False, cached_statements=256
        )
        try:
            self._configure(connection)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _configure(self, connection: sqlite3.Connection) -> None:
        connection.row_factory = sqlite3.Row
        deadline = time.monotonic() + self._wait
        while True:  # switching a new file to WAL answers "locked" at once, whatever the busy timeout says
            try:
                connection.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        connection.execute(f"PRAGMA synchronous={_SYNCHRONOUS[self._durability]}")
        connection.execute("PRAGMA secure_delete=ON")
        connection.execute("PRAGMA foreign_keys=ON")

    def _migrate(self, connection: sqlite3.Connection) -> None:
        create = str(
            CreateTable(tables.METADATA.tables["migration"], if_not_exists=True).compile(dialect=self._dialect)
        )
        with _Work(self, Scope(tenant="migrations"), "BEGIN IMMEDIATE"):
            connection.execute(create)
            applied = [row["name"] for row in connection.execute("SELECT name FROM migration")]
            for migration in migrations.missing(applied):
                migration(connection.execute, self._dialect)
                row = (migration.__name__, time.time_ns() // 1000)
                connection.execute("INSERT INTO migration (name, applied_at) VALUES (?, ?)", row)

    def reading(self, scope: Scope) -> AbstractContextManager[RowTransaction]:
        """A read transaction: one state from its first read on."""
        return _Work(self, scope, "BEGIN DEFERRED")

    def writing(self, scope: Scope) -> AbstractContextManager[RowTransaction]:
        """A write transaction: it holds the write lock from its start, and is all or nothing."""
        return _Work(self, scope, "BEGIN IMMEDIATE")

    def scrub(self) -> None:
        """Make erased bytes unreadable in the file and its log (freed pages are zeroed by secure_delete).

        Words taken out of the full-text table stay in its older parts until all are merged into one.
        """
        with self._lock:
            connection = self._connect()
            try:
                connection.execute(SCRUB)
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.Error as error:
                raise _typed(error, self._wait) from error
        if busy:
            raise StoreBusyError(
                f"erased, but another reader held the store's log for more than {self._wait:g} s, so it still holds "
                "the bytes; erase again once that reader is done"
            )

    def close(self) -> None:
        """Close the file.  Closing twice is fine."""
        with self._lock:
            if self._connection is not None and self._owner == os.getpid():
                self._connection.close()
            self._connection, self._closed = None, True


class _Work(AbstractContextManager[RowTransaction]):
    """One transaction.  A class, because a generator would cost more than all but the largest statements."""

    __slots__ = ("_begin", "_connection", "_scope", "_store")

    def __init__(self, store: SqliteStore, scope: Scope, begin: str) -> None:
        self._store, self._scope, self._begin = store, scope, begin

    def __enter__(self) -> RowTransaction:
        store = self._store
        store._lock.acquire()
        try:
            connection = self._connection = store._connect()
            if connection.in_transaction:
                raise StoreError("a transaction is already open in this thread; finish it first")
            connection.execute(self._begin)
        except BaseException as error:
            store._lock.release()
            if isinstance(error, sqlite3.Error):
                raise _typed(error, store._wait) from error
            raise
        return RowTransaction(self._scope, connection, store._statements)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
        except sqlite3.Error as failed:
            raise _typed(failed, self._store._wait) from failed
        finally:
            self._finish()
        if isinstance(error, (sqlite3.Error, OverflowError, UnicodeEncodeError)):
            raise _typed(error, self._store._wait) from error

    def _finish(self) -> None:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self._store._lock.release()


def _typed(error: Exception, wait: float) -> ContextManagerError:
    if isinstance(error, (OverflowError, UnicodeEncodeError)):
        return InputError(f"a value cannot be stored: {error}; use 64-bit numbers and text without lone surrogates")
    if not isinstance(error, sqlite3.OperationalError):
        return StoreError(f"the store refused the operation: {error}; nothing was changed")
    if "locked" in str(error) or "busy" in str(error):
        return StoreBusyError(f"the store was locked for more than {wait:g} s ({error}); raise wait= or try again")
    return StoreError(f"the store cannot be used: {error}; check the file and the disk")
