"""The parts of a text that are either right or wrong: identifiers, dates, times of day, numbers.

Law: each stretch of text belongs to one atom at most; identifiers come first, so digits inside of a name are no number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from contextmgr.checks.dates import STAMP, Day, dates, times
from contextmgr.checks.identifiers import names, occurs
from contextmgr.checks.numbers import Number, numbers
from contextmgr.checks.words import plain

_DIGITS = re.compile(r"\d{1,15}")
Class = Literal["identifier", "date", "time", "number"]


@dataclass(frozen=True, slots=True)
class Atom:
    """One of them: its class, its text, where it stands, and its value: a name as searched, a day, seconds, a number.

    ``loose`` is a name made of ordinary words.
    """

    kind: Class
    text: str
    start: int
    value: str | Day | int | Number
    loose: bool = False

    def agrees(self, source: Atom) -> bool:
        """Whether a source's atom says the same."""
        if self.kind != source.kind:
            return False
        mine, theirs = self.value, source.value
        if isinstance(mine, str) and isinstance(theirs, str):
            return mine == theirs or occurs(mine, theirs)
        if isinstance(mine, Day) and isinstance(theirs, Day):
            return mine.agrees(theirs)
        if isinstance(mine, Number) and isinstance(theirs, Number):
            return mine.agrees(theirs)
        return mine == theirs

    def is_in_name(self, others: Iterable[Atom]) -> bool:
        """Whether this is a number that stands inside of a name, as the 3 of ``v3``."""
        if not isinstance(self.value, Number):
            return False
        digits = (d for a in others if a.kind == "identifier" for d in _DIGITS.findall(a.text))
        return any(float(d) in self.value.values for d in digits)


def atoms(text: str) -> list[Atom]:
    """The atoms of a text, in order of place."""
    found: list[Atom] = []
    rest = STAMP.sub(lambda m: f"{m['date']} {m['time']}".ljust(len(m.group()), "\x00"), text)
    for name in names(rest):
        value = plain(name.text).removesuffix("()")
        found.append(Atom("identifier", name.text, name.start, value, name.plain))
        if not name.plain:
            rest = _blanked(rest, name.start, name.end)
    for day in dates(rest):
        found.append(Atom("date", text[day.start : day.end], day.start, day.value))
        rest = _blanked(rest, day.start, day.end)
    for time in times(rest):
        found.append(Atom("time", text[time.start : time.end], time.start, time.value))
        rest = _blanked(rest, time.start, time.end)
    found += [Atom("number", text[n.start : n.end].strip(), n.start, n) for n in numbers(rest)]
    return sorted(found, key=lambda a: a.start)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + "\x00" * (end - start) + text[end:]
