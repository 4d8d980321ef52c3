"""What people really type: D09 and D23 of the field reports, on the words alone."""

from __future__ import annotations

import pytest

from contextmgr.ranking import Index, Unit, query_terms, standalone
from tests.ranking.talk import index, noise, numbers

LITERALS = (
    "pre-flight ORD-4471 C:\\temp\\a.log",
    "don't retry",
    "A::B 12.5 GB/s",
    "allow writes but NOT reads on replica",
    "TODO: fix",
)
ODD = ('"hello', "(open", "AND", "NEAR", "C++", "foo/bar", "what happened?", "*", "--", "", "   ", "\0", "🎉")


@pytest.mark.parametrize("number", range(1, len(LITERALS) + 1))
def test_every_literal_finds_its_own_turn(number: int) -> None:
    assert number in numbers(index(LITERALS, around=100), LITERALS[number - 1], k=3)


@pytest.mark.parametrize("query", ["ORD-4471", "4471", "a.log", "A::B", "12.5 GB/s", "replica", "TODO", "pre-flight"])
def test_parts_of_a_literal_find_it(query: str) -> None:
    (best, *_) = numbers(index(LITERALS, around=100), query)
    assert query.casefold() in LITERALS[best - 1].casefold()


@pytest.mark.parametrize("query", ODD)
def test_no_query_raises(query: str) -> None:
    assert isinstance(numbers(index(LITERALS), query), list)


@pytest.mark.parametrize("query", ["*", "--", "", "   ", "\0", "🎉", "ok", "can that the why"])
def test_what_says_nothing_finds_nothing(query: str) -> None:
    assert numbers(index(LITERALS, around=20), query) == []


EXPORT = {
    "en": "Nightly export failed because the quota on volume ark-2 was reached",
    "es": "La exportación nocturna falló porque se alcanzó la cuota del volumen ark-2",
}


def history(language: str) -> Index:
    """Turn 14 tells of the export; 300 others are noise."""
    return Index([*noise(13), Unit.of(14, "user", EXPORT[language]), *noise(286, 15)])


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("en", "why did the nightly export fail?"),
        ("en", "can you remind me what that quota thing was"),
        ("en", "ark-2"),
        ("en", "export nightly the failing why"),
        ("es", "¿por qué falló la exportación nocturna?"),
        ("es", "¿puedes recordarme qué era eso de la cuota?"),
        ("es", "ark-2"),
    ],
)
def test_a_plain_question_finds_the_turn(language: str, query: str) -> None:
    assert 14 in numbers(history(language), query, k=3)


@pytest.mark.parametrize("text", ["ok", "yes, do that", "vale", "sí, haz eso"])
def test_filler_finds_nothing(text: str) -> None:
    assert standalone(text, [EXPORT["en"]]) is None
    assert numbers(history("en"), text) == []


def test_an_old_exact_match_outranks_a_fresh_weak_one() -> None:
    found = Index([Unit.of(1, "user", EXPORT["en"]), *noise(50, 2), Unit.of(60, "user", "The export menu is grey")])
    assert numbers(found, "nightly export quota")[0] == 1


def test_nothing_is_returned_to_fill_up() -> None:
    assert numbers(history("en"), "the quota of volume ark-2", k=50)[0] == 14
    assert len(numbers(history("en"), "the quota of volume ark-2", k=50)) <= 3  # it and its neighbours


def test_a_query_that_is_foreign_to_the_history_finds_nothing() -> None:
    assert query_terms("photosynthesis chlorophyll membranes with a button")
    assert numbers(history("en"), "photosynthesis chlorophyll membranes thylakoid stroma enzymes near a button") == []
