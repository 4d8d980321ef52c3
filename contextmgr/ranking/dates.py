"""Months, years and days that a question names: "what did she do on 20 May 2023?" means the turns of that time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september", "october"),
    *("november", "december"),
)
_NUMBER = {name[:size]: number for number, name in enumerate(_MONTHS, 1) for size in (3, len(name))} | {"sept": 9}
_NAME = re.compile(rf"\b(?:{'|'.join(sorted(_NUMBER, key=len, reverse=True))})\b", re.IGNORECASE)
_ISO = re.compile(r"\b((?:19|20)\d\d)[-/](\d\d?)(?:[-/](\d\d?))?\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DAY = re.compile(r"\b([0-3]?\d)(?:st|nd|rd|th)?\b", re.IGNORECASE)
_ALSO_WORDS = {"may", "march", "mar", "dec", "jan", "sep", "oct", "nov", "jun", "jul", "aug", "apr", "feb", "sept"}


@dataclass(frozen=True, slots=True)
class When:
    """Months (1-12), years and days of the month that are named; a day counts only beside a month."""

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()

    def fits(self, at: datetime | None) -> float:
        """0 where no month is named or another one; 1 in the month (and year) named; 1.5 on the very day."""
        if at is None or at.month not in self.months or (self.years and at.year not in self.years):
            return 0.0
        return 1.5 if at.day in self.days else 1.0


NEVER = When()


def when(text: str) -> When:
    """What a text says of time, in English words or as ISO dates; `NEVER` where it names no month."""
    iso = [(int(y), int(m), int(d or 0)) for y, m, d in _ISO.findall(text) if 1 <= int(m) <= 12]
    if iso:
        return When(frozenset(m for _, m, _ in iso), frozenset(y for y, _, _ in iso), frozenset(d for *_, d in iso) - {0})
    months = frozenset(_NUMBER[name.lower()] for name in _NAME.findall(text) if _is_name(name))
    if not months:
        return NEVER
    days = frozenset(int(day) for day in _DAY.findall(text) if 1 <= int(day) <= 31)
    return When(months, frozenset(map(int, _YEAR.findall(text))), days)


def _is_name(found: str) -> bool:
    """Whether a month is meant: "may" and "march" are words, and so are abbreviations, unless capitalised."""
    return found.lower() not in _ALSO_WORDS or found[0].isupper()
