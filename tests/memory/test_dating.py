"""Days told from the day of speaking: the arithmetic is ours."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextmgr.extraction.dating import dated, is_vague, readings, relatives

TUESDAY = date(2026, 3, 10)


@pytest.mark.parametrize(
    ("words", "day"),
    [
        ("today", "2026-03-10"),
        ("tomorrow", "2026-03-11"),
        ("the day after tomorrow", "2026-03-12"),
        ("yesterday", "2026-03-09"),
        ("in 3 days", "2026-03-13"),
        ("in two weeks", "2026-03-24"),
        ("ten days ago", "2026-02-28"),
        ("3 weeks from now", "2026-03-31"),
        ("Friday", "2026-03-13"),
        ("this Friday", "2026-03-13"),
        ("last Friday", "2026-03-06"),
        ("Monday", "2026-03-16"),
        ("übermorgen", "2026-03-12"),
        ("in drei Tagen", "2026-03-13"),
        ("vor zwei Wochen", "2026-02-24"),
        ("demain", "2026-03-11"),
        ("il y a trois jours", "2026-03-07"),
        ("pasado mañana", "2026-03-12"),
        ("hace dos semanas", "2026-02-24"),
        ("am Freitag", "am 2026-03-13"),
    ],
)
def test_a_day_is_reckoned(words: str, day: str) -> None:
    assert dated(words, TUESDAY) == day


@pytest.mark.parametrize("words", ["next Friday", "Tuesday", "next week", "soon", "in a few days", "nächste Woche"])
def test_what_has_two_readings_or_none_is_not(words: str) -> None:
    assert dated(words, TUESDAY) is None


def test_both_readings_are_known() -> None:
    assert readings("by next Friday", TUESDAY) == ["by 2026-03-13", "by 2026-03-20"]


@pytest.mark.parametrize(
    "words", ["Friday, 13 March 2026", "every Monday", "Guten Morgen", "17 August 2026", "por la mañana", "may"]
)
def test_what_is_told_otherwise_stays(words: str) -> None:
    assert relatives(words, TUESDAY) == []
    assert not is_vague(words)


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.integers(0, 300))
def test_days_are_counted_over_months_and_years(day: date, count: int) -> None:
    assert dated(f"in {count} days", day) == (day + timedelta(count)).isoformat()
    assert dated(f"{count} days ago", day) == (day - timedelta(count)).isoformat()
