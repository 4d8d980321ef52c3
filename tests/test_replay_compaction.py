"""Replays with summaries: what is counted of them, and what is told where a conversation cannot be replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.errors import OpenTurnError
from contextmgr.replay import Outcome, replay_session
from contextmgr.transcripts import Session, read_sessions
from tests.replaying import MODEL, call, exchanges, profile, replayed, replied, returned, said, session, text
from tests.request_check import blocks_of, check_request, texts_of


@pytest.fixture(scope="module")
def small() -> Session:
    root = Path(__file__).resolve().parents[1]
    (one,) = read_sessions(root / "examples" / "sessions" / "small-session.jsonl")
    return one


@pytest.fixture(scope="module")
def summarised(small: Session) -> tuple[Outcome, list[AssembledRequest]]:
    requests: list[AssembledRequest] = []
    outcome = replay_session(
        small,
        profile=profile(40_000),
        model=MODEL,
        pin="first",
        summarizer="extractive",
        on_request=requests.append,
        policies=(),
    )
    return outcome, requests


def test_what_leaves_the_view_is_summarised(summarised: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, requests = summarised
    found = outcome.compactions
    assert outcome.is_clean
    assert found.items_kept > found.summaries > 1
    assert "[Summary of turns" in "".join(texts_of(requests[-1].params))
    assert [fault for r in requests for fault in check_request(r.params)] == []


def test_the_summary_tier_keeps_its_cap(summarised: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, requests = summarised
    largest = max(r.report.tiers.get("summary", 0) for r in requests)
    assert 0 < outcome.compactions.summary_tokens_max == largest <= profile(40_000).summary.cap


def test_without_a_summarizer_there_is_no_summary() -> None:
    found = replayed(session(*exchanges(30, "words " * 200)), 10_000)[0].compactions
    assert (found.summaries, found.items_kept, found.items_dropped, found.summary_tokens_max) == (0, 0, 0, 0)


def test_masked_results_are_those_that_requests_show(summarised: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, requests = summarised
    results = [b for r in requests for _, b in blocks_of(r.params) if b["type"] == "tool_result"]
    masked = {b["tool_use_id"] for b in results if "[Output of " in str(b["content"])[:80]}
    assert outcome.compactions.masked == len(masked) > 0


def test_cut_results_are_counted_once() -> None:
    large = "x = compute(y)\n" * 4_000
    events = [said("list"), replied(call("a")), returned("a", large), *exchanges(3, "words")[1:]]
    outcome, _ = replayed(session(*events))
    assert (outcome.compactions.cut, outcome.calls) == (1, 4)


def test_no_policy_is_played_where_none_is_wanted(summarised: tuple[Outcome, list[AssembledRequest]]) -> None:
    assert summarised[0].policies == {}


def test_every_policy_shows_its_requests() -> None:
    seen: list[tuple[str, int]] = []
    replay_session(
        session(*exchanges(2, "words")),
        profile=profile(20_000),
        model=MODEL,
        on_policy=lambda name, params: seen.append((name, len(params["messages"]))),
    )
    assert seen == [(name, n) for n in (1, 3) for name in ("send_everything", "slide_every_call")]


STOPPING = [said("list"), replied(call("a")), replied(text("done"))]


def test_what_stops_a_conversation_is_raised() -> None:
    with pytest.raises(OpenTurnError):
        replayed(session(*STOPPING))


def test_what_stops_a_conversation_can_be_told() -> None:
    outcome = replay_session(session(*STOPPING), profile=profile(20_000), model=MODEL, keep_going=True)
    assert (outcome.error or "").startswith("OpenTurnError: ")
    assert (outcome.calls, outcome.is_clean, outcome.to_json()["error"]) == (2, False, outcome.error)
