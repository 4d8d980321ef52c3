"""Reading queries: text is data, and only what is meant is looked for."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.ranking import candidate_terms, query_terms, standalone
from contextmgr.ranking.dates import when


@given(st.text())
def test_no_text_is_refused(text: str) -> None:
    query = query_terms(text)
    assert set(candidate_terms(query)) <= set(query.terms)
    assert bool(query) == bool(query.terms)


@pytest.mark.parametrize("text", ["", "   ", "*", "--", "\0", "🎉", '"', "(", "ok", "who was that?", "¿qué es eso?"])
def test_what_says_nothing_is_empty(text: str) -> None:
    assert not query_terms(text)


def test_operators_are_words() -> None:
    assert {"near", "replica"} <= set(query_terms("reads NEAR replica").terms)
    assert "not" in query_terms("allow writes but NOT reads").terms


def test_what_surrounds_a_question_is_told_apart() -> None:
    query = query_terms("can you remind me what that quota thing was")
    assert candidate_terms(query) == ["quota"]


def test_a_query_of_requests_only_looks_for_them() -> None:
    assert candidate_terms(query_terms("what did we discuss earlier?")) == ["discuss", "earlier"]


def test_identifiers_are_asked_first() -> None:
    assert candidate_terms(query_terms("export of ORD-4471"))[0] == "ord-4471"


def test_a_foreign_function_word_is_dropped_where_its_language_shows() -> None:
    assert "die" not in query_terms("warum ist die Rechnung falsch?").terms
    assert "die" in query_terms("did the pump die?").terms


@pytest.mark.parametrize("text", ["what did you recommend?", "you'd mentioned a beer", "how did you suggest to do it"])
def test_the_assistants_words_can_be_asked_for(text: str) -> None:
    assert query_terms(text).about_answer


def test_asking_for_new_advice_is_not_asking_for_old() -> None:
    assert not query_terms("what would you recommend?").about_answer


@pytest.mark.parametrize("text", ["on 20 May 2023", "May 20th, 2023", "2023-05-20"])
def test_a_day_is_understood(text: str) -> None:
    assert when(text).fits(datetime(2023, 5, 20, 9)) == 1.5
    assert when(text).fits(datetime(2023, 5, 21)) == 1
    assert when(text).fits(datetime(2024, 5, 20)) == 0


def test_may_and_march_are_also_words() -> None:
    assert when("it may march on").months == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "yes, do that",
        "Yes please, go ahead!",
        "sí, haz eso",
        "vale, gracias",
        "ja, mach das",
        "好的",
        "はい、お願いします",
    ],
)
def test_consent_is_not_searched_on_its_words(text: str) -> None:
    assert standalone(text, ["Shall I rotate the key for ark-2?"]) is None


def test_a_question_that_points_back_borrows_from_before() -> None:
    found = standalone("and how long did it take?", ["the orders migration failed on ark-2"])
    assert found is not None
    assert found.startswith("and how long did it take?")
    assert "ark-2" in found


def test_a_question_with_words_of_its_own_stands_alone() -> None:
    text = "why did the nightly export fail on that volume?"
    assert standalone(text, ["unrelated"]) == text


def test_the_newest_text_with_words_is_borrowed_from() -> None:
    assert standalone("what about it?", ["old budget", "thermal pump", "ok"]) is None
    assert standalone("and its price?", ["old budget", "thermal pump", "ok"]) == "and its price? thermal pump"
