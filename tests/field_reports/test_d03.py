"""D03: one tool result larger than the whole window must not deadlock the conversation.

Finding the middle of it again comes with retrieval.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.errors import BudgetError
from contextmgr.report import Disposition
from contextmgr.summaries import SegmentStatus
from tests.compaction.driving import Scribe, material, summarising, talking
from tests.field_reports.talk import (
    ask,
    call,
    exchange,
    log,
    opened,
    prose,
    reply,
    result,
    results_in,
    text,
    texts_in,
    words_of,
)

NEEDLE = "shard 17 checksum mismatch 0x5fe1"
HALF = log(20_000)
HUGE = f"first line of the job\n{HALF}\n{NEEDLE}\n{HALF}\nlast line of the job"
CALLS = {"one": ["tu_1"], "six": [f"tu_{i}" for i in range(6)]}
OUTPUTS: dict[str, Any] = {
    "text": HUGE,
    "blocks": [text(HUGE[:700_000]), text(HUGE[700_000:])],
    "one line": "first line of the job" + "0123456789abcdef" * 60_000 + "last line of the job",
    "one letter": "first line of the job" + "a" * 1_700_000 + "last line of the job",
    "not English": "first line of the job" + "数据校验失败，请重试。" * 40_000 + "last line of the job",
}


def sha256(content: object) -> str:
    return hashlib.sha256(words_of(content).encode()).hexdigest()


def flood(chat: Conversation, output: object, **more: Any) -> AssembledRequest:
    """Eleven turns, then the oversized result as turn 12; gives the request that carries it."""
    for i in range(5):
        exchange(chat, f"Question {i}.", prose(40))
    chat.add_user("Verify the shards.")
    chat.add_reply(reply(call("tu_1", "run_job")))
    chat.add_tool_results([result("tu_1", output, **more)])
    assert chat.history.count() == 12
    return ask(chat)


@pytest.mark.parametrize(("kind", "failed"), [*((k, False) for k in OUTPUTS), ("text", True), ("blocks", True)])
def test_d03_the_conversation_goes_on(tmp_path: Path, kind: str, failed: bool) -> None:
    more = {"is_error": True} if failed else {}
    with opened(tmp_path / "a.db", 30_000) as chat:
        block = results_in(flood(chat, OUTPUTS[kind], **more))["tu_1"]
        words = words_of(block["content"])
        assert words.startswith("first line of the job")
        assert words.endswith("last line of the job")
        assert f"{max(map(len, parts_of(OUTPUTS[kind]))):,} characters left out" in words
        assert "turn 12 and can be read with read_turns" in words
        assert block.get("is_error", False) is failed
        chat.add_reply(reply(text("One shard is broken.")))
        exchange(chat, "Which one?")


def parts_of(content: object) -> list[str]:
    return [content] if isinstance(content, str) else [p["text"] for p in content]  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", OUTPUTS)
def test_d03_every_byte_stays_stored_under_the_turn_number(tmp_path: Path, kind: str) -> None:
    with opened(tmp_path / "a.db", 30_000) as chat:
        flood(chat, OUTPUTS[kind])
    with opened(tmp_path / "a.db", 30_000) as chat:
        (stored,) = chat.history.turn(12).results
        assert stored.body["content"] == OUTPUTS[kind]
        assert sha256(stored.body["content"]) == sha256(OUTPUTS[kind])


@pytest.mark.parametrize("failed", [False, True])
def test_d03_six_parallel_results_of_12k_tokens_each(tmp_path: Path, failed: bool) -> None:
    outputs = {i: log(600, f"shard {i}") for i in CALLS["six"]}
    with opened(tmp_path / "a.db", 30_000) as chat:
        chat.add_user("Verify the shards.")
        chat.add_reply(reply(*(call(i) for i in outputs)))
        chat.add_tool_results([result(i, o, **({"is_error": True} if failed else {})) for i, o in outputs.items()])
        shown = results_in(ask(chat))
        assert list(shown) == CALLS["six"]
        for i, whole in outputs.items():
            words = words_of(shown[i]["content"])
            assert words.startswith(whole[:80])
            assert words.endswith(whole[-80:])
            assert "left out" in words
        chat.add_reply(reply(text("All six.")))
        exchange(chat, "And now?")


def test_d03_it_is_cut_the_same_in_every_request_of_the_epoch(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 30_000) as chat:
        first = flood(chat, HUGE)
        chat.add_reply(reply(text("Read.")))
        chat.add_user("Go on.")
        second = ask(chat)
        assert second.report.epoch == first.report.epoch
        assert results_in(second)["tu_1"] | {"cache_control": None} == results_in(first)["tu_1"] | {
            "cache_control": None
        }
        assert second.report.disposition(12) is Disposition.CUT


def test_d03_it_leaves_the_view_like_any_other_old_output(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 12_000) as chat:
        flood(chat, HUGE)
        chat.add_reply(reply(text("Read.")))
        for i in range(40):
            request = exchange(chat, f"Question {i}: {prose(150)}", prose(100))
        assert request.report.disposition(12) in (Disposition.MASKED, Disposition.OUT)


def test_d03_a_late_result_may_be_huge_too(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 30_000) as chat:
        chat.add_user("Verify the shards.")
        chat.add_reply(reply(call("tu_1", "run_job")))
        chat.add_user("Never mind, what time is it?")
        ask(chat)
        chat.add_reply(reply(text("I cannot know.")))
        chat.add_tool_results([result("tu_1", HUGE)])
        chat.add_user("And?")
        shown = [t for t in texts_in(ask(chat)) if t.startswith("first line of the job")]
        assert len(shown) == 1
        assert "left out" in shown[0]


def test_d03_many_huge_late_results_at_once_do_not_block_the_next_request(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 30_000) as chat:
        chat.add_user("Verify the shards.")
        chat.add_reply(reply(*(call(i) for i in CALLS["six"])))
        chat.add_user("Never mind, what time is it?")
        ask(chat)
        chat.add_reply(reply(text("I cannot know.")))
        chat.add_tool_results([result(i, log(600, f"shard {i}")) for i in CALLS["six"]])
        shown: list[str] = []
        for i in range(7):
            chat.add_user(f"And {i}?")
            shown += [t for t in texts_in(ask(chat)) if t.startswith("2026-08-01 shard tu_")]
            chat.add_reply(reply(text("Noted.")))
        assert {t[17:21] for t in shown} == set(CALLS["six"])


def test_d03_late_results_wait_where_there_is_no_room_for_them(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 4_000) as chat:
        chat.add_user("Verify the shards.")
        chat.add_reply(reply(*(call(i) for i in CALLS["six"])))
        chat.add_user("Never mind, what time is it?")
        ask(chat)
        chat.add_reply(reply(text("I cannot know.")))
        chat.add_tool_results([result(i, log(600, f"shard {i}")) for i in CALLS["six"]])
        chat.add_user(prose(1_400, "Then read this:"))
        assert not any("tu_1" in t for t in texts_in(ask(chat)))
        chat.add_reply(reply(text("Read.")))
        chat.add_user("And the shards?")
        assert any("Late result" in t for t in texts_in(ask(chat)))


def test_d03_a_user_message_over_the_budget_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 30_000) as chat:
        exchange(chat, "Hello.")
        chat.add_user(log(5_000))
        with pytest.raises(BudgetError, match=r"tail.*withdraw\(\)") as caught:
            ask(chat)
        assert caught.value.tiers["tail"] > caught.value.budget
        chat.withdraw(3, "too large")
        exchange(chat, "In short: what is wrong?")
        assert chat.history.turn(3).text == log(5_000)


@pytest.mark.parametrize("kind", ["text", "one line"])
def test_d03_a_summariser_never_receives_more_than_its_limit(kind: str) -> None:
    scribe = Scribe()
    with talking(scribe, budget=summarising(9_000)) as talk:
        talk.tool_step(OUTPUTS[kind])
        talk.until(SegmentStatus.ACTIVE)
        read = [x for p in scribe.prompts for x in material(p) if x["turn"] == 2]
        assert [x["role"] for x in read] == ["assistant", "tool"]
        assert "left out" in read[1]["text"]
        assert max(len(p) for p in scribe.prompts) < 40_000
        assert talk.segments(SegmentStatus.ACTIVE)[0].covers(2)
