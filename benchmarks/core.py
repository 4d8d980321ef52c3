"""How long the core takes: assembling at any length of the history, and appending beside a bare insert.

    python -m benchmarks.core --json [--samples N] [--sizes 100,1000,10000,100000] [--search]

What is compared is measured in turns, sample by sample in one process, so that a busy machine slows both sides
alike.  Keys are explained in README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import searching
from benchmarks.histories import MODEL, SYSTEM, TOOLS, filled, profile, reads, text
from contextmgr import AssembledRequest, Conversation, Manager
from contextmgr.counters import default_counter
from contextmgr.store.sqlite import Durability

SIZES = (100, 1_000, 10_000, 100_000)
SAMPLES = 120
APPEND_BYTES = 2_048
SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


class ConstantCounter:
    """Counts nothing: every text has a hundred tokens."""

    name = "constant"

    def count(self, text: str) -> int:
        """A hundred."""
        return 100


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds that a call took, and what it returned."""
    start = time.perf_counter()
    value = work()
    return (time.perf_counter() - start) * 1e3, value


@dataclass(slots=True)
class Length:
    """What was measured at one length of the history."""

    manager: Manager
    chat: Conversation
    extended: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    repeated: list[float] = field(default_factory=list)
    rolled: list[float] = field(default_factory=list)
    views: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def assemble(self) -> AssembledRequest:
        """The next request."""
        return self.chat.assemble(model=MODEL, max_tokens=2_048, system=SYSTEM, tools=TOOLS)

    def sample(self) -> None:
        """One new user turn: the request for it, the same again, and an answer."""
        self.chat.add_user("And this order? " + text(1_300))
        worked = time.thread_time()
        took, request = timed(self.assemble)
        if request.report.why == "extended":
            self.extended.append(took)
            self.worked.append((time.thread_time() - worked) * 1e3)
            self.views.append(sum(s.last - s.first + 1 for s in request.report.turns if s.disposition == "verbatim"))
            self.tokens.append(request.report.tokens)
        else:
            self.rolled.append(took)
        self.repeated.append(timed(self.assemble)[0])
        usage = {"input_tokens": request.report.tokens, "output_tokens": 300}
        said = [{"type": "text", "text": text(1_500)}]
        self.chat.add_reply({"content": said, "stop_reason": "end_turn", "model": MODEL, "usage": usage})

    def rows(self) -> dict[str, int]:
        """What SQLite reads for one more new turn."""
        self.chat.add_user("And the last one?")
        with reads(self.manager) as found:
            self.assemble()
        return {"rows": found.rows, "steps": found.steps}


def assembling(folder: Path, sizes: Iterable[int], samples: int) -> dict[str, Any]:
    """Assemble in stores of several lengths, one sample of each in turn."""
    count = default_counter().count
    with ExitStack() as stack:
        lengths: dict[int, Length] = {}
        for size in sizes:
            manager, chat = filled(folder / f"{size}.db", size, count)
            lengths[size] = Length(stack.enter_context(manager), chat)
            lengths[size].chat.add_user("What is next?")
            lengths[size].assemble()
        for _ in range(samples):
            for length in lengths.values():
                length.sample()
        measured = {size: _summary(length) | length.rows() for size, length in lengths.items()}
    first, last = min(measured), max(measured)
    return {
        "turns": {str(size): values for size, values in measured.items()},
        "ratio_longest_to_shortest": round(measured[last]["p50_ms"] / measured[first]["p50_ms"], 3),
        "rows_equal": len({(m["rows"], m["steps"]) for m in measured.values()}) == 1,
    }


def _summary(length: Length) -> dict[str, Any]:
    return {
        "p50_ms": _p50(length.extended),
        "cpu_p50_ms": _p50(length.worked),
        "repeat_p50_ms": _p50(length.repeated),
        "rollover_p50_ms": _p50(length.rolled) if length.rolled else None,
        "samples": len(length.extended),
        "view_turns_p50": int(statistics.median(length.views)),
        "view_tokens_p50": int(statistics.median(length.tokens)),
    }


def _p50(values: list[float]) -> float:
    return round(statistics.median(values), 4)


def appending(folder: Path, durability: Durability, samples: int) -> dict[str, Any]:
    """Append with and without counting, beside a bare insert of the same row, one sample of each in turn."""
    said = text(APPEND_BYTES)
    times: dict[str, list[float]] = {"bare": [], "uncounted": [], "counted": []}
    with ExitStack() as stack:
        chats = []
        for name, counter in (("uncounted", ConstantCounter()), ("counted", default_counter())):
            file = folder / f"{durability}-{name}.db"
            manager = Manager(file, profile=profile(), durability=durability, counter=counter, background=False)
            chats.append((name, stack.enter_context(manager).conversation("c", tenant="bench")))
            chats[-1][1].add_user(said)
        bare = stack.enter_context(closing(_bare(folder / f"{durability}-uncounted.db", durability)))
        insert, row = _insertion(bare)
        for i in range(samples):
            row[2] = i + 2
            times["bare"].append(timed(partial(_commit, bare, insert, row))[0])
            for name, chat in chats:
                times[name].append(timed(partial(chat.add_user, said))[0])
    p50 = {f"{name}_p50_ms": _p50(values) for name, values in times.items()}
    ratios = {f"{n}_to_bare": round(p50[f"{n}_p50_ms"] / p50["bare_p50_ms"], 3) for n in ("uncounted", "counted")}
    return p50 | ratios


def _bare(like: Path, durability: Durability) -> sqlite3.Connection:
    """A plain connection to a file with a copy of the turn table and one row in it."""
    connection = sqlite3.connect(like.with_suffix(".bare"), isolation_level=None)
    for pragma in ("journal_mode=WAL", f"synchronous={SYNCHRONOUS[durability]}", "secure_delete=ON", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("ATTACH ? AS ours", (str(like),))
    schema = connection.execute("SELECT sql FROM ours.sqlite_master WHERE name = 'turn'").fetchone()[0]
    connection.execute(schema)
    connection.execute("INSERT INTO main.turn SELECT * FROM ours.turn")
    connection.execute("DETACH ours")
    return connection


def _insertion(connection: sqlite3.Connection) -> tuple[str, list[Any]]:
    row = list(connection.execute("SELECT * FROM turn").fetchone())
    return f"INSERT INTO turn VALUES ({','.join('?' * len(row))})", row


def _commit(connection: sqlite3.Connection, insert: str, row: list[Any]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(insert, row)
    connection.execute("COMMIT")


def measure(sizes: Iterable[int], samples: int) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="contextmgr-bench-") as folder:
        root = Path(folder)
        return {
            "assemble": assembling(root, sizes, samples),
            "append": {
                "bytes": APPEND_BYTES,
                "process": appending(root, "process", 10 * samples),
                "power": appending(root, "power", samples),
            },
            "machine": {
                "python": platform.python_version(),
                "sqlite": sqlite3.sqlite_version,
                "cores": os.cpu_count(),
                "counter": default_counter().name,
            },
        }


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.core", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object on one line")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="samples of each kind (default %(default)s)")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="turns stored (default %(default)s)")
    parser.add_argument("--search", action="store_true", help="measure assembling with a search instead")
    given = parser.parse_args(arguments)
    sizes = [int(size) for size in given.sizes.split(",")]
    if given.search:
        with tempfile.TemporaryDirectory(prefix="contextmgr-bench-") as folder:
            found = searching.measured(Path(folder), sizes, given.samples)
    else:
        found = measure(sizes, given.samples)
    print(json.dumps(found, indent=None if given.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
