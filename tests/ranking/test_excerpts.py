"""Excerpts: the original characters around a match, within their room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.errors import InputError
from contextmgr.ranking import excerpt, query_terms
from contextmgr.ranking.excerpts import estimate

LONG = "Nothing of note. " * 200 + "The ＱＵＯＴＡ on volume ark-2 was reached. " + "More of nothing. " * 200


def test_a_text_that_fits_is_whole() -> None:
    found = excerpt("the quota", query_terms("quota"), tokens=10)
    assert found.is_whole
    assert found.text == "the quota"


def test_the_match_is_shown_in_its_original_characters() -> None:
    found = excerpt(LONG, query_terms("quota of ark-2"), tokens=40)
    assert "The ＱＵＯＴＡ on volume ark-2 was reached." in found.text
    assert not found.is_whole


def test_it_begins_with_a_sentence() -> None:
    found = excerpt(LONG, query_terms("quota of ark-2"), tokens=60)
    assert LONG[: found.start].endswith(". ")


def test_the_part_with_most_of_the_query_is_chosen() -> None:
    text = "quota. " + "blah " * 500 + "quota of ark-2. " + "blah " * 500 + "ark-2."
    assert "quota of ark-2" in excerpt(text, query_terms("quota ark-2"), tokens=30).text


def test_without_a_match_it_is_the_beginning() -> None:
    assert excerpt(LONG, query_terms("volcano"), tokens=20).start == 0


def test_weights_decide_between_matches() -> None:
    text = "an export here. " + "blah " * 500 + "a quota there."
    assert "quota" in excerpt(text, query_terms("export quota"), tokens=20, weights={"quota": 5.0}).text


@given(st.text(max_size=400), st.text(max_size=20), st.integers(1, 60))
def test_it_fits_and_stands_in_the_text(text: str, query: str, tokens: int) -> None:
    found = excerpt(text, query_terms(query), tokens=tokens)
    assert found.text == text[found.start : found.end]
    assert estimate(found.text) <= tokens or found.text == ""


def test_no_room_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 token"):
        excerpt("text", query_terms("text"), tokens=0)


def test_what_is_found_at_the_very_end_is_kept() -> None:
    text = "dolor " * 2_000 + " end ZZ-5000/QX-77."
    shown = excerpt(text, query_terms("QX-77"), tokens=60, count=lambda t: len(t) // 6 + 3 * sum(map(str.isdigit, t)))
    assert "QX-77" in shown.text
