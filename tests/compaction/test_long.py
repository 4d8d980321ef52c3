"""A conversation without end: after any number of compactions the summary is small and true to its turns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.compaction import FANOUT
from contextmgr.store.transaction import RowTransaction
from contextmgr.summaries import Segment, SegmentStatus
from tests.compaction.driving import Talk, gap_of, summarising, summary_of, talking
from tests.field_reports.talk import ask, prose, reply, step, text

RULE = "All database calls must use prepared statements. This is non-negotiable."
CAP = 400

pytestmark = pytest.mark.filterwarnings("ignore::contextmgr.pinning.PinShareWarning")


@dataclass
class Reads:
    """How many rows each request read from the store."""

    rows: int = 0
    most: list[int] = field(default_factory=list)

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Count what every statement gives back."""
        run = RowTransaction.run

        def counted(transaction: RowTransaction, *given: object) -> object:
            return Counting(run(transaction, *given), self)  # type: ignore[arg-type]

        monkeypatch.setattr(RowTransaction, "run", counted)

    def of(self, act: Callable[[], AssembledRequest]) -> AssembledRequest:
        before = self.rows
        request = act()
        self.most.append(self.rows - before)
        return request


@dataclass
class Counting:
    """A cursor that counts the rows taken from it."""

    cursor: object
    reads: Reads

    @property
    def rowcount(self) -> int:
        return self.cursor.rowcount  # type: ignore[attr-defined,no-any-return]

    def fetchone(self) -> object:
        self.reads.rows += 1
        return self.cursor.fetchone()  # type: ignore[attr-defined]

    def fetchall(self) -> object:
        found = self.cursor.fetchall()  # type: ignore[attr-defined]
        self.reads.rows += len(found)
        return found


def say(talk: Talk, i: int) -> None:
    """What is said in exchange ``i``: mostly talk, sometimes a tool call, now and then another rule that is pinned."""
    if i % 97 == 96 and i < 500:
        talk.chat.add_user(f"Rule {i}: module_{i} never listens below port {8000 + i}.", pin=True)
    else:
        talk.chat.add_user(f"Module_{i} has to listen on port {8000 + i % 900}. {prose(30, f'Check {i},')}")


def answer(talk: Talk, i: int) -> None:
    if i % 5 == 4:
        step(talk.chat, f"tu_{i}", prose(300, f"Log {i}:"), text(f"I look at module_{i}."))
        ask(talk.chat)
    talk.chat.add_reply(reply(text(f"Module_{i} listens on port {8000 + i % 900} now. {prose(50)}")))


def check_summary(talk: Talk, request: AssembledRequest) -> None:
    """Cap, pins, and citations inside what the segments in force cover."""
    assert request.report.tiers.get("summary", 0) <= CAP
    assert {p.pin for p in request.proof.pins} == {p.id for p in talk.chat.pins.list()}
    assert len(gap_of(request)) < 400
    assert len(summary_of(request).partition("\n")[0]) < 400


def check_segments(talk: Talk) -> list[Segment]:
    """Every segment, whatever became of it: citations valid and covered, levels low, each turn read once."""
    found = talk.chat.compactions()
    count = talk.chat.history.count()
    for segment in found:
        assert all(segment.covers(n) and 1 <= n <= count for i in segment.items for n in i.turns)
        assert all(segment.covers(n) for n, _ in segment.coverage)
    written = [s for s in found if s.level == 0]
    assert max(s.level for s in found) <= 1 + math.log(len(written), FANOUT)
    read = [n for s in written for n, _ in s.coverage]
    assert len(read) == len(set(read))
    live = [s for s in found if s.status in (SegmentStatus.ACTIVE, SegmentStatus.READY)]
    assert sorted(n for s in live for a, b in s.ranges for n in range(a, b + 1)) == sorted(read)
    return written


def check_citations(talk: Talk) -> None:
    """What the plain function says stands in the turn it names, word for word."""
    for segment in talk.segments(SegmentStatus.ACTIVE):
        for item in segment.items:
            said = [talk.chat.history.turn(n) for n in item.turns]
            assert not item.verbatim or any(item.text in t.text for t in said)


def check_run(exchanges: int, rollovers: int, monkeypatch: pytest.MonkeyPatch, look: int) -> None:
    """So many exchanges; ``look`` says how often the segments are looked at on the way."""
    reads = Reads()
    with talking(budget=summarising(3_600, cap=CAP, fill=0.5)) as talk:
        reads.watch(monkeypatch)
        talk.chat.add_user(RULE, pin=True)
        talk.chat.add_reply(reply(text("Understood.")))
        for i in range(exchanges):
            say(talk, i)
            request = reads.of(lambda: ask(talk.chat))
            check_summary(talk, request)
            answer(talk, i)
            talk.manager.flush()
            if i % look == look - 1:
                check_segments(talk)
        written = check_segments(talk)
        check_citations(talk)
        assert request.report.epoch > rollovers
        assert len(written) >= rollovers / 2
        numbers = range(1, talk.chat.history.count() + 1)
        assert all(talk.chat.history.turn(n).number == n for n in numbers)
        early, late = reads.most[len(reads.most) // 4 : len(reads.most) // 2], reads.most[len(reads.most) // 2 :]
        assert max(late) <= 1.25 * max(early) + 12 * len(talk.chat.pins.list())


def test_six_hundred_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    check_run(260, 20, monkeypatch, look=100)


@pytest.mark.slow
@pytest.mark.unwatched(reason="10,000 turns: what concerns summaries is checked here, the rest by the shorter run")
def test_ten_thousand_turns_and_a_hundred_rollovers(monkeypatch: pytest.MonkeyPatch) -> None:
    check_run(4_560, 300, monkeypatch, look=1_000)
