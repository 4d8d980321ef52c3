"""One of several processes at work on one conversation; waits for a line on its input, then starts.

    python -m tests.processes.crowd write FILE NAME HOW_MANY    prints the number of each turn it added
    python -m tests.processes.crowd read FILE SECONDS           holds one read transaction that long
    python -m tests.processes.crowd assemble FILE HOW_MANY      assembles until that many turns are there
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Mapping

from contextmgr import Conversation, Manager, NothingToAnswerError
from tests.request_check import check_request


def chat_of(manager: Manager) -> Conversation:
    return manager.conversation("c", tenant="t")


def write(file: str, name: str, how_many: str) -> None:
    with Manager(file, profile=8_000) as manager:
        chat = chat_of(manager)
        for i in range(int(how_many)):
            print(chat.add_user(f"{name} {i}", key=f"{name}-{i}").number)


def read(file: str, seconds: str) -> None:
    Manager(file).close()
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("BEGIN")
    first = connection.execute("SELECT count(*) FROM turn").fetchone()
    time.sleep(float(seconds))
    print(connection.execute("SELECT count(*) FROM turn").fetchone() == first)
    connection.close()


def assemble(file: str, how_many: str) -> None:
    with Manager(file, profile=8_000) as manager:
        chat, there = chat_of(manager), 0
        while there < int(how_many):
            there = chat.history.count()
            try:
                request = chat.assemble(model="claude-sonnet-5-5", max_tokens=100)
            except NothingToAnswerError:
                time.sleep(0.01)
                continue
            assert check_request(request.params) == []
            assert chat.request_at(request.number) == request
        print(request.number > 1)


PARTS: Mapping[str, Callable[..., None]] = {"write": write, "read": read, "assemble": assemble}

if __name__ == "__main__":
    sys.stdin.readline()
    PARTS[sys.argv[1]](*sys.argv[2:])
