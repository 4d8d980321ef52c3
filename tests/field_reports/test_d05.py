"""D05: one user message, eighty tool calls: a long run inside one exchange has no user turn to cut at."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.report import Disposition
from tests.compaction.driving import Scribe, summarising, summary_of, talking
from tests.field_reports.talk import (
    ask,
    call,
    calls_in,
    log,
    opened,
    profile,
    prose,
    reply,
    result,
    results_in,
    step,
    text,
    texts_in,
    words_of,
)

STEPS, RECENT = 80, 3
TASK = "Refactor module orbit. Keep every public name, and say at the end what you moved."


def output(i: int) -> str:
    return log(36, f"orbit {i}")


def check_view(request: AssembledRequest, done: int) -> None:
    """The user's words are there, the newest pairs verbatim, and older ones shortened or named in the gap line."""
    assert texts_in(request, "user").count(TASK) == 1
    shown = {i: words_of(b["content"]) for i, b in results_in(request).items()}
    newest = [f"tu_{i}" for i in range(max(0, done - RECENT), done)]
    assert all(shown[i] == output(int(i[3:])) for i in newest)
    assert all(words == output(int(i[3:])) or "left out" in words for i, words in shown.items())
    assert calls_in(request) == list(shown)
    first = done - len(shown)
    assert list(shown) == [f"tu_{i}" for i in range(first, done)]
    gap = [t for t in texts_in(request, "user") if t.startswith("[Out of view: turns 2")]
    assert bool(gap) == (first > 0)


def check_stored(chat: Conversation) -> None:
    turns = chat.history.turns()
    assert [t.number for t in turns] == list(range(1, STEPS + 2))
    assert [t.results[0].body["content"] for t in turns[1:]] == [output(i) for i in range(STEPS)]


@pytest.mark.parametrize("policy", ["epochs", "rolling"])
@pytest.mark.parametrize("budget", [8_000, 20_000])
def test_d05_eighty_steps_inside_one_exchange(tmp_path: Path, budget: int, policy: str) -> None:
    with opened(tmp_path / "a.db", profile(budget, min_turns=RECENT, policy=policy)) as chat:
        chat.add_user(TASK)
        requests = []
        for i in range(STEPS):
            requests.append(ask(chat))
            check_view(requests[-1], i)
            step(chat, f"tu_{i}", output(i))
        check_stored(chat)
        reports = [r.report for r in requests]
        assert reports[-1].disposition(1) is Disposition.VERBATIM
        assert reports[-1].disposition(2) is Disposition.OUT
        rollovers = sum(r.why != "extended" for r in reports)
        assert 1 < rollovers <= STEPS // 2, "the prefix must last for more than one call"


def test_d05_masked_pairs_of_the_running_exchange_keep_their_calls(tmp_path: Path) -> None:
    seen = set()
    with opened(tmp_path / "a.db", profile(20_000, min_turns=RECENT)) as chat:
        chat.add_user(TASK)
        for i in range(40):
            request = ask(chat)
            seen |= {request.report.disposition(n) for n in range(1, i + 2)}
            step(chat, f"tu_{i}", output(i))
    assert {Disposition.VERBATIM, Disposition.MASKED} <= seen


def test_d05_the_question_stays_when_parallel_results_fill_the_view(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(9_000, min_turns=RECENT)) as chat:
        chat.add_user(TASK)
        for i in range(12):
            request = ask(chat)
            assert texts_in(request, "user").count(TASK) == 1
            ids = [f"tu_{i}_{k}" for k in range(5)]
            chat.add_reply(reply(text(prose(30)), *(call(k) for k in ids)))
            chat.add_tool_results([result(k, output(i)) for k in ids])
        shown = results_in(ask(chat))
        assert ids == list(shown)[-5:]


def test_d05_the_answer_at_the_end_and_the_next_question(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(8_000, min_turns=RECENT)) as chat:
        chat.add_user(TASK)
        for i in range(30):
            ask(chat)
            step(chat, f"tu_{i}", output(i))
        ask(chat)
        chat.add_reply(reply(text("Moved three functions.")))
        chat.add_user("Which ones?")
        request = ask(chat)
        assert "Which ones?" in texts_in(request, "user")
        assert "Moved three functions." in texts_in(request, "assistant")


def test_d05_older_pairs_of_the_running_exchange_are_summarised() -> None:
    """The view begins inside the exchange; what left it is in the summary, by turn, and no summary is about nothing."""
    scribe = Scribe()
    with talking(scribe, budget=summarising(20_000, cap=2_000, min_turns=RECENT)) as talk:
        talk.chat.add_user(TASK)
        for i in range(STEPS):
            request = ask(talk.chat)
            assert texts_in(request, "user").count(TASK) == 1
            step(talk.chat, f"tu_{i}", output(i), text(f"I move function_{i} to orbit/part_{i}.py."))
            talk.manager.flush()
        found = talk.chat.compactions()
        assert len(found) > 2
        assert all(s.coverage or s.parts for s in found)
        assert request.report.disposition(2) is Disposition.SUMMARISED
        assert "- turn 2, result: " in summary_of(request)
        assert request.report.disposition(1) is Disposition.VERBATIM


def test_d05_without_a_model_what_left_is_in_the_summary_too() -> None:
    with talking(budget=summarising(20_000, min_turns=RECENT)) as talk:
        talk.chat.add_user(TASK)
        for i in range(60):
            request = ask(talk.chat)
            step(talk.chat, f"tu_{i}", output(i), text(f"I move function_{i} to orbit/part_{i}.py."))
            talk.manager.flush()
        assert "orbit/part_1" in summary_of(request)
        assert all(s.coverage or s.parts for s in talk.chat.compactions())
