"""Several processes assemble the same conversation at the same moment.

python -m tests.processes.race FILE PROCESSES ROUNDS
"""

from __future__ import annotations

import sys
from functools import partial

from contextmgr import Manager
from tests import rv
from tests.processes.forks import say, together
from tests.processes.kills import answer, ask, digest, text


def assemble(file: str) -> list[object]:
    """The number of the request, and the digest of its bytes."""
    with Manager(file, profile=8_000) as manager, rv.watching():
        request = ask(manager.conversation("c", tenant="t"))
        return [request.number, digest(request.params)]


def main(file: str, processes: str, rounds: str) -> None:
    """New turns, one request each, asked for by all at once; prints a line per round."""
    with Manager(file, profile=8_000) as manager:
        chat = manager.conversation("c", tenant="t")
        for i in range(int(rounds)):
            chat.add_user(text(i + 1))
            say(together([partial(assemble, file)] * int(processes)))
            answer(chat, text(i + 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
