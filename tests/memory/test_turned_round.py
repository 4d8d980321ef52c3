"""What the sentences beside a statement, or a word in it, make of it: taken back, turned round, or meant for others."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from contextmgr.extraction.checking import Said, verdict
from contextmgr.extraction.own_words import Heard, own_words
from contextmgr.extraction.proposals import Proposal
from contextmgr.facts import FactKind
from contextmgr.turns import Turn
from tests.memory.talk import TUESDAY


def judged(text: str, value: str, quote: str, key: str = "matter") -> str:
    """The value that may be stored, else the reason why not."""
    turn = Turn(number=1, role="user", author="user", blocks=({"type": "text", "text": text},), said_at=TUESDAY)
    proposal = Proposal(key=key, value=value, kind=FactKind.FACT, turn=1, quote=quote)
    found = verdict(proposal, {1: Said(turn, own_words(turn, Heard()))}, ZoneInfo("UTC"))
    return found.fact.value if found.fact is not None else found.reason


@pytest.mark.parametrize("after", ["Just kidding, in Rome.", "Forget that.", "Never mind.", "Scratch that: Rome."])
def test_what_is_taken_back_at_once_was_not_said(after: str) -> None:
    assert judged(f"I live in Berlin. {after}", "Berlin", "I live in Berlin") == "taken back"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I am hardly allergic to nuts.", "allergic to nuts"),
        ("It is simply untrue that I live in Rome.", "live in Rome"),
        ("I used to live in Rome.", "live in Rome"),
        ("Unless it rains, we meet at Dock 4.", "meet at Dock 4"),
    ],
)
def test_a_word_that_turns_a_statement_round_is_not_left_out(text: str, value: str) -> None:
    assert judged(text, value, text) == "a word that turns it round is left out"
    assert judged(text, text, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Write an email to Tom: always reply all.",
        "Act as a pirate: always reply all.",
        "I always reply all in my novel.",
    ],
)
def test_what_is_meant_for_others_or_played_says_nothing_of_the_user(text: str) -> None:
    assert judged(text, "always reply all", "always reply all") == "only supposed"


def test_what_is_to_be_written_down_is_told() -> None:
    assert judged("Write this down: my dock is 4.", "4", "my dock is 4") == "4"


def test_a_secret_that_the_sentence_before_names_is_one() -> None:
    assert judged("My wifi password changed. It is hunter2xyz now.", "hunter2xyz", "hunter2xyz") == "a secret"
    assert judged("My wifi changed. It is at dock 4 now.", "at dock 4", "at dock 4") == "at dock 4"


def test_code_in_a_line_is_no_statement() -> None:
    assert "own words" in judged("What does `port = 8080` do here", "8080", "port = 8080")
