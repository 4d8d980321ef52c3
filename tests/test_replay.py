"""Replaying recorded sessions: the real manager call by call, every request checked, every policy by one meter."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.assembly import AssembledRequest
from contextmgr.counters import default_counter
from contextmgr.errors import InputError, ProfileError
from contextmgr.meter import Meter
from contextmgr.models import model_entry
from contextmgr.profiles import load_profile
from contextmgr.replay import STAND_IN_TOKENS, Outcome, replay_session
from contextmgr.replay.driving import pinned_events, proven
from contextmgr.replay.metering import Weigher
from contextmgr.replay.standins import head_of
from contextmgr.replay.timing import START, STEP, moments
from contextmgr.replay.words import Words
from contextmgr.transcripts import Replied, Session, read_sessions
from tests.replaying import MODEL, call, exchanges, replayed, replied, returned, said, session, text
from tests.request_check import blocks_of, check_request, texts_of

FOLDERS = ("claude-code-entire", "claude-code-packmind", "tau-bench", "swe-agent", "codex-agentv", "pi-agent")


@pytest.fixture(scope="module")
def small() -> Session:
    root = Path(__file__).resolve().parents[1]
    (one,) = read_sessions(root / "examples" / "sessions" / "small-session.jsonl")
    return one


@pytest.fixture(scope="module")
def small_replayed(small: Session) -> tuple[Outcome, list[AssembledRequest]]:
    return replayed(small, 40_000, pin="first")


def test_every_call_of_the_small_session(small_replayed: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, requests = small_replayed
    assert outcome.is_clean
    assert (outcome.calls, outcome.refused, len(requests)) == (40, 0, 40)
    assert outcome.pins_proven == outcome.pins_expected == 40
    assert [fault for r in requests for fault in check_request(r.params)] == []


def test_the_first_wish_stands_in_every_request(
    small: Session, small_replayed: tuple[Outcome, list[AssembledRequest]]
) -> None:
    wish = small.events[0].blocks[0]["text"]
    assert all(texts_of(r.params).count(wish) == 1 for r in small_replayed[1])


def test_sizes_are_inside_the_budget(small_replayed: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, requests = small_replayed
    assert outcome.peak_tokens == max(r.report.tokens for r in requests) <= 40_000
    assert outcome.rollovers == dict(Counter(r.report.why for r in requests if r.report.why != "extended"))


def test_a_replay_can_be_repeated(small: Session, small_replayed: tuple[Outcome, list[AssembledRequest]]) -> None:
    again, requests = replayed(small, 40_000, pin="first")
    assert [r.params for r in requests] == [r.params for r in small_replayed[1]]
    assert again.to_json() | {"seconds": 0} == small_replayed[0].to_json() | {"seconds": 0}


def test_costs_are_those_of_a_plain_meter(
    small: Session, small_replayed: tuple[Outcome, list[AssembledRequest]]
) -> None:
    outcome, requests = small_replayed
    entry = model_entry(MODEL)
    meter = Meter(entry, Weigher(entry, default_counter().count))
    times = moments(small.events)
    starts = [times[i - 1].timestamp() for i, e in enumerate(small.events) if isinstance(e, Replied)]
    charges = [meter.charge(r.params, at) for r, at in zip(requests, starts, strict=True)]
    assert sum(c.cost for c in charges) == pytest.approx(outcome.sent.cost)
    assert sum(c.total for c in charges) == outcome.sent.tokens_sent


def test_policies_are_priced_for_the_same_calls(small_replayed: tuple[Outcome, list[AssembledRequest]]) -> None:
    outcome, _ = small_replayed
    assert {p.calls for p in outcome.policies.values()} == {outcome.sent.calls}
    assert {p.invalid for p in outcome.policies.values()} == {0}
    everything, sliding = outcome.policies["send_everything"], outcome.policies["slide_every_call"]
    assert everything.words_in_view == 1.0 > outcome.sent.words_in_view > sliding.words_in_view
    assert everything.tokens_sent > outcome.sent.tokens_sent


def test_nothing_moves_while_everything_fits() -> None:
    outcome, _ = replayed(session(*exchanges(6, "about the parser")), pin_first_user_turn=False)
    assert outcome.sent == outcome.policies["send_everything"] == outcome.policies["slide_every_call"]
    assert (outcome.sent.words_in_view, outcome.rollovers) == (1.0, {"first": 1})


def test_the_json_is_flat_and_rounded(small_replayed: tuple[Outcome, list[AssembledRequest]]) -> None:
    found = small_replayed[0].to_json()
    assert {k for k, v in found.items() if isinstance(v, dict)} == {"rollovers", "refusals", "policies"}
    assert found["policies"]["send_everything"].keys() <= found.keys()
    assert found["mean_tokens"] == round(found["tokens_sent"] / 40, 1)


def test_recorded_usage_is_left_out() -> None:
    _, requests = replayed(session(*exchanges(3, "words")))
    assert [r.report.anchored for r in requests] == [False, False, False]


def test_a_call_waits_for_what_came_before_it() -> None:
    events = [
        said("list"),
        replied(call("a"), stop_reason="tool_use"),
        returned("a", "db.py"),
        replied(text("one file")),
    ]
    _, requests = replayed(session(*events))
    assert [b["content"] for _, b in blocks_of(requests[1].params) if b["type"] == "tool_result"] == ["db.py"]


def test_an_interrupted_call_is_answered_by_an_error() -> None:
    events = [said("list"), replied(call("a"), stop_reason="tool_use"), said("stop"), replied(text("stopped"))]
    outcome, requests = replayed(session(*events))
    (filler,) = [b for _, b in blocks_of(requests[1].params) if b["type"] == "tool_result"]
    assert outcome.is_clean
    assert filler["is_error"] is True


def test_a_cancelled_answer_is_no_obstacle() -> None:
    outcome, _ = replayed(session(said("list"), replied(), said("again"), replied(text("yes"))))
    assert (outcome.calls, outcome.is_clean) == (2, True)


def test_a_paused_answer_is_sent_back() -> None:
    events = [said("search"), replied(text("searching "), stop_reason="pause_turn"), replied(text("found"))]
    outcome, requests = replayed(session(*events))
    assert outcome.is_clean
    assert requests[1].params["messages"][-1]["role"] == "assistant"
    assert {p.invalid for p in outcome.policies.values()} == {0}


def test_what_cannot_fit_is_refused_and_the_session_goes_on() -> None:
    events = [*exchanges(1, "small"), *exchanges(1, "large " * 4_000), *exchanges(1, "small")]
    outcome, requests = replayed(session(*events), 3_000)
    assert (outcome.refused, outcome.refusals, len(requests)) == (1, {"BudgetError": 1}, 2)
    assert outcome.is_clean
    assert outcome.policies["send_everything"].calls == 2


def test_thinking_goes_back_as_recorded() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}
    events = [said("list"), replied(thought, call("a")), returned("a", "db.py"), replied(text("one file"))]
    _, requests = replayed(session(*events))
    assert thought in [block for _, block in blocks_of(requests[1].params)]


# --- pins -------------------------------------------------------------------------------------------------------------


def test_the_first_human_message_is_the_first() -> None:
    assert pinned_events(session(said("hook ran", human=False), said("fix it"), replied()), "first") == {1}


def test_a_session_without_people_pins_its_first_message() -> None:
    assert pinned_events(session(said("hook ran", human=False), replied()), "first") == {0}


def test_turns_are_numbered_as_stored() -> None:
    events = [
        said("list"),
        replied(call("a")),
        returned("a", "db.py"),
        replied(text("one")),
        said("use prepared statements"),
    ]
    outcome, requests = replayed(session(*events, replied(text("yes"))), pin=4, pin_first_user_turn=False)
    assert [len(r.proof) for r in requests] == [0, 0, 1]
    assert (outcome.pins_expected, outcome.pins_proven) == (1, 1)


@pytest.mark.parametrize(("pin", "named"), [(0, "turns 1 to 2"), (3, "turns 1 to 2"), (2, "turn 2 .* assistant's")])
def test_a_pin_that_is_no_user_turn(pin: int, named: str) -> None:
    with pytest.raises(InputError, match=named):
        replayed(session(said("list"), replied(text("done"))), pin=pin)


def test_several_turns_are_pinned() -> None:
    _, requests = replayed(session(*exchanges(3, "x")), pin=(3, 5), pin_first_user_turn=False)
    assert [len(r.proof) for r in requests] == [0, 1, 2]


def test_the_first_turn_is_not_pinned_twice() -> None:
    _, requests = replayed(session(*exchanges(1, "words")), pin="first", pin_first_user_turn=True)
    assert len(requests[0].proof) == 1


def test_a_pin_that_cannot_be_sent_is_told() -> None:
    outcome, _ = replayed(session(said("nul \x00 in it"), replied(text("yes"))), pin="first")
    assert (outcome.pin_refused or "").startswith("UnsendablePinError: ")
    assert (outcome.calls, outcome.pins_expected) == (1, 0)


def test_a_changed_request_proves_nothing() -> None:
    _, (request,) = replayed(session(*exchanges(1, "words")), pin="first")
    pin_text = "question 0 words"
    (pin,) = [_pin(request, pin_text)]
    assert proven(request, [pin]) == 1
    request.params["messages"][0]["content"] = [text("something else")]  # type: ignore[typeddict-item]
    assert proven(request, [pin]) == 0


def _pin(request: AssembledRequest, words: str) -> Any:
    from contextmgr.pins import Pin, PinKind

    entry = request.proof.pins[0]
    return Pin(
        id=entry.pin, text=words, sha256=entry.sha256, kind=PinKind.CONSTRAINT, author="user", order=0, said_at=START
    )


# --- what stands in ---------------------------------------------------------------------------------------------------


def weigher() -> Weigher:
    return Weigher(model_entry(MODEL), default_counter().count)


def test_a_stand_in_has_the_stated_size(small: Session) -> None:
    weigh = weigher()
    head, stands_in = head_of(small, MODEL, weigh.head)
    assert stands_in
    assert STAND_IN_TOKENS - 60 < weigh.head(head) <= STAND_IN_TOKENS
    assert head == head_of(small, MODEL, weigh.head)[0]


def test_tools_called_have_stubs_beside_recorded_ones() -> None:
    tools: tuple[dict[str, object], ...] = ({"name": "run", "input_schema": {"type": "object"}},)
    one = Session(
        file="f", format="made", index=0, events=(said("x"),), system="s", tools=tools, tool_names=("run", "see")
    )
    head, stands_in = head_of(one, MODEL, weigher().head)
    assert [t["name"] for t in head.tools] == ["run", "see"]
    assert not stands_in


def test_a_session_without_tools_stays_without() -> None:
    _, (request, *_) = replayed(replace(session(*exchanges(2, "x")), tool_names=()))
    assert "tools" not in request.params


# --- times and words --------------------------------------------------------------------------------------------------

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@given(st.lists(st.none() | st.integers(-1_000, 1_000), min_size=1))
def test_times_never_go_back_and_are_kept_where_they_can_be(seconds: list[int | None]) -> None:
    given_times = [None if s is None else NOON + timedelta(seconds=s) for s in seconds]
    found = moments([said("x", at) for at in given_times])
    assert found == sorted(found)
    assert all(at is None or now >= at for now, at in zip(found, given_times, strict=True))


def test_missing_times_are_five_seconds_apart() -> None:
    assert moments([said("x"), said("x"), said("x")]) == [START, START + STEP, START + 2 * STEP]


def test_a_recorded_pause_lets_the_cache_go_cold() -> None:
    first, second = exchanges(2, "words " * 800)[:2], [said("and?", NOON + timedelta(hours=1)), replied(text("yes"))]
    outcome, _ = replayed(session(said("begin", NOON), replied(text("yes")), *first, *second))
    assert outcome.policies["send_everything"].cache_read_share < 0.5


def request_of(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [text(t) for t in texts]}]}


def test_words_count_as_often_as_they_stand_there() -> None:
    words = Words()
    words.add([text("one two"), text("one two"), text("three"), {"type": "thinking", "thinking": "not said"}])
    assert words.share_in(request_of("one two", "four")) == 2 / 5
    assert words.share_in(request_of("one two", "one two", "one two", "three")) == 1.0


def test_nothing_said_is_all_in_view() -> None:
    assert Words().share_in(request_of("label")) == 1.0


# --- recorded data ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        "tau-bench/gpt-4o-airline.even-tasks.json.gz",
        "swe-agent/pydicom-1458-gpt4.traj.gz",
        "codex-agentv/a6-0726a7452e-1.jsonl.gz",
    ],
)
@pytest.mark.filterwarnings("ignore::contextmgr.PinShareWarning")
def test_recorded_sessions_of_other_formats(data_dir: Path, file: str) -> None:
    for one in read_sessions(data_dir / "trajectories" / file)[:5]:
        outcome = replay_session(one, profile=load_profile(30_000), model=MODEL, pin="first")
        assert outcome.is_clean
        assert {p.invalid for p in outcome.policies.values()} == {0}


@pytest.mark.filterwarnings("ignore::contextmgr.PinShareWarning")
def test_a_long_claude_code_session(data_dir: Path) -> None:
    (one,) = read_sessions(data_dir / "trajectories" / "claude-code-packmind" / "4a-3f7ea6273b-0.jsonl.gz")
    outcome = replay_session(one, profile=load_profile(60_000), model=MODEL, pin="first")
    assert outcome.is_clean
    assert outcome.calls == len(one.replies)
    assert outcome.sent.cost < outcome.policies["send_everything"].cost


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::contextmgr.PinShareWarning")
@pytest.mark.parametrize("budget", [30_000, 60_000, 150_000])
@pytest.mark.parametrize("summarizer", [None, "extractive"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_recorded_session(
    data_dir: Path, folder: str, budget: int, summarizer: Literal["extractive"] | None
) -> None:
    sessions = [s for f in sorted((data_dir / "trajectories" / folder).glob("*.gz")) for s in read_sessions(f)]
    outcomes = [
        replay_session(s, profile=load_profile(budget), model=MODEL, pin="first", summarizer=summarizer)
        for s in sessions
    ]
    assert outcomes
    assert [(o.file, o.index, o.to_json()) for o in outcomes if not o.is_clean] == []


def test_a_window_too_small_for_the_answer_is_an_error() -> None:
    with pytest.raises(ProfileError):
        replay_session(session(*exchanges(1, "x")), profile=load_profile(10), model=MODEL)
