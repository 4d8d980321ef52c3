"""Kill a process at work, again and again, and look at what it left; everything it acknowledged must be there.

    python -m tests.processes.kills FOLDER ROUNDS SEED

The worker is forked off, says, asks and answers in a loop, and reports each step once its call has returned.  It is
killed after some of the reports, at once or a little later: during an append, or between a request and its answer.
In every fourth round it works on a new file, and is killed about the time that is set up.  Prints one JSON object.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from contextmgr import AssembledRequest, Conversation, Manager
from tests import rv
from tests.processes.forks import say

Report = Callable[[str, int, str], None]


def text(step: int) -> str:
    return f"{step} " + "statement " * (10 + (step - 1) * 7919 % 3_000)


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def ask(chat: Conversation) -> AssembledRequest:
    return chat.assemble(model="claude-sonnet-5-5", max_tokens=100)


def answer(chat: Conversation, words: str) -> int:
    content = [{"type": "text", "text": words}]
    return chat.add_reply({"content": content, "stop_reason": "end_turn", "model": "claude-sonnet-5-5"}).number


def work(file: Path, report: Report) -> None:
    """Say, ask and answer for ever."""
    with Manager(file, profile=20_000) as manager:
        chat = manager.conversation("c", tenant="t")
        while True:
            step = chat.history.count() + 1
            report("turn", chat.add_user(text(step)).number, digest(text(step)))
            request = ask(chat)
            report("request", request.number, digest(request.params))
            report("turn", answer(chat, text(step + 1)), digest(text(step + 1)))


def killed_at_work(file: Path, after: int, wait: float) -> list[list[Any]]:
    """Fork a worker, kill it after so many reports and seconds, and return everything it reported."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        work(file, lambda *what: _tell(into, what))
    os.close(into)
    with os.fdopen(out, "rb") as reports:
        heard = [reports.readline() for _ in range(after)]
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        heard += reports.readlines()
    return [json.loads(line) for line in heard if line]


def _tell(into: int, what: object) -> None:
    os.write(into, json.dumps(what).encode() + b"\n")


def look(file: Path, reported: list[list[Any]]) -> str:
    """Check what is there, and carry on; says where the worker was."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Manager(file, profile=20_000) as manager:
        chat = manager.conversation("c", tenant="t")
        turns = chat.history.turns()
        assert [t.number for t in turns] == list(range(1, len(turns) + 1))
        assert all(t.text == text(t.number) for t in turns)
        for kind, number, said in reported:
            if kind == "turn":
                assert digest(turns[number - 1].text) == said
            else:
                assert digest(chat.request_at(number).params) == said
        return carry_on(chat, len(turns), reported)


def carry_on(chat: Conversation, stored: int, reported: list[list[Any]]) -> str:
    """The next request, and its answer; the one that was out when the worker died is given again."""
    if stored == 0 or stored % 2 == 0:
        chat.add_user(text(stored + 1))
        answer(chat, text(stored + 2)) if ask(chat).number else None
        return "between exchanges" if stored else "nothing stored"
    request = ask(chat)
    lost = reported[-1] if reported and reported[-1][0] == "request" else None
    if lost is not None:
        assert [request.number, digest(request.params)] == lost[1:]
    answer(chat, text(stored + 1))
    return "before the answer" if lost else "before the request"


def moment(i: int, chance: random.Random) -> tuple[int, float]:
    """After how many reports, and seconds, to kill: while setting up, right after a request, or at any time."""
    if i % 4 == 0:
        return 0, chance.uniform(0, 0.1)
    if i % 4 == 1:
        return 3 * chance.randrange(4) + 2, 0.0
    return chance.randrange(1, 12), chance.uniform(0, 0.004)


def main(folder: str, rounds: str, seed: str) -> None:
    """Kill so many times."""
    chance = random.Random(int(seed))
    found: Counter[str] = Counter()
    with rv.watching() as watch:
        for i in range(int(rounds)):
            file = Path(folder) / (f"new-{i}.db" if i % 4 == 0 else "kept.db")
            after, wait = moment(i, chance)
            found[look(file, killed_at_work(file, after, wait))] += 1
    say({"rounds": sum(found.values()), "checked": watch.checked, "found": found})


if __name__ == "__main__":
    main(*sys.argv[1:])
