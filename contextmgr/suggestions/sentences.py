"""What somebody typed, in sentences and list items, without what they pasted: code, logs, quotes, diffs.

Law: a unit is an exact stretch of its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^\s*(```|~~~)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|[a-zA-Z][.)])\s+")
_PASTED = re.compile(
    r"^\s*(?:>|//|\+\s|@@|[$#%❯➜]\s|</?[a-z][\w-]*[ >/]|at\s+\S+\s*\(|Traceback|File \"|\[[\w .:-]+\]"
    r"|\d{4}-\d\d-\d\d[T ]\d|(?:\w*Error|Exception|fatal|error|warning|Caused by)\b[^.]{0,40}:|\w[\w.-]*@[\w.-]+[:~]"
    r"|={3,}|-{4,}|\|.*\||[│┌└├╭╰─⠀-⣿])"
)
_NOT_WORDS = re.compile(r"[^\w\s.,;:!?'\"’()-]|_|\d")
_END = re.compile(r"(?:[.!?…]+[\"')\]]*\s+|[。！？]+\s*)")
# Where a statement goes over into a question: "I prefer X, can you ...?"
_ASKING = re.compile(
    r"(?:,|;| -| and| but| so)\s+(?=(?:(?:so|and|but) )?(?:can|could|would|should|do|does|is|are|how|what|why|which) "
    r"(?:you|i|we|it|this|that|there|should|can|do|would|are|is)\b[^.!]*\?\s*$)",
    re.IGNORECASE,
)
_SHORT_FORM = re.compile(r"(?:\b(?:e\.g|i\.e|vs|cf|approx|z\.B|d\.h|p\.ex|ej|pp)|^\s*\d{1,2}|(?:^|\s)[A-HJ-Z])\.\s*$")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+.*|[^.!?]{2,70}:\s*)$")


class Unit(NamedTuple):
    """A sentence or list item: where it stands in the text, its words, and the heading it stands under.

    Of a list with the sentence that opens it, ``text`` is that sentence: it says what the items are.
    """

    start: int
    end: int
    text: str
    heading: str = ""


class _Line(NamedTuple):
    start: int
    text: str


def units(text: str) -> Iterator[Unit]:
    """Sentences and list items in order; a sentence that opens a list is one unit with its items."""
    heading = ""
    lines = list(_lines(text))
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if not line.text.strip():
            continue
        items = [] if _BULLET.match(line.text) else _items(lines, at)
        if items:
            last = lines[items[-1]]
            yield Unit(line.start, last.start + len(last.text.rstrip()), line.text.strip(), heading)
            heading = line.text.strip()
        elif _HEADING.match(line.text) and not _BULLET.match(line.text):
            heading = line.text.strip()
        yield from _sentences(text, line, heading if heading != line.text.strip() else "")


def _items(lines: list[_Line], at: int) -> list[int]:
    """Indices of the list items that follow directly."""
    found = []
    while at < len(lines) and _BULLET.match(lines[at].text):
        found.append(at)
        at += 1
    return found


def _lines(text: str) -> Iterator[_Line]:
    """Lines that were typed; pasted ones are left out, and so is everything in a fence."""
    fenced, start = False, 0
    for raw in text.splitlines(keepends=True):
        if _FENCE.match(raw):
            fenced = not fenced
        elif not fenced and not _is_pasted(raw):
            yield _Line(start, raw.rstrip("\r\n"))
        start += len(raw)


def _is_pasted(line: str) -> bool:
    if _PASTED.match(line):
        return True
    bare = line.strip()
    return len(bare) > 20 and len(_NOT_WORDS.findall(bare)) > 0.2 * len(bare)


def _sentences(text: str, line: _Line, heading: str) -> Iterator[Unit]:
    bullet = _BULLET.match(line.text)
    start = line.start + (bullet.end() if bullet else 0)
    end = line.start + len(line.text)
    for stop in _END.finditer(text, start, end):
        if not _SHORT_FORM.search(text, start, stop.end()):
            yield from _clauses(text, start, stop.end(), heading)
            start = stop.end()
    if text[start:end].strip():
        yield from _clauses(text, start, end, heading)


def _clauses(text: str, start: int, end: int, heading: str) -> Iterator[Unit]:
    """A sentence, or the statement and the question it is made of."""
    turn = _ASKING.search(text[start:end])
    if turn is not None:
        yield _unit(text, start, start + turn.start(), heading)
        start += turn.end()
    yield _unit(text, start, end, heading)


def _unit(text: str, start: int, end: int, heading: str) -> Unit:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return Unit(start, start + len(piece.strip()), piece.strip(), heading)
