"""Several processes assemble the same conversation at the same moment.

    python -m tests.processes.race FILE PROCESSES ROUNDS

Prints one line of JSON per round: the number and the digest of what each process got.
"""

from __future__ import annotations

import json
import os
import sys

from contextmgr import Manager
from tests import rv
from tests.processes.kills import answer, ask, digest, text


def assemble(file: str, go: int, into: int) -> None:
    """In a child: open the store, wait for the pipe to close, assemble, report."""
    with Manager(file, profile=8_000) as manager, rv.watching():
        chat = manager.conversation("c", tenant="t")
        os.read(go, 1)
        request = ask(chat)
        os.write(into, json.dumps([request.number, digest(request.params)]).encode() + b"\n")


def child(file: str, go: tuple[int, int], into: int) -> int:
    """Fork one off."""
    number = os.fork()
    if number == 0:
        os.close(go[1])
        assemble(file, go[0], into)
        os._exit(0)
    return number


def main(file: str, processes: str, rounds: str) -> None:
    """New turns, one request each, asked for by all at once."""
    for i in range(int(rounds)):
        with Manager(file, profile=8_000) as manager:
            chat = manager.conversation("c", tenant="t")
            chat.add_user(text(i + 1))
        go, result = os.pipe(), os.pipe()
        children = [child(file, go, result[1]) for _ in range(int(processes))]
        for end in (*go, result[1]):
            os.close(end)
        with os.fdopen(result[0]) as lines:
            print(json.dumps([json.loads(line) for line in lines]))
        assert [os.waitpid(c, 0)[1] for c in children] == [0] * len(children)
        with Manager(file, profile=8_000) as manager:
            answer(manager.conversation("c", tenant="t"), text(i))


if __name__ == "__main__":
    main(*sys.argv[1:])
