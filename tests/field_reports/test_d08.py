"""D08: signed thinking goes through the store and into requests untouched, or not at all.

RV4 is checked on each request by tests/rv.py.  Indexes, facts and summary inputs come with their own parts.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.turns import Block, is_thinking
from tests.field_reports.talk import (
    MODEL,
    UNBOUND,
    ask,
    call,
    log,
    opened,
    profile,
    prose,
    reply,
    result,
    results_in,
    text,
    thinking,
)
from tests.request_check import blocks_of, without_marks

WORDS = "The shard is broken.  \r\nCafe\u0301 🦀 \ttrailing   "
THOUGHT = [thinking(WORDS, "c2lnLTAx"), {"type": "redacted_thinking", "data": "AAECAwQF+/=="}]
TURN: list[Block] = [*THOUGHT, text("Looking."), call("tu_1", "run_job"), call("tu_2")]
ON: dict[str, Any] = {"thinking": {"type": "adaptive"}}
BUDGETS = (4_000, 5_000, 6_000, 9_000, 20_000, 60_000)


def last_assistant(request: AssembledRequest) -> list[Block]:
    """The blocks of the last assistant message, marks left out."""
    said = [m for m in request.params["messages"] if m["role"] == "assistant"][-1]
    return [without_marks(b) for b in said["content"]]


def thoughts_in(request: AssembledRequest) -> list[Block]:
    return [without_marks(b) for _, b in blocks_of(request.params) if is_thinking(b)]


def think(chat: Conversation, model: str = MODEL) -> None:
    """Ask, answer with thinking and two calls, give the results."""
    chat.add_user("Which shard is broken?")
    ask(chat, model=model, **ON)
    chat.add_reply(reply(*TURN, model=model))
    chat.add_tool_results([result("tu_1", "17"), result("tu_2", "checksum")])


def small_talk(chat: Conversation, model: str = MODEL) -> None:
    """Eight exchanges that can leave the view."""
    for i in range(8):
        chat.add_user(f"Question {i}: {prose(80)}")
        ask(chat, model=model, **ON)
        chat.add_reply(reply(text(prose(80, f"Answer {i}:")), model=model))


@pytest.mark.parametrize("model", [MODEL, UNBOUND])
@pytest.mark.parametrize("budget", BUDGETS)
def test_d08_the_open_turn_goes_back_block_by_block(tmp_path: Path, budget: int, model: str) -> None:
    with opened(tmp_path / "a.db", budget) as chat:
        small_talk(chat, model)
        think(chat, model)
    with opened(tmp_path / "a.db", budget) as chat:
        request = ask(chat, model=model, **ON)
        assert last_assistant(request) == TURN
        assert json.dumps(last_assistant(request)[0]) == json.dumps(TURN[0])


@pytest.mark.parametrize("budget", BUDGETS)
def test_d08_behind_a_rollover_a_model_that_binds_thinking_gets_none_of_it(tmp_path: Path, budget: int) -> None:
    with opened(tmp_path / "a.db", 60_000) as chat:
        small_talk(chat)
        think(chat)
    with opened(tmp_path / "a.db", budget) as chat:
        request = ask(chat, **ON, system="Another system prompt.")
        assert request.report.why == "head"
        assert thoughts_in(request) == []
        assert last_assistant(request) == TURN[2:]


@pytest.mark.parametrize("budget", BUDGETS)
def test_d08_behind_a_rollover_the_open_round_keeps_it_where_it_is_not_bound(tmp_path: Path, budget: int) -> None:
    with opened(tmp_path / "a.db", 60_000) as chat:
        small_talk(chat, UNBOUND)
        think(chat, UNBOUND)
    with opened(tmp_path / "a.db", budget) as chat:
        request = ask(chat, model=UNBOUND, **ON, system="Another system prompt.")
        assert request.report.why == "head"
        assert last_assistant(request) == TURN


@pytest.mark.parametrize("model", [MODEL, UNBOUND])
def test_d08_older_thinking_is_untouched_or_absent_through_compactions(tmp_path: Path, model: str) -> None:
    with opened(tmp_path / "a.db", profile(7_000, min_turns=4)) as chat:
        counts = set()
        for i in range(24):
            chat.add_user(f"Question {i}: {prose(60)}")
            ask(chat, model=model, **ON)
            own = [thinking(f"{WORDS}{i}", f"c2lnLTAx{i}"), *TURN[1:3], call(f"tu_{i}")]
            chat.add_reply(reply(*own, model=model))
            chat.add_tool_results([result(f"tu_{i}", log(12))])
            request = ask(chat, model=model, **ON)
            counts.add(len(thoughts_in(request)))
            chat.add_reply(reply(text("Done."), model=model))
        assert min(counts) <= 2 < max(counts)
        assert request.report.epoch > 2


def test_d08_thinking_is_nowhere_but_in_its_own_block(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(5_000, min_turns=2)) as chat:
        think(chat)
        for i in range(10):
            request = ask(chat, **ON)
            rest = [b for _, b in blocks_of(request.params) if not is_thinking(b)]
            assert "shard is broken" not in json.dumps(rest).replace("Which shard is broken?", "")
            assert "shard is broken" not in json.dumps(request.report.to_json())
            chat.add_reply(reply(text(prose(80, f"Answer {i}:"))))
            chat.add_user(f"Question {i}: {prose(80)}")
        assert "shard is broken" not in chat.history.turn(2).text


def test_d08_the_store_gives_it_back_byte_for_byte(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        think(chat)
    with opened(tmp_path / "a.db") as chat:
        assert json.dumps(list(chat.history.turn(2).blocks)) == json.dumps(TURN)


def test_d08_an_interrupted_call_takes_neither_the_call_nor_part_of_the_thinking_away(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Which shard is broken?")
        ask(chat, **ON)
        chat.add_reply(reply(*TURN))
        chat.add_tool_results([result("tu_1", "17")])
        chat.interrupt()
        request = ask(chat, **ON)
        assert last_assistant(request) == TURN
        assert list(results_in(request)) == ["tu_1", "tu_2"]


UNSENDABLE = {
    "unsigned": {"type": "thinking", "thinking": "cut off in the mid"},
    "empty signature": thinking("cut off", ""),
    "no data": {"type": "redacted_thinking"},
    "lone surrogate": thinking("pi\udc97ce", "c2lnLTAy"),
    "NUL": thinking("size=3\x00end", "c2lnLTAz"),
}


@pytest.mark.parametrize("broken", UNSENDABLE)
def test_d08_where_one_block_cannot_go_back_none_of_the_turn_does(tmp_path: Path, broken: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Which shard is broken?")
        ask(chat, **ON)
        chat.add_reply(reply(THOUGHT[0], UNSENDABLE[broken], text("Shard 17."), call("tu_1")))
        chat.add_tool_results([result("tu_1", "17")])
        request = ask(chat, **ON)
        assert last_assistant(request) == [text("Shard 17."), call("tu_1")]
        assert chat.history.turn(2).blocks[:2] == (THOUGHT[0], UNSENDABLE[broken])


@pytest.mark.parametrize("blank", [(), (text(" "),)])
def test_d08_a_turn_that_ends_in_thinking_goes_back_without_it(tmp_path: Path, blank: tuple[Block, ...]) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Which shard is broken?")
        ask(chat, **ON)
        chat.add_reply(reply(*THOUGHT, *blank, stop="max_tokens"))
        chat.add_user("Well?")
        request = ask(chat, **ON)
        assert [(r, b["type"]) for r, b in blocks_of(request.params)] == [("user", "text"), ("user", "text")]


def test_d08_text_may_be_odd_beside_sound_thinking(tmp_path: Path) -> None:
    """What cannot be sent in the answer is repaired there; the thinking beside it stays as it was signed."""
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Which shard is broken?")
        ask(chat, **ON)
        chat.add_reply(reply(*THOUGHT, text("pi\udc97ce"), call("tu_1")))
        chat.add_tool_results([result("tu_1", "17")])
        assert last_assistant(ask(chat, **ON)) == [*THOUGHT, text("pi\ufffdce"), call("tu_1")]


@pytest.mark.parametrize("model", [MODEL, UNBOUND])
def test_d08_another_model_never_sees_thinking_that_is_not_its_own(tmp_path: Path, model: str) -> None:
    with opened(tmp_path / "a.db") as chat:
        think(chat, model)
        request = ask(chat, model="claude-opus-4-6", **ON)
        assert thoughts_in(request) == []


def test_d08_replies_without_a_request_of_ours_bring_no_bound_thinking(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db") as chat:
        chat.add_user("Which shard is broken?")
        chat.add_reply(reply(*TURN))
        chat.add_tool_results([result("tu_1", "17"), result("tu_2", "checksum")])
        assert thoughts_in(ask(chat, **ON)) == []
