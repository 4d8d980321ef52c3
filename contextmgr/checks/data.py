"""Looking things up in what tools were given and returned: long texts, searched by form and never split in full."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from contextmgr.checks.atoms import Atom
from contextmgr.checks.dates import Day
from contextmgr.checks.identifiers import occurs, places
from contextmgr.checks.numbers import Number, written
from contextmgr.checks.words import NOT, flow, plain

_REACH = 300
_MOST_LINES = 20
_MOST_PLACES = 200


def holds(text: str, atom: Atom, words: Iterable[str]) -> bool:
    """Whether data hold an atom; a number counts only on a line with one of the statement's words, if it has any."""
    if isinstance(atom.value, str):
        return occurs(atom.value, text)
    needed = list(words) if atom.kind == "number" else []
    lines = (line(text, at) for form in _forms(atom) for at in islice(places(form, text), _MOST_PLACES))
    return any(not needed or any(w in one for w in needed) for one in lines)


def denies(text: str, word: str) -> bool:
    """Whether a line of the data that has a word has a negation too."""
    return bool(word) and any(t[0] == NOT for one in _lines(text, word) for t in flow(one))


def line(text: str, at: int) -> str:
    """The line around a place, or the part of it within reach."""
    start = max(text.rfind("\n", 0, at) + 1, at - _REACH)
    end = text.find("\n", at)
    return text[start : min(end if end >= 0 else len(text), at + _REACH)]


def _lines(text: str, word: str) -> Iterator[str]:
    at, left = text.find(word), _MOST_LINES
    while at >= 0 and left:
        yield line(text, at)
        at, left = text.find(word, at + 1), left - 1


def _forms(atom: Atom) -> Iterator[str]:
    value = atom.value
    if isinstance(value, Number):
        yield from written(value)
        return
    yield plain(atom.text)
    if isinstance(value, int):
        yield f"{value // 3600:02d}:{value // 60 % 60:02d}"
    if isinstance(value, Day) and value.month and value.day:
        yield (f"{value.year}-" if value.year else "") + f"{value.month:02d}-{value.day:02d}"
