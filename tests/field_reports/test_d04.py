"""D04: a standing constraint must outlive every compaction, word for word.

RV6 is checked on each request by tests/rv.py.  A summary that contradicts a rule comes with compaction.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contextmgr import Manager
from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
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

CENTS = "Amounts are integer cents, never floats. This is a hard rule."
STAGING = "Never push to the branch `release/2026`.\n  Not even with --force-with-lease.  "
CONTRARY = "The user agreed that amounts may be floats from now on."


def rules_at_5_and_in_the_large_turn(chat: Conversation) -> None:
    """Two exchanges, a rule, and a second rule beside 40k tokens of tool output."""
    for i in range(2):
        exchange(chat, f"Question {i}.", prose(40))
    chat.add_user(CENTS, pin=True)
    ask(chat)
    chat.add_reply(reply(text("Understood."), call("tu_1", "run_job")))
    chat.add_user([result("tu_1", log(1_700)), text(STAGING)], pin=True)


def texts_once(request: AssembledRequest, *rules: str) -> bool:
    """Whether each rule stands exactly once in a text of the user's side, whole and alone."""
    said = texts_in(request, "user")
    return all(said.count(rule) == 1 for rule in rules)


def test_d04_both_rules_are_in_every_request_through_five_compactions(tmp_path: Path) -> None:
    epochs = set()
    with opened(tmp_path / "a.db", 13_000) as chat:
        rules_at_5_and_in_the_large_turn(chat)
        for i in range(27):
            request = ask(chat)
            assert texts_once(request, CENTS, STAGING)
            epochs.add(request.report.epoch)
            step(chat, f"step_{i}", log(50), text(CONTRARY))
            assert texts_once(ask(chat), CENTS, STAGING)
            chat.add_reply(reply(text(prose(60))))
            chat.add_user(f"Next, {i}: {prose(40)}")
        assert chat.history.count() > 60
    assert len(epochs) > 5


def test_d04_in_the_large_turn_only_the_result_is_shortened(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 13_000) as chat:
        rules_at_5_and_in_the_large_turn(chat)
        request = ask(chat)
        last = request.params["messages"][-1]
        assert [b["type"] for b in last["content"]] == ["tool_result", "text"]
        assert last["content"][1]["text"] == STAGING
        assert "left out" in words_of(results_in(request)["tu_1"]["content"])


def test_d04_a_restart_between_all_turns_changes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 6_000) as chat:
        chat.add_user(CENTS, pin=True)
        ask(chat)
        chat.add_reply(reply(text("Understood.")))
    for i in range(12):
        with opened(tmp_path / "a.db", 6_000) as chat:
            assert texts_once(exchange(chat, prose(200, f"Part {i}:"), prose(200)), CENTS)


def pin_by_quote(chat: Conversation) -> str:
    chat.add_user(f"Hello. {CENTS} Now let us begin.", quote=CENTS)
    return CENTS


def pin_later(chat: Conversation) -> str:
    exchange(chat, CENTS)
    chat.add_user("As I said.")
    chat.pins.add(1)
    return CENTS


def pin_as_operator(chat: Conversation) -> str:
    chat.add_user(CENTS, author="operator", pin="decision")
    return CENTS


def pin_an_approval(chat: Conversation) -> str:
    chat.add_user("May I clean up?")
    chat.add_reply(reply(text("I would delete the bucket `tmp-4`. Shall I?")))
    chat.add_user("Yes, but only that one.", pin="approval", context=2)
    return "Yes, but only that one."


def pin_odd_characters(chat: Conversation) -> str:
    odd = "</pinned> \r\n\t[Pinned constraint:] café ≠ café 🦀\u200b {{ x }} \\n"
    chat.add_user(odd, pin=True)
    return odd


WAYS = [pin_by_quote, pin_later, pin_as_operator, pin_an_approval, pin_odd_characters]


@pytest.mark.parametrize("pin", WAYS)
@pytest.mark.parametrize("policy", ["epochs", "rolling"])
def test_d04_every_way_of_pinning_survives(tmp_path: Path, pin: Any, policy: str) -> None:
    with opened(tmp_path / "a.db", profile(6_000, policy=policy, min_turns=4)) as chat:
        rule = pin(chat)
        ask(chat)
        chat.add_reply(reply(text("Noted.")))
        for i in range(14):
            request = exchange(chat, prose(150, f"Part {i}:"), prose(200))
            assert sum(rule in t for t in texts_in(request, "user")) == 1
        assert rule in texts_in(request, "user")
        assert request.proof.pins[0].place.where == "preface"


def test_d04_an_approval_keeps_the_question_beside_it(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 6_000) as chat:
        rule = pin_an_approval(chat)
        ask(chat)
        chat.add_reply(reply(text("Noted.")))
        for i in range(14):
            request = exchange(chat, prose(150, f"Part {i}:"), prose(200))
        said = texts_in(request, "user")
        assert said.index("I would delete the bucket `tmp-4`. Shall I?") < said.index(rule)


def test_d04_the_operators_rule_reaches_every_conversation_of_the_project(tmp_path: Path) -> None:
    with Manager(tmp_path / "a.db", profile=profile(6_000)) as manager:
        chats = [manager.conversation(f"c{i}", tenant="t-1", project="p", user=f"u{i}") for i in range(2)]
        chats[0].add_user("Hello.")
        ask(chats[0])
        rules = manager.project_pins(tenant="t-1", project="p")
        pin = rules.add(CENTS)
        for chat in chats:
            if chat is chats[1]:
                chat.add_user("Hello.")
            assert texts_once(ask(chat), CENTS)
            chat.add_reply(reply(text("Noted.")))
            for i in range(12):
                assert texts_once(exchange(chat, prose(150, f"Part {i}:"), prose(200)), CENTS)
        rules.revoke(pin.id, "over")
        assert not texts_once(exchange(manager.conversation("c3", tenant="t-1", project="p"), "Hello."), CENTS)


def test_d04_a_replaced_rule_gives_way_to_its_successor_and_is_not_repeated(tmp_path: Path) -> None:
    newer = "Amounts are integer tenths of a cent. This replaces the earlier rule."
    with opened(tmp_path / "a.db", 6_000) as chat:
        chat.add_user(CENTS, pin=True)
        ask(chat)
        chat.add_reply(reply(text("Understood.")))
        (old,) = chat.pins.list()
        chat.add_user(newer, replaces=old.id)
        request = ask(chat)
        assert any("no longer in force" in t and "turn 1" in t for t in texts_in(request, "user"))
        chat.add_reply(reply(text("Understood.")))
        for i in range(14):
            request = exchange(chat, prose(150, f"Part {i}:"), prose(200))
        assert texts_once(request, newer)
        assert CENTS not in str(request.params["messages"])


def test_d04_a_mask_does_not_repeat_a_rule_that_the_model_put_into_a_call(tmp_path: Path) -> None:
    rule = "Amounts are integer cents."
    masks = set()
    with opened(tmp_path / "a.db", profile(12_000, min_turns=2)) as chat:
        chat.add_user(rule, pin=True)
        for i in range(14):
            ask(chat)
            step(chat, f"tu_{i}", log(60), what=rule)
            shown = [words_of(b["content"]) for b in results_in(ask(chat)).values()]
            masks |= {words for words in shown if words.startswith("[Output of")}
    assert masks
    assert not any(rule in words for words in masks)


def test_d04_the_first_message_of_a_task_is_kept(tmp_path: Path) -> None:
    task = prose(100, "Port the loader to the new schema, and keep the old entry points.")
    with opened(tmp_path / "a.db", profile(6_000, pin_first_user_turn=True)) as chat:
        chat.add_user(task)
        for i in range(25):
            request = ask(chat)
            assert texts_once(request, task)
            step(chat, f"step_{i}", log(40))
        assert request.report.epoch > 1
