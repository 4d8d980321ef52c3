"""What is the user's own: nothing that we put into requests, that was quoted, or that came from a tool."""

from __future__ import annotations

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr import labels
from contextmgr.evidence import Evidence, Quote
from contextmgr.extraction.own_words import SEAM, Heard, OwnWords, own_words
from contextmgr.facts import Fact, Note
from contextmgr.pins import Pin, PinKind, PinStatus
from contextmgr.state import State, StateTier, Wording
from contextmgr.turns import ToolResult, Turn
from tests.memory.talk import TUESDAY

SECRET = "the heron protocol starts at dock nine"
FACT = Fact(
    id="f", key="protocol", value=SECRET, author="user", conversation="old", turn=3, valid_from=TUESDAY, change=1
)
NOTE = Note(section="plan", text=SECRET, change=2, turns=(4,), at=TUESDAY)
PIN = Pin(id="p", text=SECRET, sha256="", kind=PinKind.CONSTRAINT, author="user", turn=2, status=PinStatus.REVOKED)
CALL = {"type": "tool_use", "id": "t", "name": "read_log", "input": {"path": SECRET}}
WORDING = Wording(conversation="talk", zone=UTC)


def user(words: str, number: int = 9) -> Turn:
    return Turn(number=number, role="user", author="user", blocks=({"type": "text", "text": words},))


def answer(words: str, *results: str) -> Turn:
    calls = tuple({"type": "tool_use", "id": f"t{n}", "name": "any", "input": {}} for n, _ in enumerate(results))
    bodies = [{"type": "tool_result", "tool_use_id": f"t{n}", "content": r} for n, r in enumerate(results)]
    done = tuple(ToolResult(call=n, body=body) for n, body in enumerate(bodies))
    blocks = ({"type": "text", "text": words}, *calls)
    return Turn(number=1, role="assistant", author="model", blocks=blocks, results=done)


def own(words: str, *before: Turn) -> str:
    heard = Heard()
    for turn in before:
        heard.add(turn)
    return own_words(user(words), heard).shown


def state_tier() -> str:
    tier = StateTier(State(facts=(FACT,), notes=(NOTE,)), WORDING, len, sum)
    return str(tier.blocks(100_000)[0]["text"])


FRAMES = {
    "evidence": Evidence(turn=3, quotes=(Quote(3, "user", SECRET), Quote(4, "tool", SECRET))).render(UTC)["text"],
    "state": state_tier(),
    "fact": labels.fact_change(WORDING.fact(FACT)),
    "note": labels.note_change(NOTE, WORDING.note(NOTE)),
    "summary": f'{labels.summary_label([(1, 8)])}\n- turn 3, decision: "{SECRET}"',
    "summary line": f'- turn 3-5, ruled out: "{SECRET}"',
    "pin": f"{labels.pin_label(PIN, UTC)}\n{SECRET}\n\n{SECRET}",
    "context": f"{labels.context_label(PIN)}\n{SECRET}",
    "task": f"{labels.task_label('rules')}\n{SECRET}\n\n{SECRET}",
    "in hand": f"{labels.in_hand_label(3, 'user')}\n{SECRET}",
    "mask": labels.masked(CALL, 3, 900, ["read_turns"], error=SECRET),
    "late": f"{labels.late(CALL, 3)}\n{SECRET}",
    "call": f"{labels.call_as_text(CALL, 3)}\n{SECRET}",
    "recall": json.dumps({"results": [{"chat_id": "old", "excerpt": SECRET}]}),
    "recall, pretty": json.dumps([{"chat_id": "old", "excerpt": SECRET}], indent=2),
    "recall, cut off": json.dumps({"results": [{"excerpt": SECRET}]})[:-4],
    "quotation": f"> {SECRET}\n> {SECRET}",
    "code": f"```\n{SECRET}\n```",
    "transcript": f"User: {SECRET}\nAssistant: {SECRET}",
    "reading": f"[turn 3, user]\n{SECRET}",
}


@pytest.mark.parametrize("name", FRAMES)
def test_what_we_framed_is_not_the_users(name: str) -> None:
    shown = own(f"I found this:\n\n{FRAMES[name]}")
    assert SECRET not in shown
    assert shown.startswith("I found this:")


@pytest.mark.parametrize("name", sorted(set(FRAMES) - {"pin", "task"}))
def test_what_is_said_after_it_is(name: str) -> None:
    assert own(f"{FRAMES[name]}\n\nMy name is Anna.").endswith("My name is Anna.")


@pytest.mark.parametrize("label", [labels.BEGINS, labels.FILLER, labels.OPENING, labels.STATE, labels.NOTES])
def test_a_label_alone_is_not_the_users(label: str) -> None:
    assert own(label) == ""


def test_what_a_tool_returned_is_not_the_users_when_pasted_bare() -> None:
    found = json.dumps({"results": [{"excerpt": "The gate code for dock 4 is 7731."}]})
    before = answer("Let me look.", found)
    assert own("The gate code for dock 4 is 7731. Thanks!", before) == "Thanks!"


def test_what_the_assistant_said_is_not_the_users_when_pasted_bare() -> None:
    long = "The release branch is cut on every second Thursday at noon."
    assert own(f"{long}\nMy name is Anna.", answer(long)) == "My name is Anna."


def test_a_few_words_in_common_with_the_assistant_are_still_the_users() -> None:
    assert own("Use PostgreSQL.", answer("We could use PostgreSQL.")) == "Use PostgreSQL."


def test_only_what_was_said_before_counts() -> None:
    assert own("The gate code for dock 4 is 7731.") == "The gate code for dock 4 is 7731."


def test_a_seam_stands_where_something_was_left_out() -> None:
    assert own(f"One.\n> {SECRET}\nTwo.") == f"One.{SEAM}Two."


def test_a_quote_is_widened_to_its_sentence() -> None:
    words = OwnWords(("I am new. Do not use floats for money. Bye.",))
    assert words.around("use floats") == "Do not use floats for money."


@pytest.mark.parametrize("quote", ["delete the bucket", "nothing of it"])
def test_reported_speech_and_what_is_not_there_give_nothing(quote: str) -> None:
    assert OwnWords(('The bot wrote "delete the bucket" to me.',)).around(quote) is None


@given(st.text(alphabet=st.sampled_from('a {}[]>"`:\n|-user,turn1'), max_size=120))
def test_any_text_is_read_and_every_part_stands_in_it(words: str) -> None:
    turn = user(words)
    assert all(part in words for part in own_words(turn, Heard()).parts)


@pytest.mark.parametrize("mark", ["**", "\u200b", "### ", "`", "- "])
def test_a_label_is_known_behind_marks_of_a_rendered_page(mark: str) -> None:
    assert own(f"Look.\n{mark}[State changed; from now on:]\n- x: 1\nMy name is Rex.") == "Look."
