"""D06: making room must not be tried for ever where it cannot succeed, nor in silence.

Making room is the rollover, and beside it the summaries that are prepared for it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from contextmgr.assembly import AssembledRequest
from contextmgr.conversation import Conversation
from contextmgr.errors import BudgetError
from contextmgr.pinning import PinShareWarning
from contextmgr.summaries import SegmentStatus
from tests.compaction.driving import Answer, Scribe, first_sentences, note, raising, talking
from tests.field_reports.talk import ask, exchange, opened, profile, prose, reply, step, text, tool

SYSTEM = prose(5_600)
TOOLS = [{**tool(f"tool_{i}"), "description": prose(360, f"Tool {i}.")} for i in range(24)]
BUDGET = 28_000

pytestmark = pytest.mark.filterwarnings("ignore::contextmgr.pinning.PinShareWarning")


def tight(chat: Conversation, **more: object) -> AssembledRequest:
    return ask(chat, system=SYSTEM, tools=TOOLS, **more)


def begin(chat: Conversation) -> None:
    """Pins of about 4k tokens, then ten short turns: with system and tools there is next to no room left."""
    for i in range(4):
        chat.add_user(prose(480, f"Rule {i}:"), pin=True)
        chat.add_reply(reply(text("Noted.")))
    for i in range(5):
        chat.add_user(f"Question {i}?")
        if i < 4:
            chat.add_reply(reply(text("Yes.")))


def written(path: Path) -> int:
    """Bytes of the store's files."""
    return sum(f.stat().st_size for f in path.parent.iterdir())


def test_d06_the_fixed_tiers_leave_next_to_no_room(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat:
        begin(chat)
        tiers = tight(chat).report.tiers
        assert tiers["system"] > 0.7 * BUDGET
        assert sum(tiers.values()) > 0.85 * BUDGET


def test_d06_thirty_assembles_without_anything_new_do_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat:
        begin(chat)
        first = tight(chat)
        size = written(tmp_path / "a.db")
        again = [tight(chat) for _ in range(30)]
        assert {r.number for r in again} == {first.number}
        assert all(r.params == first.params for r in again)
        assert written(tmp_path / "a.db") == size


def grow(chat: Conversation, turns: int) -> list[int]:
    """The epoch of each of three assembles per new short turn."""
    epochs = [tight(chat).report.epoch]
    for i in range(turns):
        chat.add_reply(reply(text(prose(30, f"Answer {i}."))))
        chat.add_user(f"And {i}?")
        epochs += [tight(chat).report.epoch for _ in range(3)]
    return epochs


def test_d06_a_rollover_lasts_for_many_turns_although_its_target_is_out_of_reach(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat:
        begin(chat)
        epochs = grow(chat, 36)
        assert 2 <= epochs[-1] <= 4


def test_d06_where_not_even_the_recent_window_fits_there_is_one_per_new_turn_at_most(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET - 1_100) as chat:
        begin(chat)
        epochs = grow(chat, 8)
        assert epochs[-1] > 3
        assert all(later - earlier <= 1 for earlier, later in zip(epochs[::3], epochs[3::3], strict=False))


def test_d06_where_nothing_can_give_way_the_error_names_each_tier_and_its_tokens(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat:
        begin(chat)
    with opened(tmp_path / "a.db", 20_000) as chat:
        size = written(tmp_path / "a.db")
        for _ in range(3):
            with pytest.raises(BudgetError) as caught:
                tight(chat)
        error = caught.value
        assert {"system", "pinned", "tail"} <= set(error.tiers)
        assert len(error.pins) == 4
        assert all(f"{name} {tokens}" in str(error) for name, tokens in [*error.tiers.items(), *error.pins.items()])
        assert str(error.budget) in str(error)
        assert "raise the budget" in str(error)
        assert written(tmp_path / "a.db") == size


def test_d06_a_refusal_passes_once_there_is_room_again(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat:
        begin(chat)
        before = tight(chat)
        with pytest.raises(BudgetError):
            tight(chat, max_tokens=1_000_000 - 30_000)
        assert tight(chat).params == before.params


def test_d06_a_fill_target_below_the_head_is_no_reason_to_begin_anew_at_every_call(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", profile(2_500, fill=0.4, min_turns=2)) as chat:
        whys = [exchange(chat, prose(40, f"Part {i}:"), prose(40)).report.why for i in range(40)]
        assert 2 <= whys.count("full") <= 6


def test_d06_the_caller_is_warned_when_pins_pass_their_share(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", BUDGET) as chat, pytest.warns(PinShareWarning, match=r"active pins use \d+ of \d+"):
        begin(chat)


def test_d06_a_head_that_changes_every_time_is_charged_but_bounded(tmp_path: Path) -> None:
    with opened(tmp_path / "a.db", 20_000) as chat:
        chat.add_user("Go.")
        for i in range(6):
            ask(chat, system=f"Round {i}.")
            step(chat, f"tu_{i}", "ok")
        assert ask(chat, system="Round 6.").report.why == "head"
        assert ask(chat, system="Round 6.").report.number == 7


ANSWERS: dict[str, Answer] = {
    "good": first_sentences,
    "as long as its input": lambda lines: {"items": [note(p, x["turn"]) for x in lines for p in parts(x["text"])]},
    "failing for ever": raising(ConnectionError("down")),
}


def parts(words: str) -> list[str]:
    return [words[i : i + 590] for i in range(0, len(words), 590)]


@pytest.mark.parametrize("kind", ANSWERS)
def test_d06_a_summariser_is_called_once_per_new_turn_at_most(kind: str) -> None:
    scribe = Scribe(ANSWERS[kind])
    with talking(scribe, budget=profile(BUDGET)) as talk:
        begin(talk.chat)
        for _ in range(30):
            tight(talk.chat)
            talk.manager.flush()
        assert len(scribe.prompts) <= 1
        for i in range(14):
            before = len(scribe.prompts)
            talk.chat.add_reply(reply(text(prose(150, f"Answer {i}."))))
            talk.chat.add_user(f"And {i}?")
            assert tight(talk.chat).params == tight(talk.chat).params
            talk.manager.flush()
            talk.clock.pass_by(minutes=2)
            assert len(scribe.prompts) <= before + 1
        assert len(scribe.prompts) > 1


def test_d06_a_summary_no_smaller_than_what_was_read_is_refused_and_not_asked_for_again() -> None:
    scribe = Scribe(ANSWERS["as long as its input"])
    with talking(scribe) as talk:
        talk.exchanges(40)
        talk.clock.pass_by(days=1)
        talk.exchanges(5)
        assert talk.chat.compactions() == []
        assert all(str(j.error).startswith("longer than its source") for j in talk.waiting)
        assert len(scribe.prompts) == len(talk.waiting) > 2


def test_d06_a_summary_does_not_hide_which_tiers_leave_no_room() -> None:
    with talking() as talk:
        talk.until(SegmentStatus.ACTIVE)
        talk.chat.add_user(prose(9_000))
        with pytest.raises(BudgetError) as caught:
            ask(talk.chat)
        assert {"system", "tail", "summary"} <= set(caught.value.tiers)
