"""Measures of a search, their intervals, and gold files."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.errors import InputError
from contextmgr.evaluation import as_json, interval, measures, read_gold, scores

RANKED = st.lists(st.integers(1, 40), unique=True, max_size=30)
RELEVANT = st.frozensets(st.integers(1, 40), min_size=1, max_size=12)


def test_measures_of_a_known_answer() -> None:
    found = measures([7, 3, 9, 1, 5, 2], {3, 2})
    assert found["recall@5"] == 0.5
    assert found["recall@10"] == found["recall@20"] == found["any_hit@10"] == 1
    assert found["mrr"] == 0.5
    gain = 1 / math.log2(3) + 1 / math.log2(7)
    assert found["ndcg@10"] == pytest.approx(gain / (1 + 1 / math.log2(3)))


def test_nothing_found_measures_nothing() -> None:
    assert set(measures([], {1}).values()) == {0.0}


@given(RANKED, RELEVANT)
def test_measures_are_shares_that_grow_with_k(ranked: list[int], relevant: frozenset[int]) -> None:
    found = measures(ranked, relevant)
    assert all(0 <= value <= 1 + 1e-9 for value in found.values())
    assert found["recall@5"] <= found["recall@10"] <= found["recall@20"]


@given(RELEVANT)
def test_the_best_order_has_full_gain(relevant: frozenset[int]) -> None:
    assert measures(sorted(relevant), relevant)["ndcg@10"] == pytest.approx(1)


def test_a_question_without_evidence_is_refused() -> None:
    with pytest.raises(InputError, match="leave it out"):
        measures([1], set())


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_interval_holds_the_mean_and_is_the_same_again(values: list[float]) -> None:
    found = interval(values, samples=200)
    assert found == interval(values, samples=200)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


def test_more_questions_narrow_the_interval() -> None:
    few, many = interval([0, 1] * 5), interval([0, 1] * 500)
    assert many.high - many.low < few.high - few.low


def test_scores_are_given_by_category_and_for_all() -> None:
    found = scores([("lookup", {"mrr": 1.0}), ("other", {"mrr": 0.0})])
    assert list(found) == ["all", "lookup", "other"]
    assert found["all"].questions == 2
    assert found["all"].measures["mrr"].mean == 0.5
    assert as_json(found)["lookup"] == {"questions": 1, "mrr": [1.0, 1.0, 1.0]}


def test_a_gold_file_is_read() -> None:
    first, second = read_gold(
        [
            '{"query": "why?", "turns": [14, 14]}',
            "",
            '{"query": "who?", "turns": [2], "conversation": "c", "category": "x"}',
        ]
    )
    assert (first.turns, first.category, first.conversation) == (frozenset({14}), "all", None)
    assert (second.conversation, second.category) == ("c", "x")


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"query": " ", "turns": [1]}', '{"query": "a"}', '{"query": "a", "turns": []}',
     '{"query": "a", "turns": [0]}', '{"query": "a", "turns": [true]}', '{"query": "a", "turns": [1], "category": 3}'],
)  # fmt: skip
def test_a_line_that_is_no_question_is_named(line: str) -> None:
    with pytest.raises(InputError, match="line 2"):
        read_gold(['{"query": "why?", "turns": [14]}', line])


def test_no_values_have_no_mean() -> None:
    with pytest.raises(InputError, match="no mean"):
        interval([])
