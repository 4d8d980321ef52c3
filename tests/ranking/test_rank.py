"""Scores, vectors, duplicates and thresholds: the laws of the ranking."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.errors import InputError
from contextmgr.ranking import DEFAULTS, Cosines, Index, Settings, Statistics, Unit, query_terms, rank
from tests.ranking.talk import index, noise, numbers

WORDS = st.sampled_from(["quota", "export", "ark-2", "volume", "night", "pump", "garden", "invoice"])
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)


def hits(units: list[Unit], query: str, *, k: int = 10, settings: Settings = DEFAULTS) -> list[int]:
    return [hit.number for hit in rank(query_terms(query), units, Statistics.of(units), k=k, settings=settings)]


def test_rare_words_weigh_more_than_common_ones() -> None:
    texts = ["the pump is loud", "the pump is old", "the pump is new", "an invoice came"]
    assert numbers(index(texts), "pump invoice")[0] == 4


def test_a_neighbour_that_answers_comes_along() -> None:
    units = [
        Unit.of(1, "user", "Which instrument did you take up?", episode=1),
        Unit.of(2, "user", "The clarinet, since spring.", episode=1),
        *noise(20, 3),
    ]
    assert hits(units, "which instrument was taken up") == [1, 2]


def test_nothing_is_lent_across_the_border_of_an_episode() -> None:
    units = [Unit.of(1, "user", "Which instrument?", episode=1), Unit.of(2, "user", "The clarinet.", episode=2)]
    assert hits(units, "instrument") == [1]


def test_an_episode_lends_weight() -> None:
    said = ["the garden wall", "green paint", "sand", "the harbour wall", "blue paint", "salt"]
    units = [Unit.of(n, "user", text, episode=1 if n <= 3 else 2) for n, text in enumerate(said, 1)]
    assert hits(units, "garden paint").index(2) < hits(units, "garden paint").index(5)


def test_users_come_before_answers_unless_the_answer_is_asked_for() -> None:
    units = [Unit.of(1, "assistant", "a light lager", episode=1), *noise(9, 2), Unit.of(20, "user", "a light lager")]
    same = replace(DEFAULTS, same=1.0)
    assert hits(units, "which lager is light?", settings=same)[0] == 20
    assert hits(units, "did you recommend a light lager?", k=1, settings=replace(same, user_when_answer=0.4)) == [1]


def test_a_speaker_who_is_named_is_preferred() -> None:
    units = [
        Unit.of(1, "user", "Ana, I went climbing", speaker="Ben"),
        Unit.of(3, "user", "I went climbing", speaker="Ana"),
    ]
    assert hits(units, "when did Ana go climbing?") == [3, 1]


def test_a_date_in_the_query_prefers_turns_of_that_time() -> None:
    units = [
        Unit.of(1, "user", "climbing again", at=datetime(2023, 4, 1)),
        Unit.of(3, "user", "climbing again today", at=datetime(2023, 5, 1)),
        *noise(9, 5),
    ]
    assert hits(units, "who went climbing in April 2023?")[0] == 1
    assert hits(units, "who went climbing in May 2023?")[0] == 3


def test_the_newest_of_equals_comes_first_and_stands_for_the_others() -> None:
    found = Index([Unit.of(n, "user", "the quota is reached", episode=n) for n in (1, 5, 9)])
    (hit,) = found.search("quota reached")
    assert (hit.number, hit.also) == (9, (5, 1))


def test_a_hit_says_why() -> None:
    found = index(["the quota on ark-2", "yes it is full"])
    best, beside = found.search("quota of ark-2")
    assert "quota" in best.reason
    assert best.share == 1
    assert beside.reason == "beside turn 1"


def test_the_order_in_which_units_are_given_does_not_matter() -> None:
    mine = [Unit.of(1, "user", "gate code for dock 4"), *noise(10, 2), Unit.of(20, "user", "the gate")]
    assert hits(mine, "gate code") == hits(list(reversed(mine)), "gate code") == [1, 20]


@given(TEXTS, WORDS)
def test_every_turn_with_the_rarest_word_is_found(texts: list[str], word: str) -> None:
    settings = replace(DEFAULTS, min_of_best=0.0, min_share=0.0, same=1.0)
    units = [Unit.of(n, "user", text) for n, text in enumerate(texts, 1)]
    holding = {unit.number for unit in units if unit.count(query_terms(word).terms[0])}
    found = rank(query_terms(word), units, Statistics.of(units), k=20, settings=settings)
    assert holding <= {n for hit in found for n in (hit.number, *hit.also)}


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 6), st.randoms(use_true_random=False))
def test_vectors_never_lose_an_exact_hit(texts: list[str], asked: list[str], k: int, chance: object) -> None:
    units = [Unit.of(n, "user", text, episode=n) for n, text in enumerate(texts, 1)]
    query, known = query_terms(" ".join(asked)), Statistics.of(units)
    cosines = Cosines.of({unit.number: chance.uniform(-1, 1) for unit in units})  # type: ignore[attr-defined]
    alone = rank(query, units, known, k=k)
    fused = rank(query, units, known, k=k, cosines=cosines)
    exact = {hit.number for hit in alone if hit.share >= 1 - 1e-9}
    assert exact <= {n for hit in fused for n in (hit.number, *hit.also)}
    assert len(fused) <= k


def test_vectors_find_what_words_do_not() -> None:
    units = [Unit.of(1, "user", "my feline is ill"), *noise(10, 2)]
    cosines = Cosines.of({1: 0.9} | {unit.number: 0.1 for unit in units[1:]})
    (best, *_) = rank(query_terms("cat sickness"), units, Statistics.of(units), cosines=cosines)
    assert best.number == 1
    assert "similarity 0.90" in best.reason


def test_scores_fall_and_numbers_differ() -> None:
    found = index(["quota", "quota export", "export", "export quota night"], around=5).search("quota export night")
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert len({hit.number for hit in found}) == len(found)


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        index(["quota"]).search("quota", k=k)


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match="share"):
        Settings(lexical_share=1.5)
    with pytest.raises(InputError, match="at least 0"):
        Settings(saturation=-1)
    with pytest.raises(InputError, match="no range"):
        Cosines.of({})


def test_a_long_turn_that_holds_all_that_was_asked_for_is_not_cut_off() -> None:
    long = "the lease " + " ".join(f"word{i}" for i in range(900))
    units = [Unit.of(1, "user", "the lease"), Unit.of(2, "assistant", long), *noise(30, 10)]
    assert [hit.number for hit in Index(units).search("lease", k=5)] == [1, 2]
