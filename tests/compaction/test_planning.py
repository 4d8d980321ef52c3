"""Which turns are planned: those that would leave, each once, in order, in pieces of a bounded size."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contextmgr.compaction import SOURCE_SHARE
from contextmgr.episodes import source_tokens
from contextmgr.preparing import LEAST, REACH_BACK, item_budget, readable
from contextmgr.summaries import SegmentStatus
from tests.compaction.driving import Scribe, Talk, summarising, talking
from tests.field_reports.talk import ask, prose, reply, text

PIECE = SOURCE_SHARE * item_budget(800)
lengths = st.lists(st.sampled_from([3, 20, 60, 200, 700]), min_size=12, max_size=40)


def talk_of(talk: Talk, sizes: list[int]) -> list[tuple[int, int]]:
    """Exchanges of those sizes; returns the ranges planned, in the order of planning."""
    planned: list[tuple[int, int]] = []
    for i, size in enumerate(sizes):
        talk.chat.add_user(f"Question {i}: {prose(size)}")
        request = ask(talk.chat)
        new = [(j.first, j.last) for j in talk.waiting]
        if new and request.report.why == "extended":
            assert request.report.tokens > 0.8 * request.report.budget
        assert all(last < 2 * i + 1 for _, last in new), "the tail is never planned"
        planned += new
        talk.chat.add_reply(reply(text(f"Answer {i}: {prose(size // 2)}")))
        assert talk.flush() == 0
    return planned


@settings(max_examples=4)
@given(sizes=lengths)
def test_each_turn_is_planned_once_in_pieces_of_a_bounded_size_that_follow_one_another(sizes: list[int]) -> None:
    with talking(budget=summarising(7_000, min_turns=2)) as talk:
        planned = talk_of(talk, sizes)
        assert [a for a, _ in planned] == [1, *(b + 1 for _, b in planned[:-1])][: len(planned)]
        written = [s for s in talk.chat.compactions() if s.level == 0]
        assert [s.ranges for s in written] == [((a, b),) for a, b in planned]
        assert all([n for n, _ in s.coverage] == list(range(s.first, s.last + 1)) for s in written)
        for first, last in planned:
            weights = [source_tokens(t) for t in talk.chat.history.turns(first, last)]
            assert PIECE // LEAST <= sum(weights) <= PIECE + PIECE // LEAST + 2 * max(weights)


def test_nothing_is_planned_while_the_view_is_below_prepare_at() -> None:
    with talking(budget=summarising(20_000, prepare_at=0.9)) as talk:
        while talk.exchange().report.tokens < 0.85 * 20_000:
            assert talk.chat.compactions() == talk.waiting == []


def test_it_is_ready_before_the_turns_leave() -> None:
    with talking() as talk:
        ready = talk.until(SegmentStatus.READY)
        assert ready.last < talk.until_rollover().report.turns[-1].first
        (active, *_) = talk.segments(SegmentStatus.ACTIVE, SegmentStatus.MERGED)
        assert active.id == ready.id


def test_leftovers_are_read_with_the_turns_that_follow_them() -> None:
    with talking(budget=summarising(6_000, prepare_at=1.0)) as talk:
        talk.exchanges(40)
        written = [s for s in talk.chat.compactions() if s.level == 0]
        assert len(written) > 4
        assert [s.first for s in written[1:]] == [s.last + 1 for s in written[:-1]]


def test_what_left_before_there_was_a_summariser_is_read_only_so_far_back() -> None:
    with talking() as talk:
        with_none = talk.manager._workers._summarising
        talk.manager._workers._summarising = None
        quiet = talk.manager.conversation("talk", tenant="t-1")
        for i in range(60):
            quiet.add_user(f"Question {i}: {prose(60)}")
            ask(quiet)
            quiet.add_reply(reply(text("Noted.")))
        talk.manager._workers._summarising = with_none
        talk.exchanges(20)
        assert min(s.first for s in talk.chat.compactions()) >= 60 * 2 - REACH_BACK - 40


def test_one_assemble_plans_a_bounded_number_of_pieces() -> None:
    scribe = Scribe()
    with talking(scribe) as talk:
        for i in range(200):
            talk.chat.add_user(f"Unanswered {i}: {prose(60)}")
        ask(talk.chat)
        assert len(talk.waiting) <= 2 + 6_000 // (PIECE // LEAST)
        talk.flush()
        assert len(scribe.prompts) <= 2 + 6_000 // (PIECE // LEAST)


def test_a_conversation_without_a_summariser_plans_nothing() -> None:
    with talking(None) as talk:
        talk.exchanges(40)
        assert talk.waiting == talk.chat.compactions() == []
        assert talk.flush() == 0


def test_turns_that_a_pin_keeps_in_view_are_not_summarised_again() -> None:
    scribe = Scribe()
    with talking(scribe) as talk:
        talk.chat.add_user("Every amount is in integer cents, never in floats.", pin=True)
        talk.chat.add_reply(reply(text("Noted, cents everywhere.")))
        talk.chat.add_user(f"Export nightly. {prose(30)} Keep the audit table.", quote="Keep the audit table.")
        talk.chat.add_reply(reply(text("Will do.")))
        talk.exchanges(20)
        assert not any("integer cents" in p for p in scribe.prompts)
        assert any("Export nightly." in p for p in scribe.prompts), "what a quote leaves out is read"
        assert not any(s.covers(1) for s in talk.chat.compactions())


def test_readable_looks_at_the_words_of_each_pin() -> None:
    with talking() as talk:
        whole = talk.chat.add_user("Never push to main.", pin=True)
        part = talk.chat.add_user("Never push to main. Also: tea at four.", quote="Never push to main.")
        plain = talk.chat.add_user("Hello.")
        assert readable([whole, part, plain], talk.chat.pins.list()) == [part, plain]


def test_pieces_are_the_same_whoever_asks(tmp_path: Any) -> None:
    ranges = []
    for name in ("a.db", "b.db"):
        with talking(path=tmp_path / name) as talk:
            talk.exchanges(25)
            ranges.append([(s.level, s.ranges, s.items, s.status) for s in talk.chat.compactions()])
    assert ranges[0] == ranges[1]
