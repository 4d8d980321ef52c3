"""What of a user turn are the user's own words, said now: the only thing facts are taken from.

Laws: nothing that we put into a request, that recall brought back, or that is quoted from the assistant, a tool or a
pasted transcript counts as said again; what is left is exact stretches of the turn.  In doubt it is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from contextmgr.checks.sentences import spans
from contextmgr.checks.sources import squeezed
from contextmgr.turns import Turn

SEAM = "\n[…]\n"
"""Stands where something was left out."""
SAID_WORDS = 8
"""Words from which a sentence that the assistant said before, word for word, is a quotation of it."""
DATA_WORDS = 4
"""The same for what tools returned: recall among them."""
_UNSPACED_WORD = 2.5  # characters that count as a word where there are no blanks between words
_READ = 200_000  # characters of one turn that are remembered

_BEFORE = r"[\s*_`#\u200b-\u200f\ufeff-]*"  # marks that copying from a rendered page leaves before a line
_LABEL = re.compile(
    _BEFORE
    + r"\[(?:Earlier in this conversation|State kept beside|State changed;|Note changed;|Note taken away|Notes of the"
    r"|Summary of turns|The \w+ that follows answers|Out of view:|Output of|Late result of|Interrupted:|Kept by the"
    r"|Notice: the|The request in hand|Here stood:|In turn \d+ the|The conversation begins|… [\d,.]+ of"
    r"|turn \d+, (?:user|assistant|tool)\]|\d+ more, changed|\w+ left out here; stored)",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(_BEFORE + r"\[(?:Task document|Pinned \w+,)")
_LINE = re.compile(
    r"""\s*(?:
      >|\|                                                           # quotations, tables, our notes
      |(?:user|assistant|tool|operator),\ turn\ \d+:                 # evidence
      |-\ turn\ [\d,\ -]+,\ [a-z ]+:\ "                              # summaries
      |-\ .+\((?:user|operator|assistant)(?:,\ turn\ \d+)?(?:,\ in\ conversation\ .+)?\)\s*$     # the state
      |(?:user|human|assistant|claude|system|operator|tool|bot|agent|ai)\s{0,2}:   # a transcript
      |</?[A-Za-z][\w-]*[^>]*>
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_DECODER = json.JSONDecoder()
_NOT_BREAK = re.compile(r"[^\n]")
_JSON = re.compile(r"[{\[](?=\s*[\[{\"\]}])")
_QUOTED = re.compile(r"\"[^\"\n]{3,}\"|“[^”\n]{3,}”|«[^»\n]{3,}»|„[^“”\n]{3,}[“”]|「[^」\n]{3,}」|`[^`\n]{3,}`")


@dataclass(frozen=True, slots=True)
class OwnWords:
    """The stretches of a user turn that are the user's own, in order, each an exact piece of its text."""

    parts: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """All of them, with `SEAM` where something is missing."""
        return SEAM.join(self.parts)

    def around(self, quote: str) -> str | None:
        """The whole sentences around an exact quote, or None where it is not there, or only inside quotation marks.

        A negation must not be lost by quoting less than it reaches.
        """
        for part in self.parts:
            at = part.find(quote)
            while at >= 0:
                end = at + len(quote)
                if not any(m.start() < at and end < m.end() for m in _QUOTED.finditer(part)):
                    return _whole(part, at, end)
                at = part.find(quote, at + 1)
        return None

    def beside(self, quote: str) -> tuple[str, str]:
        """The sentences right before and right after whole sentences, "" where there is none."""
        for part in self.parts:
            at = part.find(quote)
            if at >= 0:
                told = [(a, b) for a, b in spans(part)]
                before = [part[a:b] for a, b in told if b <= at]
                after = [part[a:b] for a, b in told if a >= at + len(quote)]
                return ("".join(before[-1:]), "".join(after[:1]))
        return ("", "")

    def sentences(self) -> Iterator[str]:
        """The sentences, in order."""
        for part in self.parts:
            yield from (part[a:b] for a, b in spans(part))


class Heard:
    """What the assistant and the tools said so far: repeated word for word it is nobody's new knowledge."""

    def __init__(self) -> None:
        self._said: list[str] = []
        self._data: list[str] = []

    def add(self, turn: Turn) -> None:
        """Remember an assistant turn with its results; user turns are left out."""
        if turn.role != "assistant":
            return
        self._said.append(squeezed(turn.text[:_READ]))
        for value in [*(b.get("input") for b in turn.calls), *(r.body.get("content") for r in turn.results)]:
            text = "\n".join(_strings(value))[:_READ]
            if text.strip():
                self._data.append(squeezed(text))

    def holds(self, sentence: str) -> bool:
        """Whether a sentence repeats one of them."""
        words = _length(sentence)
        if words < DATA_WORDS:
            return False
        sought = squeezed(sentence).strip(" .,;:!?…\"'-")
        if any(sought in text for text in self._data):
            return True
        return words >= SAID_WORDS and any(sought in text for text in self._said)


def own_words(turn: Turn, heard: Heard) -> OwnWords:
    """What a user turn says itself, after what was ``heard`` before it."""
    parts: list[str] = []
    for block in turn.blocks:
        if block.get("type") == "text":
            text = str(block["text"])
            parts += _parts(text, [*_own_lines(text)], heard)
    return OwnWords(tuple(parts))


def _own_lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line that nobody else made; those of one paragraph are joined if nothing lies between."""
    text = _without_json(text)
    at, framed, fenced = 0, False, False
    begin = -1
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        if _DOCUMENT.match(line):
            break  # a document may hold anything, blank lines included
        fence = _FENCE.match(line) is not None
        framed = (framed and bool(line.strip())) or _LABEL.match(line) is not None
        theirs = fenced or fence or framed or _LINE.match(line) is not None or "\x00" in line
        fenced = fenced != fence
        if theirs and begin >= 0:
            yield begin, start
            begin = -1
        elif not theirs and begin < 0:
            begin = start
    else:
        start = at
    if begin >= 0:
        yield begin, start


def _without_json(text: str) -> str:
    """The text with NUL in place of every JSON object or array, to the end of the line where one is cut off."""
    pieces, done = [], 0
    while (found := _JSON.search(text, done)) is not None:
        start = found.start()
        try:
            _, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            line = text.find("\n", start)
            end = line if line >= 0 else len(text)
        pieces += [text[done:start], _NOT_BREAK.sub("\x00", text[start:end])]
        done = max(end, found.end())
    return "".join([*pieces, text[done:]])


def _parts(text: str, lines: list[tuple[int, int]], heard: Heard) -> Iterator[str]:
    for start, end in lines:
        begin = start
        for a, b in spans(text[start:end]):
            if heard.holds(text[start + a : start + b]):
                yield from _told(text[begin : start + a])
                begin = start + b
        yield from _told(text[begin:end])


def _told(part: str) -> Iterator[str]:
    if any(c.isalnum() for c in part):
        yield part.strip()


def _whole(part: str, at: int, end: int) -> str | None:
    touched = [(a, b) for a, b in spans(part) if a < end and at < b]
    return part[touched[0][0] : touched[-1][1]] if touched else None


def _length(text: str) -> int:
    """Words of a text, however it is written."""
    words = text.split()
    return max(len(words), 0 if text.isascii() else int(sum(map(_is_unspaced, text)) / _UNSPACED_WORD))


def _is_unspaced(char: str) -> bool:
    return "\u0e00" <= char <= "\u0e7f" or "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\ud7af"


def _strings(value: Any) -> Iterator[str]:
    """The texts in a call's arguments or a result; JSON in a text is read."""
    if isinstance(value, str):
        inner = _read(value)
        if inner is None:
            yield value
        else:
            yield from _strings(inner)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _strings(part)


def _read(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
