"""The worker: what happens while it writes, beside others, after a crash, and when it fails again and again."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from contextmgr import ErasedError, Manager
from contextmgr import summarising as summarising_module
from contextmgr.store import MAX_ATTEMPTS
from contextmgr.summaries import SegmentStatus
from contextmgr.summarising import LEASE, PAUSE
from contextmgr.writers import WriterError
from tests.compaction.driving import (
    Clock,
    Lines,
    Scribe,
    Talk,
    first_sentences,
    gap_of,
    raising,
    summarising,
    summary_of,
    talking,
)
from tests.field_reports.talk import ask, reply, text, texts_in

ONE = summarising(6_000, fill=0.8)  # little leaves at a time, so one piece is planned at a time


def planned(talk: Talk) -> None:
    """Talk until a piece waits in the outbox."""
    while not talk.waiting:
        talk.exchange(flush=False)
    assert len(talk.waiting) == 1


def meanwhile(act: Callable[[], object]) -> tuple[Scribe, list[object]]:
    """A writer that does something else, once, before it answers."""
    done: list[object] = []

    def answer(lines: Lines) -> object:
        if not done:
            done.append(act())
        return first_sentences(lines)

    return Scribe(answer), done


def test_a_turn_that_arrives_meanwhile_is_verbatim_in_the_next_request() -> None:
    scribe, done = meanwhile(lambda: talk.chat.add_user("By the way: use port 9999."))
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        talk.flush()
        assert len(done) == 1
        assert "By the way: use port 9999." in texts_in(ask(talk.chat))
        assert len(talk.segments(SegmentStatus.READY)) == 1


@pytest.mark.parametrize("how", ["erase", "withdraw"])
def test_a_turn_that_goes_meanwhile_is_in_no_summary(how: str) -> None:
    def act() -> object:
        return talk.chat.erase_turn(3) if how == "erase" else talk.chat.withdraw(3, "a mistake")

    scribe, done = meanwhile(act)
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        secret = talk.chat.history.turn(3).text.partition(".")[0]
        talk.flush()
        assert len(done) == 1
        found = talk.chat.compactions()
        assert [s.covers(3) for s in found] == [False]
        assert found[0].covers(2)
        assert not any(secret in i.text for s in found for i in s.items)
        assert secret in scribe.prompts[0]
        assert all(secret not in p for p in scribe.prompts[1:])
        assert secret not in json.dumps(talk.until_rollover().params)


def quoting(lines: Lines) -> object:
    raise ValueError(f"cannot read {lines[2]['text'][:60]!r}")


def test_an_error_that_quotes_a_turn_is_gone_with_it() -> None:
    with talking(Scribe(quoting), budget=ONE) as talk:
        planned(talk)
        talk.flush()
        assert "Module_1 has" in str(talk.waiting[0].error)
        talk.chat.erase_turn(3)
        assert "Module_1" not in str(talk.waiting[0].error)


def test_an_error_that_quotes_a_turn_erased_meanwhile_is_not_kept() -> None:
    def answer(lines: Lines) -> object:
        talk.chat.erase_turn(3)
        return quoting(lines)

    with talking(Scribe(answer), budget=ONE) as talk:
        planned(talk)
        talk.flush()
        assert talk.waiting[0].error == "error"


def test_erasing_what_is_in_no_summary_leaves_older_requests_as_they_were() -> None:
    with talking(budget=ONE) as talk:
        talk.until(SegmentStatus.ACTIVE)
        request = talk.until_rollover()
        talk.exchanges(2)
        talk.chat.erase_turn(talk.chat.history.count())
        assert summary_of(request)
        assert talk.chat.request_at(request.number).params == request.params
        talk.chat.erase_turn(1)
        with pytest.raises(ErasedError):
            talk.chat.request_at(request.number)


def test_a_manager_that_is_dropped_with_its_thread_at_work_warns() -> None:
    manager = Manager("sqlite://", summarizer=Scribe())
    manager.conversation("talk", tenant="t-1")
    with pytest.warns(ResourceWarning, match="context manager"):
        del manager


def test_a_conversation_erased_meanwhile_leaves_nothing() -> None:
    scribe, done = meanwhile(lambda: talk.chat.erase())
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        assert talk.flush() == 0
        assert len(done) == 1
        again = talk.manager.conversation("talk", tenant="t-1")
        assert again.compactions() == again.pending() == []


def test_a_late_result_that_arrives_meanwhile_is_read() -> None:
    result = {"type": "tool_result", "tool_use_id": "tu_1", "content": "Late: 7 shards are broken."}
    scribe, done = meanwhile(lambda: talk.chat.add_tool_results([result]))
    with talking(scribe, budget=ONE) as talk:
        talk.chat.add_user("Count the shards.")
        ask(talk.chat)
        talk.chat.add_reply(
            reply(text("Counting."), {"type": "tool_use", "id": "tu_1", "name": "read_log", "input": {}})
        )
        talk.chat.interrupt()
        planned(talk)
        talk.flush()
        assert len(done) == 1
        assert "7 shards" not in scribe.prompts[0]
        assert "7 shards" in scribe.prompts[1]
        assert len([s for s in talk.chat.compactions() if s.covers(2)]) == 1


def test_two_workers_on_one_outbox_write_one_summary_per_range(tmp_path: Path) -> None:
    scribe = Scribe()
    with (
        talking(scribe, path=tmp_path / "a.db", budget=ONE) as one,
        talking(scribe, path=tmp_path / "a.db", budget=ONE) as other,
    ):
        both: list[list[threading.Thread]] = []
        for _ in range(30):
            one.exchange(flush=False)
            both.append([threading.Thread(target=t.manager.flush) for t in (one, other)])
            for thread in both[-1]:
                thread.start()
            for thread in both[-1]:
                thread.join()
        written = [s for s in one.chat.compactions() if s.level == 0]
        assert len(written) == len(scribe.prompts) > 2
        assert sum(len(s.coverage) for s in written) == len({n for s in written for n, _ in s.coverage})


def test_whoever_comes_second_with_the_same_range_keeps_nothing(tmp_path: Path) -> None:
    """A lease that ran out under a slow worker: another has done the job by the time it is done."""

    def slow(lines: Lines) -> object:
        other.clock.at = one.clock.at + 2 * LEASE
        other.flush()
        return first_sentences(lines)

    with (
        talking(Scribe(slow), path=tmp_path / "a.db", budget=ONE) as one,
        talking(Scribe(), path=tmp_path / "a.db", budget=ONE) as other,
    ):
        planned(one)
        one.flush()
        assert [s.level for s in one.chat.compactions()] == [0]
        assert one.waiting == []


def test_whoever_comes_second_with_a_failure_changes_nothing(tmp_path: Path) -> None:
    def slow(lines: Lines) -> object:
        other.clock.at = one.clock.at + 2 * LEASE
        other.flush()
        raise ValueError("mine")

    with (
        talking(Scribe(slow), path=tmp_path / "a.db", budget=ONE) as one,
        talking(Scribe(raising(ConnectionError("the other's"))), path=tmp_path / "a.db", budget=ONE) as other,
    ):
        planned(one)
        one.flush()
        assert [(j.attempts, "the other's" in str(j.error)) for j in one.waiting] == [(2, True)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_killed_worker_is_followed_by_another_after_its_lease(tmp_path: Path) -> None:
    clock = Clock()
    with talking(path=tmp_path / "a.db", clock=clock, budget=ONE) as talk:
        planned(talk)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        hang(tmp_path / "a.db", clock, into)
        os._exit(1)
    assert os.read(out, 1) == b"."
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with talking(path=tmp_path / "a.db", clock=clock, budget=ONE) as talk:
        assert talk.flush() == 1
        assert talk.chat.compactions() == []
        clock.pass_by(minutes=11)
        assert talk.flush() == 0
        assert [s.status for s in talk.chat.compactions()] == [SegmentStatus.READY]


def hang(path: Path, clock: Clock, into: int) -> None:
    """In a child: begin the work that is due and never end it."""

    def answer(lines: Lines) -> object:
        os.write(into, b".")
        time.sleep(60)
        return None

    with talking(Scribe(answer), path=path, clock=clock, budget=ONE) as talk:
        talk.flush()


def test_a_failure_that_may_pass_is_tried_again_a_few_times_and_later_each_time() -> None:
    scribe = Scribe(raising(ConnectionError("no route to host")))
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        waits = []
        for attempt in range(1, MAX_ATTEMPTS + 1):
            assert talk.flush() == 1
            assert talk.flush() == 1, "not before its time"
            (job,) = talk.waiting
            assert (job.attempts, len(scribe.prompts)) == (attempt, attempt)
            waits.append(job.not_before / 1e6 - talk.clock.at.timestamp())
            talk.clock.pass_by(seconds=waits[-1] + 1)
        assert waits[1] > 1.5 * waits[0] > PAUSE.total_seconds()
        assert talk.flush() == 1
        assert len(scribe.prompts) == MAX_ATTEMPTS
        assert "no route to host" in str(job.error)


def test_the_wait_the_other_side_asks_for_is_kept() -> None:
    busy = WriterError("error", "overloaded", retryable=True, retry_after=900.0)
    with talking(Scribe(raising(busy)), budget=ONE) as talk:
        planned(talk)
        talk.flush()
        (job,) = talk.waiting
        assert job.not_before / 1e6 - talk.clock.at.timestamp() > 800


def test_a_failure_that_will_not_pass_is_tried_once() -> None:
    scribe = Scribe(raising(ValueError("bad key")))
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        talk.flush()
        talk.clock.pass_by(days=1)
        assert talk.flush() == 1
        assert len(scribe.prompts) == 1


def test_the_next_assemble_has_a_failed_piece_tried_again() -> None:
    """With a thread at work nobody calls flush()."""
    scribe = Scribe(raising(ConnectionError("down")))
    with talking(scribe, background=True, budget=ONE) as talk:
        planned(talk)
        expect(lambda: any(j.error for j in talk.waiting))
        scribe.answer = first_sentences
        talk.clock.pass_by(minutes=5)
        talk.exchange(flush=False)
        expect(lambda: bool(talk.segments(SegmentStatus.READY, SegmentStatus.ACTIVE)))


def expect(what: Callable[[], bool]) -> None:
    """Wait until a thread has done something; the test fails if it never does."""
    for _ in range(2_000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_a_fault_in_one_piece_does_not_stop_the_thread() -> None:
    class Odd(Exception):
        pass

    scribe = Scribe(raising(Odd("?")))
    with talking(scribe, background=True, budget=ONE) as talk:
        planned(talk)
        expect(lambda: any(j.error for j in talk.waiting))
        scribe.answer = first_sentences
        while len(talk.waiting) < 2 and not talk.chat.compactions():
            talk.exchange(flush=False)
        expect(lambda: bool(talk.chat.compactions()))


def test_a_broken_template_is_a_failure_of_the_piece_and_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "summarise.jinja2").write_text("{{ there.is.no.such.value }}")
    scribe = Scribe()
    with talking(scribe, prompts=tmp_path, budget=ONE) as talk:
        planned(talk)
        assert talk.flush() == 1
        assert talk.waiting[0].error
        assert scribe.prompts == []
        talk.until_rollover()


def test_after_a_later_range_succeeds_the_gap_stays_marked() -> None:
    scribe = Scribe(raising(ValueError("bad key")))
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        talk.flush()
        (failed,) = talk.waiting
        scribe.answer = first_sentences
        talk.until(SegmentStatus.ACTIVE)
        request = talk.until_rollover()
        assert talk.waiting == [failed]
        assert f"turns {failed.first}-{failed.last}" in gap_of(request)
        assert f"[Summary of turns {failed.last + 1}-" in summary_of(request)
        assert request.report.disposition(failed.first) == "out"
        assert request.report.disposition(failed.last + 1) == "summarised"


def test_failed_pieces_are_forgotten_in_the_end_so_that_the_outbox_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summarising_module, "FAILURES", 3)
    scribe = Scribe(raising(ValueError("bad key")))
    with talking(scribe, budget=summarising(2_500, cap=120, min_turns=2)) as talk:
        talk.exchanges(30)
        assert len(scribe.prompts) > 6
        assert len(talk.waiting) == 3
        assert len(scribe.prompts) == len(set(scribe.prompts)), "no piece is asked for twice"


def test_closing_does_not_wait_for_a_writer_that_hangs(tmp_path: Path) -> None:
    begun, over = threading.Event(), threading.Event()

    def answer(lines: Lines) -> object:
        begun.set()
        over.wait(60)
        return first_sentences(lines)

    with talking(Scribe(answer), path=tmp_path / "a.db", background=True, budget=ONE) as talk:
        planned(talk)
        assert begun.wait(60)
        talk.manager.close(timeout=0.1)
    over.set()
    with talking(path=tmp_path / "a.db", budget=ONE) as talk:
        assert [s.status for s in talk.chat.compactions()] == []
        assert len(talk.waiting) == 1


def test_work_left_by_one_process_is_done_when_the_conversation_is_opened_again(tmp_path: Path) -> None:
    with talking(path=tmp_path / "a.db", budget=ONE) as talk:
        planned(talk)
    with talking(path=tmp_path / "a.db", budget=ONE) as talk:
        assert talk.flush() == 0
        assert talk.segments(SegmentStatus.READY)


def test_flush_begins_nothing_when_its_time_is_up() -> None:
    scribe = Scribe()
    with talking(scribe, budget=ONE) as talk:
        planned(talk)
        assert talk.flush(timeout=0) == 1
        assert scribe.prompts == []


@pytest.mark.parametrize("limit", [0, -1.0, float("inf"), float("nan")])
def test_a_limit_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(ValueError, match="summarizer_timeout"):
        Manager("sqlite://", summarizer=Scribe(), summarizer_timeout=limit)


def test_a_writer_that_says_too_much_is_cut_down_to_its_share() -> None:
    def chatty(lines: Lines) -> object:
        return {"items": [{"text": x["text"][:200], "kind": "result", "turns": [x["turn"]]} for x in lines]}

    with talking(Scribe(chatty), budget=summarising(6_000, cap=300)) as talk:
        ready = talk.until(SegmentStatus.READY)
        assert 0 < ready.tokens <= 240
        assert ready.dropped > 0
