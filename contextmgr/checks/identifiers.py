"""Names that have to be right to the letter: paths, addresses, code identifiers, ids, versions, flags.

Law: an identifier occurs in a text only as a whole: ``src/db.py`` is in ``/repo/src/db.py:12``, not in ``src/db.pyc``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from contextmgr.checks.numbers import UNIT
from contextmgr.checks.vocabulary import NEGATIONS, STOP

_SEGMENT = r"[\w@.+*{}$%~-]"
_NAME = re.compile(
    rf"""(?P<url>\bhttps?://[^\s<>"'`|]+|\bwww\.[^\s<>"'`|]+)
    |(?P<mail>[\w.+-]+@[\w-]+\.[\w.-]+)
    |(?P<path>(?<![\w/])(?:[A-Za-z]:\\|~|\.{{1,2}})?(?:[/\\]{_SEGMENT}+)+[/\\]?|[\w@.+-]+(?:[/\\]{_SEGMENT}+)+[/\\]?)
    |(?P<flag>(?<![\w-])--[A-Za-z][\w-]*)
    |(?P<mark>(?<![\w&])\#\d+\b|(?<!\w)@[A-Za-z][\w-]+|\$[A-Za-z_]\w+)
    |(?P<version>(?<![\w.])v?\d+(?:\.\d+){{2,}}(?:[-+][\w.]+)?(?!\w))
    |(?P<dotted>(?<!\w)\.?[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)+(?:\(\))?|(?<![\w.])\.[a-z][\w-]+\b)
    |(?P<word>[A-Za-z\d_](?:[\w]|-(?=[A-Za-z\d_]))*(?:\(\))?)""",
    re.VERBOSE,
)
_ABBREVIATION = re.compile(r"(?:e\.g|i\.e|z\.b|d\.h|p\.ex|a\.m|p\.m|u\.s)\.?$", re.IGNORECASE)
_NUMBER_WITH_UNIT = re.compile(r"\d+-?(?P<u>[a-z]+)")
_CODED = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]|\(\)$|(?=.*\d)(?=.*[A-Za-z])|^[A-Z][A-Z\d-]{2,}$")
_PLAIN_CHOICE = re.compile(r"[A-Za-z\u00c0-\u024f-]+/[A-Za-z\u00c0-\u024f-]+")
_DOTTED_DATE = re.compile(r"\d{1,2}\.\d{1,2}\.\d{4}|\d{4}\.\d{1,2}\.\d{1,2}")
_ENDING = ".,;:!?*_-"


class Name(NamedTuple):
    """Where an identifier stands and its text; ``plain`` is one made of ordinary words, as ``and/or`` or ``API``."""

    start: int
    end: int
    text: str
    plain: bool = False


def names(text: str) -> Iterator[Name]:
    """Identifiers in order of place."""
    for match in _NAME.finditer(text):
        found = match.group().rstrip(_ENDING if match.lastgroup not in ("word", "mark") else "-")
        if match.lastgroup in ("url", "path") and found.endswith(")") and "(" not in found:
            found = found.rstrip(")").rstrip(_ENDING)
        if found and _is_name(found, match.lastgroup or ""):
            plain = _PLAIN_CHOICE.fullmatch(found) is not None or (found.isalpha() and found.isupper())
            yield Name(match.start(), match.start() + len(found), found, plain)


def _is_name(text: str, kind: str) -> bool:
    if kind == "word":
        if not _CODED.search(text) or text.lower() in STOP | NEGATIONS:
            return False
        unit = _NUMBER_WITH_UNIT.fullmatch(text.lower())
        return unit is None or (unit["u"] not in UNIT and unit["u"] not in _SUFFIXES)
    if kind == "path":
        return any(c.isalpha() for c in text)
    if kind == "version":
        return not _DOTTED_DATE.fullmatch(text)
    return kind != "dotted" or not _ABBREVIATION.match(text)


_SUFFIXES = frozenset({"k", "m", "x", "st", "nd", "rd", "th", "million", "bn", "mio"})


def occurs(needle: str, text: str) -> bool:
    """Whether an identifier stands in a text as a whole; both as `contextmgr.checks.words.plain` gives them."""
    return next(places(needle, text), -1) >= 0


def places(needle: str, text: str) -> Iterator[int]:
    """Where an identifier stands as a whole."""
    needle = needle.removesuffix("()")
    at = text.find(needle) if needle else -1
    while at >= 0:
        if _is_free_before(text, at, needle) and _is_free_after(text, at + len(needle), needle):
            yield at
        at = text.find(needle, at + 1)


def _is_free_before(text: str, at: int, needle: str) -> bool:
    if at == 0 or (not needle[0].isalnum() and needle[0] not in "_-"):
        return True
    before = text[at - 1]
    if _is_word(before):
        return not before.isascii()
    return before not in "-." or at < 2 or not text[at - 2].isalnum() or (before == "." and not needle[0].isdigit())


def _is_free_after(text: str, end: int, needle: str) -> bool:
    if end >= len(text) or needle[-1] in "/\\":
        return True
    after = text[end]
    if _is_word(after):
        return not after.isascii()
    if after in "-." and end + 1 < len(text) and text[end + 1].isalnum():
        return after == "." and "." not in needle.rpartition("/")[2] and not needle[-1].isdigit()
    return True


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"
