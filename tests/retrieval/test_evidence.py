"""Evidence in requests: once per question, only what is out of view, labelled, escaped, in order, within its tier."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from contextmgr import Disposition, Manager
from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.profiles import load_profile
from contextmgr.retrieval import Searcher
from tests.field_reports.talk import ask, exchange, prose, reply, text, texts_in

MOVED = 'My new address is 12 Harbour Lane, "The Mews", Bristol. Please send everything there.'
PREFERS = "I prefer an e-mail over a phone call, and never before ten in the morning."
START = datetime(2026, 8, 17, 9, tzinfo=UTC)


def talked(manager: Manager, turns: int, said: dict[int, str]) -> Conversation:
    """A conversation in which the user says these things in these turns, and else asks about steps of a report."""
    chat = manager.conversation("support", tenant="t-1", zone="Europe/London")
    for number in range(1, turns, 2):
        at = START + timedelta(hours=number)
        chat.add_user(said.get(number, f"How does step {number} work? " + prose(20, str(number))), said_at=at)
        chat.add_reply(reply(text(f"Step {number} adds up the totals. " + prose(30))), said_at=at)
    return chat


def opened(file: Path, **changes: Any) -> Manager:
    base = load_profile("support-chat").with_budget(6_000)
    retrieved = base.retrieved.model_copy(update=changes)
    return Manager(file, profile=base.model_copy(update={"retrieved": retrieved}), background=False)


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Conversation]:
    with opened(tmp_path / "a.db") as manager:
        chat = talked(manager, 240, {31: MOVED, 117: PREFERS})
        manager.flush()
        yield chat


def evidence(request: AssembledRequest) -> list[str]:
    return [t for t in texts_in(request) if t.startswith("[Earlier")]


def test_the_address_of_turn_31_is_there_at_turn_240(chat: Conversation) -> None:
    chat.add_user("Where do you send things now, which address do you have?")
    request = ask(chat)
    (quoted,) = evidence(request)
    assert quoted.startswith("[Earlier in this conversation, turns 31-32, 18 August 2026:]\nuser, turn 31: ")
    assert '12 Harbour Lane, \\"The Mews\\", Bristol' in quoted
    assert request.report.disposition(31) is Disposition.RETRIEVED


def test_the_preference_of_turn_117_too(chat: Conversation) -> None:
    chat.add_user("Do I prefer a phone call or an e-mail?")
    (quoted,) = evidence(ask(chat))
    assert "turns 117-118" in quoted
    assert PREFERS in quoted


def test_several_stand_in_the_order_in_which_they_were_said(chat: Conversation) -> None:
    chat.add_user("What of the phone call and my address?")
    assert [e.splitlines()[1][:14] for e in evidence(ask(chat))] == ["user, turn 31:", "user, turn 117"]


def test_the_report_names_each_with_score_and_reason(chat: Conversation) -> None:
    chat.add_user("What is my address?")
    (found,) = ask(chat).report.evidence
    assert (found.turns[0], found.score > 0) == (31, True)
    assert "address" not in found.reason
    assert "of what the question weighs" in found.reason
    assert "31-32" in str(ask(chat).report)


def test_it_is_searched_once_and_repeated_byte_for_byte(chat: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    chat.add_user("What is my address?")
    request = ask(chat)
    assert evidence(request)
    monkeypatch.setattr(Searcher, "evidence", None)  # calling it would raise
    assert ask(chat) == request
    assert chat.request_at(request.number) == request
    assert evidence(ask(chat, model="claude-sonnet-4-6")) == evidence(request)  # the head changed, the question did not


def test_what_is_in_view_is_not_quoted(chat: Conversation) -> None:
    exchange(chat, MOVED)
    chat.add_user("What is my address?")
    request = ask(chat)
    assert len([t for t in texts_in(request, "user") if "Harbour Lane" in t]) == 2  # turn 31 quoted, turn 241 itself
    assert all("turn 241" not in t for t in evidence(request))


def test_a_question_does_not_find_itself(chat: Conversation) -> None:
    chat.add_user("Why did the zeppelin burn?")
    assert evidence(ask(chat)) == []


def test_it_never_stands_under_the_assistants_role(chat: Conversation) -> None:
    chat.add_user("Which step adds up the totals of step 41?")
    request = ask(chat)
    assert evidence(request)
    assert not [t for t in texts_in(request, "assistant") if t.startswith("[Earlier")]


def test_a_pin_is_not_repeated(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as manager:
        chat = talked(manager, 120, {31: MOVED, 33: f"As I said: {MOVED} Thanks."})
        chat.pins.add(31)
        chat.add_user("What is my address?")
        request = ask(chat)
    assert sum(MOVED in t for t in texts_in(request)) == 1
    assert not [t for t in evidence(request) if "Harbour" in t]


@pytest.mark.parametrize("changes", [{"enabled": False}, {"k": 0}, {"cap": 0}, {"min_turns": 999}, {"threshold": 1.0}])
def test_it_can_be_switched_off(tmp_path: Path, changes: dict[str, Any]) -> None:
    with opened(tmp_path / "a.db", **changes) as manager:
        chat = talked(manager, 120, {31: MOVED})
        chat.add_user("What is my new postal address, please?")
        assert evidence(ask(chat)) == []


def test_it_keeps_to_its_tier(chat: Conversation) -> None:
    chat.add_user("What of step 41 and step 55?")
    request, tier = ask(chat), chat._assembler.profile.retrieved
    assert 1 < len(evidence(request)) <= tier.k
    assert sum(chat._recorder.count(t) for t in evidence(request)) <= tier.cap + 40 * tier.k


def test_what_was_withdrawn_or_erased_is_not_quoted(chat: Conversation) -> None:
    chat.withdraw(31, "wrong")
    chat.add_user("What is my address?")
    assert "Harbour" not in str(ask(chat).params)
    chat.restore(31)
    chat.erase_turn(31)
    chat.add_user("And my address was?")
    assert "Harbour" not in str(ask(chat).params)
    assert 31 not in [h.turn for h in chat.search("address Harbour Lane")]


def test_later_evidence_grows_the_epoch_at_its_end(tmp_path: Path) -> None:
    base = load_profile("coding-agent").with_budget(8_000)
    tier = base.retrieved.model_copy(update={"min_turns": 20})
    with Manager(tmp_path / "a.db", profile=base.model_copy(update={"retrieved": tier}), background=False) as manager:
        chat = talked(manager, 240, {31: MOVED})
        first = exchange(chat, "Go on with the next step, please.")
        manager.flush()
        chat.add_user("What is my new address?")
        second = ask(chat)
    assert second.report.why == "extended"
    assert evidence(second)
    before, after = ([m["content"] for m in r.params["messages"]] for r in (first, second))
    assert str(after[0][0]) == str(before[0][0])
    assert "[Earlier" in str(after[-1])
