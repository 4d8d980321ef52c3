"""Writers, a reader and an assembler on one conversation, each a process, in a store that none has made yet.

python -m tests.processes.crowd FILE WRITERS TURNS_EACH SECONDS
"""

from __future__ import annotations

import sqlite3
import sys
import time
from functools import partial

from contextmgr import Conversation, Manager, NothingToAnswerError
from tests.processes.forks import say, together
from tests.request_check import check_request


def chat_of(manager: Manager) -> Conversation:
    return manager.conversation("c", tenant="t")


def write(file: str, name: str, how_many: int) -> list[int]:
    """The numbers of the turns added."""
    with Manager(file, profile=8_000) as manager:
        chat = chat_of(manager)
        return [chat.add_user(f"{name} {i}", key=f"{name}-{i}").number for i in range(how_many)]


def read(file: str, seconds: float) -> bool:
    """Whether one read transaction sees the same at its end as at its beginning."""
    Manager(file).close()
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN")
    first = connection.execute("SELECT count(*) FROM turn").fetchone()
    time.sleep(seconds)
    last = connection.execute("SELECT count(*) FROM turn").fetchone()
    connection.close()
    return bool(first == last)


def assemble(file: str, how_many: int) -> int:
    """How many requests were issued until all turns were there."""
    with Manager(file, profile=8_000) as manager:
        chat, there = chat_of(manager), 0
        while there < how_many:
            there = chat.history.count()
            try:
                request = chat.assemble(model="claude-sonnet-5-5", max_tokens=100)
            except NothingToAnswerError:
                time.sleep(0.01)
                continue
            assert check_request(request.params) == []
            assert chat.request_at(request.number) == request
        return request.number


def main(file: str, writers: str, each: str, seconds: str) -> None:
    """Prints what each writer, the reader and the assembler found."""
    parts = [partial(write, file, f"w{i}", int(each)) for i in range(int(writers))]
    all_turns = int(writers) * int(each)
    say(together([*parts, partial(read, file, float(seconds)), partial(assemble, file, all_turns)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
