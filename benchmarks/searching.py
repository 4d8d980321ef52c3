"""`assemble` with a search beside the same without, for ``benchmarks.core --search``: at any length of the history with
the index drained, and while a thread indexes a long backlog.

Turns are unevenly frequent words, about 60 each, by user and assistant in turn; questions are words of one turn.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.histories import MODEL, SYSTEM, TOOLS, profile, reads
from benchmarks.search_speed import START, Language, unit
from contextmgr import Conversation, Manager
from contextmgr.counters import default_counter
from contextmgr.ranking import Unit
from contextmgr.scope import Scope
from contextmgr.store import ConversationRecord, open_store
from contextmgr.tokens import blocks_features
from contextmgr.turns import Turn

COMMIT = 2_000
BACKLOG = 10_000
K = 8


def filled(file: Path, turns: int, *, indexed: bool) -> list[str]:
    """Write a conversation; returns questions about it."""
    language, scope = Language.made(), Scope(tenant="bench")
    store, asked, units = open_store(file), [], list[Unit]()
    features = blocks_features([{"type": "text", "text": " ".join(language.pool[:60])}], default_counter().count)
    with store.writing(scope) as tx:
        tx.create_conversation(ConversationRecord(id="c", created_at=START, updated_at=START))
    texts = list(language.turns(turns))
    for first in range(0, turns, COMMIT):
        with store.writing(scope) as tx:
            for number, words in enumerate(texts[first : first + COMMIT], first + 1):
                tx.next_turn("c", START)
                units.append(unit(number, words))
                role = units[-1].role
                block = {"type": "text", "text": " ".join(words)}
                said = Turn(
                    number=number,
                    role=role,
                    author="user" if role == "user" else "model",
                    blocks=(block,),
                    stop_reason=None if role == "user" else "end_turn",
                    said_at=START,
                    sha256=f"{number:064}",
                    features=features,
                )
                tx.add_turn("c", said, None)
            if indexed:
                tx.search.put("c", units, (), units[-1].number)
            units.clear()
    store.close()
    asked += [language.questions(language.random.choice(texts))["mixed"] for _ in range(400)]
    return asked


@dataclass(slots=True)
class Side:
    """A conversation with search on or off, and what its requests took, in milliseconds."""

    manager: Manager
    chat: Conversation
    wall: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    searched: list[float] = field(default_factory=list)
    quoted: int = 0

    def ask(self, question: str) -> None:
        """Say something new, assemble, and answer."""
        self.chat.add_user(question)
        wall, worked = time.perf_counter(), time.thread_time()
        request = self.chat.assemble(model=MODEL, max_tokens=2_048, system=SYSTEM, tools=TOOLS)
        worked, wall = time.thread_time() - worked, time.perf_counter() - wall
        if request.report.why == "extended":
            self.wall.append(wall * 1e3)
            self.worked.append(worked * 1e3)
        self.quoted += bool(request.report.evidence)
        self.chat.add_reply({"content": [{"type": "text", "text": "Yes."}], "stop_reason": "end_turn", "model": MODEL})

    def search(self, question: str) -> None:
        """Search alone."""
        worked = time.thread_time()
        self.chat.search(question, k=K)
        self.searched.append((time.thread_time() - worked) * 1e3)

    def rows(self, question: str) -> int:
        """Rows that one more request reads."""
        self.chat.add_user(question)
        with reads(self.manager) as found:
            self.chat.assemble(model=MODEL, max_tokens=2_048, system=SYSTEM, tools=TOOLS)
        return found.rows


@dataclass(slots=True)
class Pair:
    """The same conversation twice, with search and without."""

    on: Side
    off: Side
    questions: list[str]

    @classmethod
    def opened(cls, stack: ExitStack, folder: Path, turns: int, *, indexed: bool, background: bool) -> Pair:
        """Write one and copy it."""
        file = folder / f"{turns}-{indexed}-on.db"
        questions = filled(file, turns, indexed=indexed)
        shutil.copy(file, copied := file.with_name(f"{turns}-{indexed}-off.db"))
        sides = []
        for path, search in ((file, True), (copied, False)):
            manager = Manager(path, profile=profile(search=search), background=background and search)
            stack.callback(manager.close, 0.0)
            sides.append(Side(manager, manager.conversation("c", tenant="bench")))
            sides[-1].ask(questions[-1])
        return cls(on=sides[0], off=sides[1], questions=questions)

    def figures(self) -> dict[str, Any]:
        """Medians, and what searching adds."""
        on, off, alone = self.on, self.off, self.on.searched
        found = {
            "with_p50_ms": _p50(on.worked),
            "with_p95_ms": _p95(on.worked),
            "without_p50_ms": _p50(off.worked),
            "with_wall_p50_ms": _p50(on.wall),
            "with_wall_p95_ms": _p95(on.wall),
            "without_wall_p50_ms": _p50(off.wall),
            "quoted": round(on.quoted / max(1, len(on.worked)), 2),
        }
        if alone:
            found |= {"search_p50_ms": _p50(alone), "search_p95_ms": _p95(alone)}
            found["ratio_to_search_plus_without"] = round(_p50(on.worked) / (_p50(alone) + _p50(off.worked)), 3)
        return found

    def rows(self) -> dict[str, int]:
        """Rows that one more request reads, with search and without."""
        return {"rows": self.on.rows(self.questions[0]), "rows_without": self.off.rows(self.questions[0])}


def drained(folder: Path, sizes: Iterable[int], samples: int) -> dict[str, Any]:
    """Every turn but the newest is indexed: one sample of each length in turn."""
    with ExitStack() as stack:
        pairs = {n: Pair.opened(stack, folder, n, indexed=True, background=False) for n in sizes}
        for i in range(samples):
            for pair in pairs.values():
                pair.on.manager.flush()
                question = pair.questions[i % 400]
                pair.on.search(question)
                pair.on.ask(question)
                pair.off.ask(question)
        found = {}
        for size, pair in pairs.items():
            pair.on.manager.flush()
            found[str(size)] = pair.figures() | pair.rows()
    return found


def behind(folder: Path, samples: int) -> dict[str, Any]:
    """A thread is indexing `BACKLOG` turns meanwhile."""
    with ExitStack() as stack:
        pair = Pair.opened(stack, folder, BACKLOG, indexed=False, background=True)
        before = _upto(pair.on)
        start = time.perf_counter()
        for i in range(samples):
            pair.on.ask(pair.questions[i])
            pair.off.ask(pair.questions[i])
        took, done = time.perf_counter() - start, _upto(pair.on) - before
        rows = pair.rows()
        left = pair.on.chat.history.count() - _upto(pair.on)
    return {"turns": BACKLOG, **pair.figures(), **rows, "left": left, "indexed_per_s": round(done / took)}


def _upto(side: Side) -> int:
    with side.manager._store.reading(Scope(tenant="bench")) as tx:
        return tx.search.state("c").upto


def measured(folder: Path, sizes: Iterable[int], samples: int) -> dict[str, Any]:
    """Both."""
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "drained": lambda: drained(folder, sizes, samples),
        "backlog": lambda: behind(folder, samples),
    }
    return {name: part() for name, part in parts.items()}


def _p50(values: list[float]) -> float:
    return round(statistics.median(values), 3)


def _p95(values: list[float]) -> float:
    return round(sorted(values)[int(len(values) * 0.95)], 3)
