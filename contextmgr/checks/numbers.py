"""Numbers in a text with their units, and the forms in which one number may be written.

Law: ``1,234``, ``1234`` and ``1.234`` may be one number; ``2`` and "two" are; 30 seconds and 30 minutes are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_UNITS = {
    "s": "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒",
    "ms": "ms millisecond milliseconds millisekunden",
    "min": "min mins minute minutes minuten minuto minutos 分 分钟",
    "h": "h hr hrs hour hours stunde stunden heure heures hora horas 小时 時間",
    "d": "day days tag tage tagen jour jours día días 天",
    "w": "week weeks woche wochen semaine semaines semana semanas",
    "mo": "month months monat monate monaten mois mes meses",
    "y": "year years yr yrs jahr jahre jahren an ans année años año",
    "%": "% percent pct prozent pourcent",
    "b": "byte bytes",
    "kb": "kb kib kilobyte kilobytes",
    "mb": "mb mib megabyte megabytes",
    "gb": "gb gib gigabyte gigabytes",
    "tb": "tb tib",
    "px": "px pixel pixels",
    "usd": "$ usd dollar dollars",
    "eur": "€ eur euro euros",
    "gbp": "£ gbp",
    "tok": "token tokens",
}
UNIT = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_FACTORS = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "mio": 1e6, "bn": 1e9, "billion": 1e9}
_WORDS = (
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five fünf cinq cinco",
    "six sechs seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve zwölf douze doce",
)
WORD = {word: n for n, words in enumerate(_WORDS, 2) for word in words.split()} | {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "hundred": 100,
}
_AMBIGUOUS = frozenset({"once", "sept", "six"})
_NUMBER = re.compile(
    r"(?P<sign>[$€£]\s?)?(?<![A-Za-z_\d\u00c0-\u024f])(?<!\d[.,:])(?P<n>\d+(?:[.,'\u202f\u2009]\d{3}(?!\d))*(?:[.,]\d+)?)"
    r"(?P<u>\s?%|\s?[€$£]|[-\s]?(?:[A-Za-z\u00c0-\u024f]{1,13}|[分秒天小時时][钟間时]?))?"
)
_WORD = re.compile(rf"\b(?P<w>{'|'.join(WORD)})\b(?:[-\s](?P<u>[a-z]+))?", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:[.,'\u202f\u2009]\d{3})+")


class Number(NamedTuple):
    """Where a number stands, the values it may mean, and its unit if it has one that is known."""

    start: int
    end: int
    values: frozenset[float]
    unit: str | None

    def agrees(self, source: Number) -> bool:
        """Whether both may be one number: a value in common, and no different units."""
        return not self.values.isdisjoint(source.values) and (
            self.unit == source.unit or self.unit is None or source.unit is None
        )


def numbers(text: str) -> Iterator[Number]:
    """Numbers in digits, and from two to twelve (and some more) in words; digits inside of names are not numbers."""
    for match in _NUMBER.finditer(text):
        found = _number(match)
        if found is not None:
            yield found
    for match in _WORD.finditer(text):
        word = match["w"].lower()
        unit = UNIT.get((match["u"] or "").lower())
        if word not in _AMBIGUOUS or unit is not None:
            yield Number(*match.span("w"), frozenset({float(WORD[word])}), unit)


def _number(match: re.Match[str]) -> Number | None:
    tail = match["u"] or ""
    name = tail.strip(" -\t\n").lower()
    attached = tail and tail[0].isalpha()
    factor = _FACTORS.get(name, 1.0) if attached or len(name) > 1 else 1.0
    unit = UNIT.get((match["sign"] or "").strip()) or UNIT.get(name)
    if attached and factor == 1.0 and unit is None and name not in ("x", "st", "nd", "rd", "th", "er", "e"):
        return None
    values = frozenset(round(v * f, 9) for v in readings(match["n"]) for f in {factor, 1.0 if name == "m" else factor})
    end = match.end() if attached or unit is not None else match.end("n")
    return Number(match.start(), end, values, unit)


def readings(digits: str) -> list[float]:
    """The values a written number may have: ``1.234`` may be one thousand or one and a bit."""
    found = []
    if _GROUPED.fullmatch(digits):
        found.append(float(re.sub(r"[.,'\u202f\u2009]", "", digits)))
    whole = re.sub("['\u202f\u2009]", "", digits)
    last = max(whole.rfind("."), whole.rfind(","))
    if last < 0:
        found.append(float(whole))
    elif whole[last] not in whole[:last]:
        found.append(float(re.sub(r"[.,]", "", whole[:last]) + "." + whole[last + 1 :]))
    return found or [float(re.sub(r"\D", "", digits))]


def written(number: Number) -> tuple[str, ...]:
    """The ways a value is written in tool output: plain, with groups, and as a decimal."""
    forms: dict[str, None] = {}
    for value in sorted(number.values):
        if value == int(value):
            plain = str(int(value))
            grouped = f"{int(value):,}"
            forms |= dict.fromkeys((plain, grouped, grouped.replace(",", "."), plain + ".0", plain + ".00"))
        else:
            plain = f"{value:.9f}".rstrip("0")
            forms |= dict.fromkeys((plain, plain.replace(".", ","), f"{value:.2f}"))
    return tuple(forms)
