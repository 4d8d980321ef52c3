"""Taking a summary back: its turns stand verbatim again, ahead of others, for as long as they fit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from contextmgr.errors import BudgetError, ConflictError, NotFoundError
from contextmgr.summaries import Segment, SegmentStatus
from tests.compaction.driving import Scribe, Talk, gap_of, summarising, summary_of, talking
from tests.field_reports.talk import ask, log, results_in, texts_in, words_of
from tests.request_check import blocks_of


def words(talk: Talk, segment: Segment) -> list[str]:
    """What the turns of a segment say."""
    return [t.text for a, b in segment.ranges for t in talk.chat.history.turns(a, b)]


def check_back(talk: Talk, segment: Segment, request: object) -> None:
    """Its turns stand in the request, once each, in order; the summary says nothing of them."""
    said = [b["text"] for _, b in blocks_of(request.params) if b["type"] == "text"]  # type: ignore[attr-defined]
    for each in words(talk, segment):
        assert said.count(each) == 1
    places = [said.index(each) for each in words(talk, segment)]
    assert places == sorted(places)
    cited = [int(x.split()[2].rstrip(",")) for x in summary_of(request).splitlines()[1:]]  # type: ignore[arg-type]
    assert not any(segment.covers(n) for n in cited)
    assert {request.report.disposition(n) for n in (segment.first, segment.last)} == {"verbatim"}  # type: ignore[attr-defined]


def active(talk: Talk) -> Segment:
    """Talk until a summary is in force; returns the first."""
    return talk.until(SegmentStatus.ACTIVE)


ROOMY = summarising(7_000, fill=0.4)


def test_its_turns_are_verbatim_from_the_next_request_on() -> None:
    with talking(budget=ROOMY) as talk:
        segment = active(talk)
        assert talk.chat.undo(segment.id).status is SegmentStatus.UNDONE
        request = talk.exchange()
        assert request.report.why == "broken"
        check_back(talk, segment, request)
        check_back(talk, segment, talk.exchange())


def test_they_stay_ahead_of_others_over_further_rollovers() -> None:
    with talking(budget=ROOMY) as talk:
        segment = active(talk)
        talk.chat.undo(segment.id)
        check_back(talk, segment, talk.exchange())
        for _ in range(3):
            request = talk.until_rollover()
            check_back(talk, segment, request)
            assert request.report.disposition(segment.last + 1) in ("summarised", "out", "verbatim")
        assert request.report.disposition(segment.last + 1) != "verbatim"


def test_they_are_not_summarised_again_while_they_stand_there() -> None:
    scribe = Scribe()
    with talking(scribe, budget=ROOMY) as talk:
        segment = active(talk)
        talk.chat.undo(segment.id)
        talk.until_rollover()
        talk.until_rollover()
        covering = [s for s in talk.chat.compactions() if any(s.covers(n) for n, _ in segment.coverage)]
        assert [s.id for s in covering] == [segment.id]


def test_what_is_only_ready_can_be_taken_back_as_well() -> None:
    with talking(budget=ROOMY) as talk:
        segment = talk.until(SegmentStatus.READY)
        talk.chat.undo(segment.id)
        for _ in range(3):
            request = talk.until_rollover()
            check_back(talk, segment, request)
        assert [s.id for s in talk.chat.compactions() if s.covers(segment.first)] == [segment.id]


def test_the_only_summary_there_is_can_be_taken_back_and_is_not_made_again() -> None:
    scribe = Scribe()
    with talking(scribe, budget=summarising(6_000, fill=0.8)) as talk:
        segment = talk.until(SegmentStatus.READY)
        assert len(scribe.prompts) == 1
        talk.chat.undo(segment.id)
        talk.until(SegmentStatus.ACTIVE)
        assert [s.id for s in talk.chat.compactions() if s.first <= segment.last] == [segment.id]
        check_back(talk, segment, talk.exchange())


def test_of_those_that_are_ready_the_last_one_can_be_taken_back() -> None:
    """Its turns stand inside the window then, behind others that may leave."""
    with talking(budget=ROOMY) as talk:
        talk.until(SegmentStatus.READY)
        first, *_, second = talk.segments(SegmentStatus.READY)
        talk.chat.undo(second.id)
        for _ in range(3):
            request = talk.until_rollover()
            check_back(talk, second, request)
            assert request.report.disposition(first.first) in ("summarised", "out")
        assert [s.id for s in talk.chat.compactions() if s.covers(second.first) or s.covers(second.last)] == [second.id]


def test_in_the_end_they_leave_when_nothing_else_is_left_to_go() -> None:
    with talking(budget=ROOMY) as talk:
        segment = active(talk)
        talk.chat.undo(segment.id)
        check_back(talk, segment, talk.exchange())
        talk.chat.add_user("Read this: " + log(200))
        request = ask(talk.chat)
        assert request.report.disposition(segment.first) == "out"
        assert f"turns {segment.first}-" in gap_of(request)
        assert request.report.disposition(talk.chat.history.count()) == "verbatim"


def test_a_budget_error_says_so_where_they_alone_do_not_fit() -> None:
    with talking(budget=summarising(3_000, cap=200, min_turns=2)) as talk:
        talk.exchanges(60)
        (oldest, *_) = [s for s in talk.segments(SegmentStatus.ACTIVE) if s.level > 0]
        talk.chat.undo(oldest.id)
        talk.chat.add_user("And now?")
        for _ in range(2):
            with pytest.raises(BudgetError) as caught:
                ask(talk.chat)
            assert caught.value.tiers["undone"] > 1_000
            assert sum(caught.value.tiers.values()) > 3_000
            assert "undone" in str(caught.value)


def test_a_merged_summary_is_taken_back_whole() -> None:
    with talking(budget=summarising(16_000, cap=250, fill=0.4)) as talk:
        while not (found := [s for s in talk.segments(SegmentStatus.ACTIVE) if s.level > 0]):
            talk.exchange()
        merged = found[0]
        talk.chat.undo(merged.id)
        request = talk.exchange()
        check_back(talk, merged, request)
        parts = [s for s in talk.chat.compactions() if s.into == merged.id]
        assert {s.status for s in parts} == {SegmentStatus.MERGED}
        assert all(p.items or p.dropped >= 0 for p in parts)


def test_older_requests_still_come_back_byte_for_byte() -> None:
    with talking(budget=ROOMY) as talk:
        segment = active(talk)
        requests = talk.exchanges(4)
        talk.chat.undo(segment.id)
        requests += [*talk.exchanges(3), talk.until_rollover(), talk.until_rollover(), *talk.exchanges(3)]
        for request in requests:
            again = talk.chat.request_at(request.number)
            assert json.dumps(again.params) == json.dumps(request.params)
            assert again.report == request.report


def test_a_restart_keeps_what_was_taken_back(tmp_path: Path) -> None:
    with talking(path=tmp_path / "a.db", budget=ROOMY) as talk:
        segment = active(talk)
        talk.chat.undo(segment.id)
    with talking(path=tmp_path / "a.db", budget=ROOMY) as talk:
        talk.said = 100
        check_back(talk, segment, talk.exchange())
        check_back(talk, segment, talk.until_rollover())


def test_a_huge_result_comes_back_cut_as_any_other() -> None:
    with talking(budget=ROOMY) as talk:
        talk.tool_step(log(4_000))
        segment = active(talk)
        assert segment.covers(2)
        talk.chat.undo(segment.id)
        request = talk.exchange()
        shown = words_of(results_in(request)["tu_1"]["content"])
        assert "left out" in shown
        assert request.report.disposition(2) == "cut"
        assert talk.until_rollover().report.disposition(2) == "cut"


def test_only_what_is_in_force_can_be_taken_back() -> None:
    with talking(budget=summarising(6_000, cap=200)) as talk:
        talk.exchanges(60)
        by_status = {s.status: s for s in talk.chat.compactions()}
        with pytest.raises(ConflictError, match="merged"):
            talk.chat.undo(by_status[SegmentStatus.MERGED].id)
        talk.chat.undo(by_status[SegmentStatus.ACTIVE].id)
        with pytest.raises(ConflictError, match="undone"):
            talk.chat.undo(by_status[SegmentStatus.ACTIVE].id)
        with pytest.raises(NotFoundError, match="sum_nothing"):
            talk.chat.undo("sum_nothing")


def test_another_scope_cannot_take_it_back() -> None:
    with talking() as talk:
        segment = active(talk)
        other = talk.manager.conversation("talk", tenant="t-2")
        with pytest.raises(NotFoundError):
            other.undo(segment.id)
        assert other.compactions() == []


@pytest.mark.parametrize("how", ["erase", "withdraw"])
def test_a_turn_that_goes_takes_its_summary_along_and_the_other_parts_stand_again(how: str) -> None:
    with talking(budget=summarising(6_000, cap=500)) as talk:
        talk.exchanges(45)
        merged = next(s for s in talk.segments(SegmentStatus.ACTIVE) if s.level > 0)
        (base,) = [s for s in talk.chat.compactions() if s.level == 0 and s.covers(9)]
        secret = talk.chat.history.turn(9).text.partition(".")[0]
        talk.chat.erase_turn(9) if how == "erase" else talk.chat.withdraw(9, "a mistake")
        after = {s.id: s for s in talk.chat.compactions()}
        assert {after[s.id].status for s in (merged, base)} == {SegmentStatus.STALE}
        live = [s for s in after.values() if s.status in (SegmentStatus.ACTIVE, SegmentStatus.READY)]
        assert not any(s.covers(9) for s in live)
        assert sum(s.covers(n) for s in live for n in range(1, base.first)) == base.first - 1
        request = talk.exchange()
        assert secret not in json.dumps(request.params)
        assert f"{base.first}-{base.last}" in gap_of(request)
        assert (how == "erase") == all(not s.items for s in after.values() if s.covers(9))


def test_a_turn_withdrawn_and_restored_is_in_the_gap_not_in_an_old_summary() -> None:
    with talking(budget=summarising(6_000, cap=500)) as talk:
        talk.exchanges(45)
        talk.chat.withdraw(9, "a mistake")
        talk.exchange()
        talk.chat.restore(9)
        request = talk.exchange()
        assert request.report.disposition(9) == "out"
        talk.until_rollover()


def test_undone_and_withdrawn_and_erased_one_after_the_other() -> None:
    with talking(budget=ROOMY) as talk:
        segment = active(talk)
        talk.chat.undo(segment.id)
        check_back(talk, segment, talk.exchange())
        gone = segment.first + 2
        talk.chat.withdraw(gone, "a mistake")
        request = talk.exchange()
        assert talk.chat.history.turn(gone).text not in texts_in(request)
        assert talk.chat.history.turn(gone + 1).text in texts_in(request)
        talk.chat.erase_turn(gone + 1)
        erased = talk.exchange()
        assert talk.chat.history.turn(gone + 2).text in texts_in(erased)
        talk.until_rollover()
