"""Dates and times of day in a text, in the forms people write them.

Law: what a date leaves open stays open (``None``), and a date agrees with another when nothing both say differs and
it says nothing the other leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS = (
    "january jan januar janvier janv enero ene gennaio",
    "february feb februar février fevrier févr febrero",
    "march mar märz maerz mars marzo",
    "april apr avril avr abril abr",
    "may mai mayo",
    "june jun juni juin junio",
    "july jul juli juillet juil julio",
    "august aug août aout agosto ago",
    "september sept sep septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre dic",
)
MONTH = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_WEEKDAYS = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag samedi sábado",
    "sunday sonntag dimanche domingo",
)
WEEKDAY = {name: number for number, names in enumerate(_WEEKDAYS, 1) for name in names.split()}
_M = "|".join(sorted(MONTH, key=len, reverse=True))
_DATE = re.compile(
    rf"""(?<![\w.])(?P<y1>\d{{4}})[-/.](?P<m1>\d{{1,2}})[-/.](?P<d1>\d{{1,2}})(?![\d])
    |(?<![\w./-])(?P<a>\d{{1,2}})(?P<sep>[./-])(?P<b>\d{{1,2}})(?P=sep)(?P<y2>\d{{4}})(?!\w)
    |(?P<y5>\d{{4}})\s?[年년]\s?(?P<m5>\d{{1,2}})\s?[月월](?:\s?(?P<d5>\d{{1,2}})\s?[日일])?
    |(?<![\w])(?P<m6>\d{{1,2}})[月월](?P<d6>\d{{1,2}})[日일]
    |(?<![\w.])(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s(?:of\s|de\s)?(?P<m3>{_M})\b\.?(?:,?\s(?:de\s|del\s)?(?P<y3>\d{{4}})\b)?
    |\b(?P<m4>{_M})\b\.?\s(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?![\w.]*\d)(?:,?\s(?P<y4>\d{{4}})\b)?
    |\b(?P<m7>{_M})\b\.?\s(?:de\s)?(?P<y7>(?:19|20)\d\d)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_ALONE = re.compile(r"\b[^\W\d_]{4,10}\b")
_ALSO_WORDS = frozenset({"march", "mars", "marzo", "mayo", "sept", "avril", "abril", "août", "janv", "févr", "juil"})
_HAS_DIGIT = re.compile(r"\d")
STAMP = re.compile(
    r"(?<![\w/.-])(?P<date>\d{4}-\d\d-\d\d)[Tt](?P<time>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(?:[zZ]|[+-]\d\d:?\d\d)?"
)
"""A date and a time of day as machines write them."""
_TIME = re.compile(
    r"(?<![\w:.])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d)(?:\.\d+)?)?(?:\s?(?P<ap>[ap])\.?m\b\.?)?"
    r"|(?<![\w:.])(?P<h2>1[0-2]|[1-9])\s?(?P<ap2>[ap])\.?m\b\.?",
    re.IGNORECASE,
)


class Day(NamedTuple):
    """A date as far as it is told.  ``swapped`` is the other reading of ``03/04/2026``."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    swapped: bool = False

    def agrees(self, source: Day) -> bool:
        """Whether ``source`` says all that this says."""
        mine, theirs = self._parts(), source._parts()
        if all(a is None or a == b for a, b in zip(mine, theirs, strict=True)):
            return True
        turned = (mine[0], mine[2], mine[1], mine[3])
        return (self.swapped or source.swapped) and turned == theirs

    def _parts(self) -> tuple[int | None, int | None, int | None, int | None]:
        return (self.year, self.month, self.day, self.weekday)


class Found(NamedTuple):
    """Where a date or a time of day stands, and its value: a `Day`, or seconds since midnight."""

    start: int
    end: int
    value: Day | int


def dates(text: str) -> Iterator[Found]:
    """Dates; a day of the week counts as one, and so does a month that is named alone."""
    taken: list[tuple[int, int]] = []
    for match in _DATE.finditer(text) if _HAS_DIGIT.search(text) else ():
        day = _day({k: v for k, v in match.groupdict().items() if v})
        if day is not None:
            taken.append(match.span())
            yield Found(*match.span(), day)
    for match in _ALONE.finditer(text):
        name = match.group().lower()
        month = None if name in _ALSO_WORDS else MONTH.get(name)
        weekday = WEEKDAY.get(name) or WEEKDAY.get(name.removesuffix("s"))
        if (month or weekday) and not any(a <= match.start() < b for a, b in taken):
            yield Found(*match.span(), Day(month=month, weekday=weekday))


def _day(parts: dict[str, str]) -> Day | None:
    if "sep" in parts:
        a, b, year = int(parts["a"]), int(parts["b"]), int(parts["y2"])
        day = Day(year, b, a, None, swapped=b <= 12 and a <= 12) if b <= 12 else Day(year, a, b)
    else:
        named = {k[0]: v for k, v in parts.items()}
        month = named["m"]
        day = Day(
            year=int(named["y"]) if "y" in named else None,
            month=MONTH[month.lower()] if month.lower() in MONTH else int(month),
            day=int(named["d"]) if "d" in named else None,
        )
    return day if 1 <= (day.month or 1) <= 12 and 1 <= (day.day or 1) <= 31 else None


def times(text: str) -> Iterator[Found]:
    """Times of day in order of place, as seconds since midnight; ``10:30 pm`` and ``22:30`` are one."""
    if not _HAS_DIGIT.search(text):
        return
    for match in _TIME.finditer(text):
        hour = int(match["h"] or match["h2"])
        half = (match["ap"] or match["ap2"] or "").lower()
        hour = hour % 12 + 12 * (half == "p") if half else hour
        yield Found(*match.span(), hour * 3600 + int(match["m"] or 0) * 60 + int(match["s"] or 0))
