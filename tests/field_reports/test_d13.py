"""D13: several processes write one conversation at once, and none of them loses a turn."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from contextmgr import Manager
from contextmgr.errors import StoreBusyError
from contextmgr.scope import Scope
from contextmgr.store.sqlite import SqliteStore
from tests.field_reports.talk import ask, opened, profile, start

WRITERS, EACH = 4, 50
APPEND = """
import pathlib, sys, time
from tests.field_reports.talk import opened, text
path, writer, turns, pause = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
with opened(path) as chat:
    for i in range(turns):
        turn = chat.add_user([text(f"{writer} {i} first"), text(f"{writer} {i} second")])
        print(turn.number, flush=True)
        time.sleep(pause)
"""
ASSEMBLE = """
import pathlib, sys
from tests import rv
from tests.field_reports.talk import ask, opened
print("ready", flush=True)
sys.stdin.readline()
with rv.watching() as watch, opened(pathlib.Path(sys.argv[1])) as chat:
    chat.add_user("assembler 0 first")
    while chat.history.count() < int(sys.argv[2]):
        ask(chat)
    print(watch.checked, flush=True)
"""


def together(*processes: subprocess.Popen[str]) -> None:
    """Let processes that wait at the start line go at the same time."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def hold_a_reader(path: Path, seconds: float) -> threading.Thread:
    """Keep a read transaction open on the store for a while, as soon as it has tables."""

    def hold() -> None:
        connection = sqlite3.connect(path, timeout=30, isolation_level=None)
        while not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'turn'").fetchone():
            time.sleep(0.01)
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM turn").fetchone()
        time.sleep(seconds)
        connection.execute("COMMIT")
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    return thread


def acknowledged(process: subprocess.Popen[str]) -> list[int]:
    """The turn numbers a writer was given."""
    out, _ = process.communicate(timeout=120)
    return [int(line) for line in out.split()]


def check_sound(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_d13_four_writers_a_reader_and_an_assembler_on_a_new_file(tmp_path: Path) -> None:
    path, total = tmp_path / "new.db", WRITERS * EACH + 1
    writers = [start(APPEND, path, f"w{i}", EACH, 0.005) for i in range(WRITERS)]
    assembler = start(ASSEMBLE, path, total)
    together(*writers, assembler)
    reader = hold_a_reader(path, 3.0)
    given = [n for w in writers for n in acknowledged(w)]
    (checked,) = acknowledged(assembler)
    reader.join()
    assert [w.returncode for w in (*writers, assembler)] == [0] * (WRITERS + 1)
    assert checked > 1
    with opened(path) as chat:
        turns = chat.history.turns()
        assert [t.number for t in turns] == list(range(1, total + 1))
        assert sorted(given) == sorted(t.number for t in turns if not t.text.startswith("assembler"))
        check_whole([t.text for t in turns])
        ask(chat)
    check_sound(path)


def check_whole(texts: list[str]) -> None:
    """Every turn of every writer once, both of its blocks together, each writer's own in order."""
    for writer in range(WRITERS):
        own = [t for t in texts if t.startswith(f"w{writer} ")]
        assert own == [f"w{writer} {i} first\n\nw{writer} {i} second" for i in range(EACH)]


def test_d13_a_writer_killed_in_mid_append_leaves_whole_turns_only(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    for round_ in range(2):
        writer = start(APPEND, path, f"w{round_}", 100_000, 0)
        together(writer)
        assert writer.stdout is not None
        seen = [int(writer.stdout.readline()) for _ in range(20 + 7 * round_)]
        os.kill(writer.pid, signal.SIGKILL)
        seen += acknowledged(writer)
        assert writer.returncode == -signal.SIGKILL
        check_sound(path)
        with opened(path) as chat:
            turns = chat.history.turns()
            assert [t.number for t in turns] == list(range(1, len(turns) + 1))
            assert set(seen) <= {t.number for t in turns}
            assert all(len(t.blocks) == 2 for t in turns)
            ask(chat)


def test_d13_threads_of_one_process_share_a_manager(tmp_path: Path) -> None:
    with opened(tmp_path / "t.db") as chat:
        chat.add_user("assembler 0 first")
        threads = [
            threading.Thread(target=lambda i=i: [chat.add_user(f"w{i} {n}") for n in range(25)]) for i in range(4)
        ]
        for thread in threads:
            thread.start()
        while any(t.is_alive() for t in threads):
            ask(chat)
        turns = chat.history.turns()
        assert [t.number for t in turns] == list(range(1, 102))
        for i in range(4):
            assert [t.text for t in turns if t.text.startswith(f"w{i} ")] == [f"w{i} {n}" for n in range(25)]


def test_d13_a_lock_held_for_longer_than_the_stated_wait_is_a_typed_error_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "b.db"
    with opened(path, wait=0.2) as chat:
        chat.add_user("one")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusyError, match=r"0\.2 s"):
            chat.add_user("two")
        assert chat.history.count() == 1
        other.execute("ROLLBACK")
        other.close()
        assert chat.add_user("two").number == 2


def test_d13_two_managers_of_one_process_see_each_other_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "m.db") as one, opened(tmp_path / "m.db") as two:
        for i in range(10):
            assert one.add_user(f"one {i}").number == 2 * i + 1
            assert two.add_user(f"two {i}").number == 2 * i + 2
            assert ask(one).params == ask(two).params


def test_d13_opening_a_new_file_from_many_threads_at_once_makes_it_once(tmp_path: Path) -> None:
    def open_and_write(i: int) -> None:
        with Manager(tmp_path / "n.db", profile=profile(20_000)) as manager:
            manager.conversation("talk", tenant="t-1").add_user(f"by {i}")

    threads = [threading.Thread(target=open_and_write, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = SqliteStore(tmp_path / "n.db")
    with store.reading(Scope(tenant="t-1")) as tx:
        assert len(tx.turns("talk", 1, 100)) == 8
    store.close()
