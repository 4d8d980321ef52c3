"""Days that are told from the day of speaking: "tomorrow", "in three weeks", "on Friday".

Laws: a day is reckoned here, never believed; what has two readings has both; what has no day ("next week", "soon") is
vague, and a lasting fact cannot hold it.  Days are written as in 2026-03-14, which no language reads otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import islice, product
from typing import NamedTuple

from contextmgr.checks.dates import WEEKDAY, Day, dates
from contextmgr.checks.numbers import WORD

MOST = 8
"""Readings of one text that are looked at."""

_COUNTS = {**WORD, **dict.fromkeys(("a", "an", "one", "ein", "eine", "einem", "einer", "un", "une", "una"), 1)}
_FIXED = {
    0: r"today|tonight|this (?:morning|afternoon|evening)|heute|aujourd['’]hui|ce soir|hoy|esta (?:noche|tarde)",
    1: r"tomorrow|(?<!am )(?<!jeden )(?<!guten )morgen(?!s)|demain|(?<!la )(?<!esta )(?<!pasado )mañana",
    2: r"(?:the )?day after tomorrow|übermorgen|après-demain|pasado mañana",
    -1: r"yesterday|last night|gestern|(?<!avant-)hier(?= )|(?<!avant-)hier$|ayer|anoche",
    -2: r"(?:the )?day before yesterday|vorgestern|avant-hier|anteayer|antier",
}
_DAYS = {step: re.compile(rf"(?<![\w-])(?:{words})(?!\w)", re.IGNORECASE) for step, words in _FIXED.items()}
_N = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))})"
_U = r"(?P<u>days?|weeks?|tag(?:en|e)?|wochen?|jours?|semaines?|días?|semanas?)"
_AHEAD = re.compile(
    rf"(?<!\w)(?:(?:in|dans|en)\s+{_N}\s+{_U}"
    rf"|{_N.replace('<n>', '<m>')}\s+{_U.replace('<u>', '<v>')}\s+from (?:now|today))(?!\w)",
    re.IGNORECASE,
)
_AGO = re.compile(
    rf"(?<!\w)(?:{_N}\s+{_U}\s+ago|(?:vor|il y a"
    rf"|hace)\s+{_N.replace('<n>', '<m>')}\s+{_U.replace('<u>', '<v>')})(?!\w)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"(?<!\w)(?:(?P<how>this(?: coming)?|coming|next|last|diese[nr]?|kommende[nr]?|nächste[nr]?|letzte[nr]?|ce"
    rf"|próximo|este)\s+)?"
    rf"(?P<day>{'|'.join(WEEKDAY)})(?:\s+(?P<after>prochain|dernier|próximo|pasado))?(?!\w)",
    re.IGNORECASE,
)
_EACH = re.compile(r"\b(?:every|each|most|jeden|jede|chaque|le|tous les|cada|todos los|los)\s+$", re.IGNORECASE)
_LATER = frozenset({"next", "nächste", "nächsten", "nächster", "prochain", "próximo"})
_EARLIER = frozenset({"last", "letzte", "letzten", "letzter", "dernier", "pasado"})
_VAGUE = re.compile(
    r"\b(?:(?:next|this|last|coming|following)\s+(?:week|month|quarter|year|weekend|spring|summer|autumn|fall"
    r"|winter|time)"
    r"|(?:later|earlier)\s+(?:this|today|that)|soon|recently|the other day|in (?:a few|a couple of|several|some) \w+"
    r"|(?:in|for)\s+(?:\w+\s+)?(?:months?|years?)(?:\s+(?:time|from now))?(?=[.,;!]|$)|\w+\s+(?:months?|years?)\s+ago"
    r"|(?:a few|a couple of|several|some)\s+\w+\s+ago|(?:nächste|diese|letzte|kommende)[rsnm]?\s+(?:woche|monat"
    r"|jahr|quartal)"
    r"|bald|demnächst|(?:la semaine|le mois|l['’]année)\s+(?:prochaine?|dernière?)|bientôt"
    r"|(?:la|el)\s+(?:próxim[oa]|semana que viene|mes que viene)|pronto)\b",
    re.IGNORECASE,
)


class Relative(NamedTuple):
    """Where such a day is told in a text, and the days it may mean."""

    start: int
    end: int
    days: tuple[date, ...]


def relatives(text: str, day: date) -> list[Relative]:
    """The days a text tells from ``day``, the day it was said on, in order of place."""
    found: list[Relative] = []
    for relative in _every(text, day):
        if not any(r.start < relative.end and relative.start < r.end for r in found):
            found.append(relative)
    return sorted(found)


def is_vague(text: str) -> bool:
    """Whether a text names a time that has no day."""
    return _VAGUE.search(text) is not None


def iso(text: str) -> str:
    """The text with every date that is told in full written as 2026-03-14, so that two texts can be compared."""
    for told in reversed(list(dates(text))):
        at = told.value
        if isinstance(at, Day) and at.year and at.month and at.day and not at.swapped and (day := _valid(at, at.year)):
            text = text[: told.start] + day.isoformat() + text[told.end :]
    return text


def readings(text: str, day: date) -> list[str]:
    """The text with its days written out, in every way it may be meant, at most `MOST`; itself where it has none.

    A date without a year is of the year it was said in, or of the next where it is past.
    """
    text = iso(text)
    found = sorted([*relatives(text, day), *_without_year(text, day)])
    ways = islice(product(*(r.days for r in found)), MOST)
    return [_written(text, found, days) for days in ways]


def dated(text: str, day: date) -> str | None:
    """The text with its days written out, or None where one is vague or has more than one reading."""
    found = relatives(text, day)
    if is_vague(text) or any(len(r.days) != 1 for r in found):
        return None
    return _written(text, found, [r.days[0] for r in found])


def _every(text: str, day: date) -> Iterator[Relative]:
    for step in sorted(_DAYS, key=abs, reverse=True):  # "day after tomorrow" before the "tomorrow" in it
        yield from (Relative(*m.span(), (day + timedelta(step),)) for m in _DAYS[step].finditer(text))
    for pattern, sign in ((_AHEAD, 1), (_AGO, -1)):
        for match in pattern.finditer(text):
            span = _days(match["n"] or match["m"], match["u"] or match["v"])
            yield Relative(*match.span(), (day + timedelta(sign * span),))
    told = [(d.start, d.end) for d in dates(text) if isinstance(d.value, Day) and d.value.day is not None]
    for match in _WEEKDAY.finditer(text):
        near = any(a - 3 <= match.end() <= b + 4 or a <= match.start() <= b + 4 for a, b in told)
        if not near and not _EACH.search(text[: match.start()]):
            yield Relative(*match.span(), _weekdays(match, day))


def _without_year(text: str, day: date) -> Iterator[Relative]:
    for told in dates(text):
        at = told.value
        if isinstance(at, Day) and at.year is None and at.month and at.day:
            near = [_valid(at, day.year), _valid(at, day.year + 1)]
            days = tuple(d for d in near if d is not None)
            if days:
                yield Relative(told.start, told.end, days[:1] if days[0] >= day else days)


def _valid(at: Day, year: int) -> date | None:
    try:
        return date(year, at.month or 0, at.day or 0)
    except ValueError:
        return None


def _days(count: str, unit: str) -> int:
    number = int(count) if count.isdigit() else _COUNTS[count.lower()]
    return number * (7 if unit.lower().startswith(("w", "s")) else 1)


def _weekdays(match: re.Match[str], day: date) -> tuple[date, ...]:
    how = (match["how"] or match["after"] or "").lower()
    ahead = (WEEKDAY[match["day"].lower()] - day.isoweekday()) % 7
    if how in _EARLIER:
        return (day - timedelta((7 - ahead) % 7 or 7),)
    first = day + timedelta(ahead or 7)
    if how in _LATER:
        return (first, first + timedelta(7))
    return (first,) if ahead else (day, first)


def _written(text: str, found: Sequence[Relative], days: Sequence[date]) -> str:
    for relative, day in reversed(list(zip(found, days, strict=True))):
        text = text[: relative.start] + day.isoformat() + text[relative.end :]
    return text
