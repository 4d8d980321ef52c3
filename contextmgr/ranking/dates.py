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
    """Months (1-12), years and days of the month that are named; a day counts only beside a month.

    ``words`` are the words that name them, as they stand.
    """

    months: frozenset[int] = frozenset()
    years: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    words: tuple[str, ...] = ()

    def fits(self, at: datetime | None) -> float:
        """0 where no month is named or another one; 1 in the month (and year) named; 1.5 on the very day."""
        if at is None or at.month not in self.months or (self.years and at.year not in self.years):
            return 0.0
        return 1.5 if at.day in self.days else 1.0


NEVER = When()


def when(text: str) -> When:
    """What a text says of time, in English words or as ISO dates; `NEVER` where it names no month."""
    iso = [m for m in _ISO.finditer(text) if 1 <= int(m[2]) <= 12]
    if iso:
        return When(
            frozenset(int(m[2]) for m in iso),
            frozenset(int(m[1]) for m in iso),
            frozenset(int(m[3]) for m in iso if m[3]),
            tuple(m[0] for m in iso),
        )
    names = [name for name in _NAME.findall(text) if _is_name(name)]
    if not names:
        return NEVER
    days = [m for m in _DAY.finditer(text) if 1 <= int(m[1]) <= 31]
    years = _YEAR.findall(text)
    return When(
        frozenset(_NUMBER[name.lower()] for name in names),
        frozenset(map(int, years)),
        frozenset(int(m[1]) for m in days),
        (*names, *years, *(m[0] for m in days)),
    )


def _is_name(found: str) -> bool:
    """Whether a month is meant: "may" and "march" are words, and so are abbreviations, unless capitalised."""
    return found.lower() not in _ALSO_WORDS or found[0].isupper()
