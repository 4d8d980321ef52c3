"""The plain rules: precise on sentences whose truth is known, and nearly silent on talk that states nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpora import load
from contextmgr.extraction.checking import Said, verdict
from contextmgr.extraction.own_words import Heard, own_words
from contextmgr.extraction.proposals import Proposal
from contextmgr.extraction.rules import rules
from contextmgr.turns import Turn
from tests.memory.sentences import STATED, UNSTATED
from tests.memory.talk import TUESDAY, UTC


def found_in(words: str) -> list[Proposal]:
    turn = Turn(number=1, role="user", author="user", blocks=({"type": "text", "text": words},), said_at=TUESDAY)
    said = Said(turn, own_words(turn, Heard()))
    verdicts = [verdict(p, {1: said}, UTC) for p in rules(said)]
    return [v.fact for v in verdicts if v.fact is not None]


@pytest.mark.parametrize("sentence", [s for s, value in STATED.items() if value])
def test_what_is_stated_is_found_with_its_sentence(sentence: str) -> None:
    (fact,) = found_in(f"Good evening! {sentence} Can you help?")
    assert (fact.value, fact.quote) == (STATED[sentence], sentence)


@pytest.mark.parametrize("sentence", UNSTATED)
def test_what_states_nothing_lasting_is_left(sentence: str) -> None:
    assert found_in(sentence) == []


def test_the_figures_of_the_docs() -> None:
    found = [s for s in STATED if found_in(s)]
    wrong = [s for s in UNSTATED if found_in(s)]
    assert (len(STATED), len(UNSTATED)) >= (50, 50)
    assert wrong == []
    assert len(found) / len(STATED) >= 0.9


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("My shipping address is 5 Elm Street.", "shipping_address"),
        ("My new shipping address is 6 Elm Street.", "shipping_address"),
        ("My shipping address has changed to 7 Elm Street.", "shipping_address"),
        ("I prefer coffee over tea.", "prefers_coffee_tea"),
        ("I prefer tea over coffee.", "prefers_coffee_tea"),
        ("Ich heiße Karla.", "name"),
    ],
)
def test_the_same_matter_has_the_same_key(words: str, key: str) -> None:
    assert [f.key for f in found_in(words)] == [key]


@pytest.mark.parametrize(
    "words",
    [
        "Let's go with SQLite for the cache, except for sessions.",
        "We use Redis, but only in staging.",
        "My shipping address is 5 Elm Street unless I travel.",
        "I decided to take my guitar, to the shop.",
    ],
)
def test_what_is_limited_is_not_cut_down_to_less(words: str) -> None:
    assert found_in(words) == []


def test_a_document_states_nothing() -> None:
    assert found_in("My name is Anna Berg. " * 500) == []


def test_talk_of_others_gives_few_facts_and_each_is_said(data_dir: Path) -> None:
    folder = data_dir / "conversations"
    if not folder.is_dir():
        pytest.skip(f"no conversations in {data_dir}")
    said = [m.text for c in load("longmemeval", folder) for m in c.messages if m.role == "user"]
    facts = [(f, words) for words in said for f in found_in(words)]
    assert len(facts) <= 0.02 * len(said)
    assert all(f.quote in words for f, words in facts)
    assert "Kansas City, Missouri" in {f.value for f, _ in facts}
