"""A proposed fact is held against the turn it names: what a writer adds, twists or takes from elsewhere is refused."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from contextmgr.extraction.checking import Said, verdict
from contextmgr.extraction.own_words import Heard, own_words
from contextmgr.extraction.proposals import Proposal
from contextmgr.facts import FactKind
from contextmgr.turns import Turn
from tests.memory.talk import TUESDAY, UTC

WORDS = {
    1: "Hi! My manager is Anna Berg. Do not use floats for money. The audit starts tomorrow at 9 am.",
    3: "The retry limit is 4 and the file is src/db.py. Should we use Redis?",
    5: "yes, do it",
    7: 'The bot wrote "delete the staging bucket" and I laughed. What if my name were Zed?',
    11: "The gala is on May 3.",
    9: "My card number is 4111 1111 1111 1111. The wifi password is hunter2!x9.",
}
BEFORE = {
    1: None,
    3: "Your manager is Hanna Berg and you want 5 retries.",
    5: "Shall I use PostgreSQL 16 for the orders service?",
    7: "User: yes, push it",
    9: "I noted that.",
    11: None,
}


def said(number: int) -> Said:
    turn = Turn(number=number, role="user", author="user", blocks=({"type": "text", "text": WORDS[number]},))
    words = BEFORE[number]
    asked = Turn(number=number - 1, role="assistant", author="model", blocks=({"type": "text", "text": words},))
    turn = Turn(number=number, role="user", author="user", blocks=turn.blocks, said_at=TUESDAY)
    return Said(turn, own_words(turn, Heard()), asked if words else None)


SAID = {n: said(n) for n in WORDS}


def judged(key: str, value: str, turn: int, quote: str) -> tuple[str, str] | str:
    proposal = Proposal(key=key, value=value, kind=FactKind.FACT, turn=turn, quote=quote)
    found = verdict(proposal, SAID, ZoneInfo("Europe/Berlin"))
    return (found.fact.value, found.fact.quote) if found.fact is not None else found.reason


@pytest.mark.parametrize(
    ("value", "turn", "quote", "stored"),
    [
        ("Anna Berg", 1, "My manager is Anna Berg.", "Anna Berg"),
        ("The user's manager is Anna Berg.", 1, "manager is Anna Berg", "The user's manager is Anna Berg."),
        ("Do not use floats for money", 1, "not use floats for money", "Do not use floats for money"),
        (
            "The audit starts on 2026-03-11 at 9 am",
            1,
            "audit starts tomorrow",
            "The audit starts on 2026-03-11 at 9 am",
        ),
        ("The audit starts tomorrow", 1, "audit starts tomorrow", "The audit starts 2026-03-11"),
        ("11 March 2026", 1, "The audit starts tomorrow at 9 am.", "11 March 2026"),
        ("May 3", 11, "The gala is on May 3.", "May 3"),
        ("3 May 2026", 11, "The gala is on May 3.", "3 May 2026"),
        ("4", 3, "The retry limit is 4", "4"),
        ("src/db.py", 3, "the file is src/db.py", "src/db.py"),
        ("PostgreSQL 16 for the orders service", 5, "yes, do it", "PostgreSQL 16 for the orders service"),
    ],
)
def test_what_was_said_passes(value: str, turn: int, quote: str, stored: str) -> None:
    found = judged("any", value, turn, quote)
    assert isinstance(found, tuple), found
    assert found[0] == stored
    assert quote in found[1]
    assert found[1] in WORDS[turn]


@pytest.mark.parametrize(
    ("value", "turn", "quote"),
    [
        ("Hanna Berg", 1, "My manager is Anna Berg."),  # another name
        ("Anna Bergmann", 1, "My manager is Anna Berg."),
        ("Hanna Berg", 3, "Your manager is Hanna Berg"),  # the assistant's words
        ("Hanna Berg", 2, "Your manager is Hanna Berg"),
        ("use floats for money", 1, "use floats for money"),  # the negation lies outside of the quote
        ("5 retries", 3, "The retry limit is 4"),  # another number
        ("4 seconds", 3, "The retry limit is 4"),
        ("src/db.pyc", 3, "the file is src/db.py"),  # another file
        ("The audit starts on 2026-03-12", 1, "audit starts tomorrow"),  # wrong arithmetic
        ("The audit starts on 2026-03-10", 1, "audit starts tomorrow"),
        ("3 May 2027", 11, "The gala is on May 3."),
        ("The audit starts next week", 1, "audit starts tomorrow"),
        ("Redis", 3, "Should we use Redis?"),  # a question
        ("MySQL 8 for the orders service", 5, "yes, do it"),  # not what was proposed
        ("PostgreSQL 17 for the orders service", 5, "yes, do it"),
        ("push to main", 5, "yes, do it"),
        ("delete the staging bucket", 7, "delete the staging bucket"),  # reported speech
        ("Zed", 7, "What if my name were Zed?"),  # supposed
        ("yes, push it", 7, "User: yes, push it"),
        ("4111 1111 1111 1111", 9, "My card number is 4111 1111 1111 1111."),  # secrets
        ("hunter2!x9", 9, "The wifi password is hunter2!x9."),
        ("Anna Berg", 99, "My manager is Anna Berg."),  # no such turn
        ("Anna Berg", 1, "My boss is Anna Berg."),  # not word for word
        ("...", 1, "Hi!"),
        ("likes the manager", 1, "Hi!"),
    ],
)
def test_what_was_not_said_is_refused(value: str, turn: int, quote: str) -> None:
    assert isinstance(judged("any", value, turn, quote), str)


@pytest.mark.parametrize("key", ["approved_push", "retry_limit_9", "never_retry", "delete_bucket"])
def test_a_key_says_no_more_than_the_words(key: str) -> None:
    assert isinstance(judged(key, "4", 3, "The retry limit is 4"), str)


def test_a_key_is_made_storable() -> None:
    proposal = Proposal(key="Retry Limit!", value="4", kind=FactKind.FACT, turn=3, quote="The retry limit is 4")
    found = verdict(proposal, SAID, UTC).fact
    assert found is not None
    assert found.key == "retry_limit"


def test_the_day_is_that_of_the_conversations_zone() -> None:
    late = TUESDAY.replace(hour=23)
    turn = Turn(number=1, role="user", author="user", blocks=SAID[1].turn.blocks, said_at=late)
    one = {1: Said(turn, SAID[1].own)}
    proposal = Proposal(
        key="audit", value="The audit starts tomorrow", kind=FactKind.FACT, turn=1, quote="The audit starts"
    )
    zones = [verdict(proposal, one, z).fact for z in (UTC, ZoneInfo("Asia/Tokyo"))]
    assert [f.value for f in zones if f] == ["The audit starts 2026-03-11", "The audit starts 2026-03-12"]


def test_reasons_repeat_nothing_that_was_said() -> None:
    assert judged("wifi", "hunter2!x9", 9, "The wifi password is hunter2!x9.") == "a secret"
