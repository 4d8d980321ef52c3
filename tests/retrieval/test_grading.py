"""What is strong enough to be quoted, and which of those that say as much comes first."""

from __future__ import annotations

import pytest

from contextmgr.ranking import Hit, Statistics, query_terms
from contextmgr.retrieval.grading import Grades, newest_second

HELD = {"address": 4, "prefer": 2, "phone": 2, "e-mail": 3, "mail": 3, "grinder": 5, "send": 40}
"""In how many of 200 turns each word stands; others stand in none."""


def grade(question: str, *found: str) -> float:
    """What a turn that holds these words is worth for a question."""
    query = query_terms(question)
    holding = {term: HELD.get(term, 0) for term in query.terms}
    grades = Grades.of(query, Statistics(units=200, terms=4_000, holding=holding))
    told = [t for t in query.terms if t not in query.dates]
    weights = {t: Statistics(units=200, terms=4_000, holding=holding).idf(t) for t in told}
    share = sum(weights[t] for t in found) / sum(weights.values())
    return grades.grade(Hit(1, 1.0, "", share, found=found))


TWO = "The grinder I got is broken. Which address do you have for it, and will you tell me by phone or by e-mail?"


@pytest.mark.parametrize("found", [("address",), ("phone", "e-mail", "mail")])
def test_a_message_is_held_against_each_thing_it_asks(found: tuple[str, ...]) -> None:
    assert grade(TWO, *found) > 0.4


@pytest.mark.parametrize("question", ["What is my address?", "Which delivery address do you have?"])
def test_one_shared_word_of_few_is_enough(question: str) -> None:
    assert grade(question, "address") >= 0.4


def test_one_shared_word_of_many_is_not() -> None:
    assert grade("Compare address formats of Norwegian, Chilean and Japanese postal services", "address") < 0.3


def test_of_turns_that_hold_the_same_words_the_newest_comes_second() -> None:
    hits = [Hit(n, 1.0, "", found=("address",)) for n in (5, 1, 9, 3)]
    assert [h.number for h in newest_second(hits)] == [5, 9, 1, 3]


def test_others_keep_their_places() -> None:
    hits = [Hit(2, 3.0, "", found=("a",)), Hit(1, 2.0, "", found=("b",)), Hit(3, 1.0, "", found=("a", "b"))]
    assert newest_second(hits) == hits
