"""Text analysis: what is found by which words, and where it stands."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.ranking import Unit, fold, terms, tokens


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ORD-4471", {"ord-4471", "ord", "4471"}),
        ("dal/orders.py", {"dal/orders.py", "dal", "order"}),
        ("getUserById", {"getuserbyid", "user"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("snake_case", {"snake_case", "snake", "case"}),
        ("std::vector", {"std::vector", "std", "vector"}),
        ("A::B", {"a::b"}),
        ("C++ and C#", {"c++", "c#"}),
        ("1,250,000 rows", {"1250000", "row"}),
        ("使用pandas库", {"使用", "panda", "库"}),
    ],
)
def test_identifiers_are_found_whole_and_by_part(text: str, parts: set[str]) -> None:
    assert parts <= set(terms(text))


def test_unspaced_scripts_give_pairs_of_neighbours() -> None:
    assert terms("東京で会議") == ["東京", "京で", "で会", "会議"]


@pytest.mark.parametrize("written", ["Café", "CAFE", "cafe\u0301", "ＣＡＦＥ", "ｃａｆé"])
def test_width_case_accents_and_normal_forms_are_one(written: str) -> None:
    assert terms(f"the {written} opens") == ["cafe", "open"]


def test_voicing_marks_are_letters_not_accents() -> None:
    assert fold("が") != fold("か")
    assert fold(unicodedata.normalize("NFD", "が")) == fold("が")


@pytest.mark.parametrize(
    ("asked", "told"),
    [("buy", "bought"), ("go", "went"), ("child", "children"), ("painting", "painted"), ("studies", "study")],
)
def test_forms_of_a_word_share_a_stem(asked: str, told: str) -> None:
    assert terms(asked) == terms(told)


@pytest.mark.parametrize("text", ["", "  ", "\0", "🎉", "*", "--", "the and of", "yo de la", "don't we'll"])
def test_nothing_to_match_gives_no_terms(text: str) -> None:
    assert terms(text) == []


@pytest.mark.parametrize("text", ["the IT team", "column `it` here", "docker run --it x", "call it() now"])
def test_identifiers_that_look_like_stop_words_are_kept(text: str) -> None:
    assert "it" in terms(text)


def test_shouting_is_not_an_identifier() -> None:
    assert terms("WHERE IS IT") == []


def test_encoded_data_is_not_a_word() -> None:
    assert terms("x" * 65) == []
    assert terms("ab/" * 2_000) == []


@given(st.text())
def test_every_term_stands_in_the_text(text: str) -> None:
    for term, start, end in tokens(text):
        assert term
        assert not any(character.isspace() for character in term)
        assert 0 <= start < end <= len(text)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_normal_forms_have_the_same_terms(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert terms(unicodedata.normalize("NFC", unicodedata.normalize("NFD", composed))) == terms(composed)


@given(st.lists(st.sampled_from(["night", "export", "ark-2", "quota", "東京都"])))
def test_a_unit_counts_what_was_read(words: list[str]) -> None:
    text = " ".join(words)
    unit = Unit.of(1, "user", text)
    found = terms(text)
    assert unit.length == len(found)
    assert all(unit.count(term) == found.count(term) for term in found)
