"""What is particular to the SQLite store: its settings, locks, broken files, and forked processes."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from contextmgr import Manager
from contextmgr.errors import StoreBusyError, StoreError
from contextmgr.store import open_store
from contextmgr.store.sqlite import SqliteStore
from contextmgr.testing.values import SCOPE


@contextmanager
def raw(file: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        yield connection


def setting(store: SqliteStore, pragma: str) -> object:
    with store.reading(SCOPE) as tx:
        return tx._execute(f"PRAGMA {pragma}", ()).fetchone()[0]


@pytest.mark.parametrize(("durability", "synchronous"), [("process", 1), ("power", 2)])
def test_durability_is_wal_with_the_sync_it_says(tmp_path: Path, durability: str, synchronous: int) -> None:
    with closing(SqliteStore(tmp_path / "a.db", durability=durability)) as store:  # type: ignore[arg-type]
        found = [setting(store, p) for p in ("journal_mode", "synchronous", "secure_delete")]
    assert found == ["wal", synchronous, 1]


def test_an_unknown_durability_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="use 'process' or 'power'"):
        open_store(tmp_path / "a.db", durability="none")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["postgresql://host/db", "  ", "mysql://x"])
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


def test_one_file_by_path_url_and_string(tmp_path: Path) -> None:
    for name in (tmp_path / "a.db", f"sqlite:///{tmp_path}/a.db", str(tmp_path / "a.db")):
        with Manager(name) as manager:
            manager.conversation("c", tenant="t").add_user("x")
    with Manager(tmp_path / "a.db") as manager:
        assert manager.conversation("c", tenant="t").history.count() == 3


def test_a_lock_that_takes_too_long_is_a_typed_error(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", wait=0.05) as manager, raw(tmp_path / "a.db") as other:
        chat = manager.conversation("c", tenant="t")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"0\.05 s"):
            chat.add_user("x")
        other.execute("ROLLBACK")
        assert chat.add_user("x").number == 1


def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db") as manager, raw(tmp_path / "a.db") as other:
        chat = manager.conversation("c", tenant="t")
        other.execute("BEGIN IMMEDIATE")
        writer = threading.Thread(target=chat.add_user, args=("x",))
        writer.start()
        other.execute("COMMIT")
        writer.join()
        assert chat.history.count() == 1


def test_reading_does_not_wait_for_a_writer(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", wait=0.05) as manager, raw(tmp_path / "a.db") as other:
        chat = manager.conversation("c", tenant="t")
        chat.add_user("x")
        other.execute("BEGIN IMMEDIATE")
        assert [t.text for t in chat.history.turns()] == ["x"]


def test_a_transaction_inside_a_transaction_is_refused(tmp_path: Path) -> None:
    refused = pytest.raises(StoreError, match="already open")
    with closing(SqliteStore(tmp_path / "a.db")) as store, store.writing(SCOPE), refused, store.reading(SCOPE):
        pytest.fail("unreachable")


@pytest.mark.parametrize("content", [b"not a database, but long enough to look like one\n" * 200, b"SQLite format 3\0"])
def test_a_file_that_is_no_database_is_a_typed_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.db").write_bytes(content)
    with pytest.raises(StoreError):
        Manager(tmp_path / "a.db")
    assert (tmp_path / "a.db").read_bytes() == content


def test_a_damaged_page_is_a_typed_error(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with Manager(file) as manager:
        chat = manager.conversation("c", tenant="t")
        for i in range(200):
            chat.add_user(f"{i} " + "x" * 500)
    with file.open("r+b") as damaged:
        half = file.stat().st_size // 8192 * 4096  # pages of turns and of their index rows
        damaged.seek(half)
        damaged.write(b"\xff" * 4096 * 10)
    with Manager(file) as manager, pytest.raises(StoreError):
        manager.conversation("c", tenant="t").history.turns()


@pytest.mark.parametrize("path", ["missing/a.db", "."])
def test_a_path_that_cannot_be_opened_names_it(tmp_path: Path, path: str) -> None:
    with pytest.raises(StoreError, match="writable path"):
        Manager(tmp_path / path)


def python(code: str, *arguments: object) -> str:
    """Run a program of its own and return what it printed."""
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX permissions")
def test_a_read_only_folder_is_a_typed_error(tmp_path: Path) -> None:
    code = """
import os, sys
from contextmgr import Manager, StoreError
Manager("sqlite://").close()  # everything is imported before the rights to read it may be gone
os.chmod(sys.argv[1], 0o555)
os.chdir(sys.argv[1])
if os.geteuid() == 0:
    os.seteuid(65534)
try:
    Manager("a.db")
except StoreError as error:
    print(error)
"""
    assert "writable path" in python(code, tmp_path)


FORK = """
import os, sys
from contextmgr import Manager, StoreError
memory = Manager("sqlite://")
manager = Manager(sys.argv[1])
chat = manager.conversation("c", tenant="t")
chat.add_user("before")
ready, closed = os.pipe(), os.pipe()
child = os.fork()
if child == 0:
    try:
        memory.conversation("c", tenant="t")
        print("a store in memory was used by a forked process", flush=True)
    except StoreError:
        pass
    chat.add_user("beside the parent")
    os.write(ready[1], b"x")
    os.read(closed[0], 1)
    chat.add_user("after the parent closed")
    manager.close()
    os._exit(0)
os.read(ready[0], 1)
chat.add_user("the parent's own")
manager.close()
memory.close()
os.write(closed[1], b"x")
_, status = os.waitpid(child, 0)
sys.exit(status)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_loses_nothing_on_either_side(tmp_path: Path) -> None:
    assert python(FORK, tmp_path / "a.db") == ""
    with Manager(tmp_path / "a.db") as manager:
        said = [t.text for t in manager.conversation("c", tenant="t").history.turns()]
    assert said == ["before", "beside the parent", "the parent's own", "after the parent closed"]
