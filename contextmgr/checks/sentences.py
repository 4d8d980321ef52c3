"""Sentences of a text, each an exact stretch of it, with what is compared computed once.

Law: ``text[s.start : s.start + len(s.text)] == s.text``.  A line that only wraps goes on in the next one; list marks
and quote marks at the start of a line are no part of a sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from contextmgr.checks.atoms import Atom, atoms
from contextmgr.checks.dates import MONTH
from contextmgr.checks.polarity import Cue, affirmed, cues
from contextmgr.checks.words import content, flow, plain

MAX_SENTENCE = 600
"""Characters: longer stretches without an end are cut at a blank."""
MAX_WORDLESS = 2_000
"""Characters: a longer stretch without a blank holds no sentence."""

_MARK = re.compile(r"\s*(?:(?:[-*•>+]|#{1,6}|\d{1,3}[.)]|\[[ xX]\])\s+)*(?:\*\*|__)?")
_END = re.compile(r"(?:(?<![.!?…])[.!?…]++(?:\*\*|__)?[\"'”’)\]]*(?=\s)|[。！？]+[」』”]?)\s*")
_SHORT_FORM = re.compile(
    r"(?:\b(?:e\.g|i\.e|vs|cf|approx|etc|z\.B|d\.h|p\.ex|ej|pp|No|Nr|St|Dr|Mr|Ms)|(?<!\w)(?:\d{1,2}|[A-HJ-Z]))\.$"
)
_SHORT_FORM_REACH = 12
_MONTH = re.compile(rf"\s*(?:{'|'.join(MONTH)})\b", re.IGNORECASE)
_BLOCK = re.compile(r"\s*(?:[-*•>+|#]|\d{1,3}[.)]\s|```|~~~|\[|<|$)")
_STOPS = frozenset(".!?…:;。！？：|`>})]")
_QUOTED = re.compile(
    r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»|„[^“”\n]{1,400}[“”]|「[^」\n]{1,400}」|`[^`\n]{1,200}`"
)


_REQUEST = re.compile(
    r"\b(?:(?:can|could|would|will|should(?:n['’]t)?|can['’]t) (?:you|we)|please|let['’]?s|how about|what about|why not"
    r"|(?:kannst|könntest|könnten|können|sollen|sollten) (?:du|sie|wir)|bitte"
    r"|(?:peux|peut|pouvez|pourriez|pourrais)[- ](?:tu|on|vous)|s['’]il (?:te|vous) plaît"
    r"|puedes|podrías|podemos|por favor)\b"
    r"|请|請|ください|くれ|주세요|줄래",
    re.IGNORECASE,
)


class Sentence:
    """One sentence: ``text`` as said, ``start`` its place in the turn's words, ``number`` its place among them."""

    def __init__(self, text: str, start: int, number: int) -> None:
        self.text = text
        self.start = start
        self.number = number
        self._flow = flow(text)
        self.bag = content(self._flow)

    @cached_property
    def plain(self) -> str:
        """The text as searched."""
        return plain(self.text)

    @cached_property
    def cues(self) -> Sequence[Cue]:
        """Its negations."""
        return cues(self._flow)

    @cached_property
    def affirmed(self) -> frozenset[str]:
        """Words that it says with a negation perhaps, but also without."""
        return affirmed(self._flow)

    @cached_property
    def atoms(self) -> Sequence[Atom]:
        """Its numbers, dates, identifiers."""
        return atoms(self.text)

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.text.rstrip("\"'”’)]*_ ").endswith(("?", "？"))

    @property
    def is_request(self) -> bool:
        """Whether it asks somebody to do something, in the form of a question or not."""
        return _REQUEST.search(self.text) is not None


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text, in order."""
    return [Sentence(text[a:b], a, n) for n, (a, b) in enumerate(spans(text))]


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every sentence; ends inside a pair of quotes are not the end of one."""
    for start, end in _paragraphs(text):
        mark = _MARK.match(text, start, end)
        start = mark.end() if mark is not None else start
        quoted = [m.span() for m in _QUOTED.finditer(text, start, end)]
        begins = [a for a, _ in quoted]
        for stop in _END.finditer(text, start, end):
            before = bisect_left(begins, stop.start())
            inside = before > 0 and stop.start() < quoted[before - 1][1] - 1
            if not inside and stop.end() > start and not _is_short_form(text, start, stop):
                yield from _cut(text, start, stop.end())
                start = stop.end()
        yield from _cut(text, start, end)


def _is_short_form(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether a full stop ends an abbreviation, or a number that is the day of a date (``17. August``)."""
    found = _SHORT_FORM.search(text, max(start, stop.start() - _SHORT_FORM_REACH), stop.start() + 1)
    return found is not None and (not found.group().strip(" .").isdigit() or _MONTH.match(text, stop.end()) is not None)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Lines, those that only wrap joined with the next."""
    begin = at = 0
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        at += len(line)
        following = lines[i + 1] if i + 1 < len(lines) else ""
        if not _wraps(line, following) or at - begin > MAX_SENTENCE:
            yield begin, at
            begin = at


def _wraps(line: str, following: str) -> bool:
    if len(line) < 40 or _BLOCK.match(following) or line.rstrip("\"'”’*_ \r\n")[-1:] in _STOPS:
        return False
    return following[0].islower() and not line.startswith((" ", "\t"))


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The stretch without blanks around it, in pieces no longer than a sentence may be."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + MAX_SENTENCE // 2, start + MAX_SENTENCE)
        if cut < 0 and text.find(" ", start, end) < 0 and end - start > MAX_WORDLESS:
            return
        cut = cut if cut > 0 else start + MAX_SENTENCE
        yield start, cut
        start = cut + (text[cut] == " ")
    if any(c.isalnum() for c in text[start:end]):
        yield start, end


def quotes(text: str) -> list[str]:
    """What stands between quotation marks or backticks, without them, in order."""
    return [m.group()[1:-1].strip() for m in _QUOTED.finditer(text) if m.group()[1:-1].strip()]
