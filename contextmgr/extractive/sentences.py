"""The sentences of a turn that are worth quoting: what was said, without code, tables, logs and secrets.

Law: a sentence is an exact stretch of one text block, at most `LONGEST` characters, can be sent, and holds no secret.
Where sentences end is told by Unicode punctuation, so it works for scripts with and without spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from contextmgr import jsontext
from contextmgr.sources.cleaning import cleaned, is_clean
from contextmgr.terms import terms
from contextmgr.turns import Turn, is_blank

LONGEST = 400
"""Characters of the longest sentence; longer ones are cut at clauses, else at blanks."""
READ = 60_000
"""Characters of one text block that are looked at: half of them from each end of a longer one."""

_FENCE = re.compile(r"\s*(```+|~~~+)")
_MARKER = re.compile(r"\s*(?:(?:[-*•‣·+]|\d{1,3}[.)]|[a-zA-Z][.)]|\[[ xX]\]|>|#{1,6})\s+)+|\s+")
_HEADING = re.compile(r"\s*#{1,6}\s")
_PASTED = re.compile(
    r"""\s*(?:
      @@|\+\+\+\s|---\s+\S+/|diff\ --|[$❯➜]\s|</?[A-Za-z][\w:-]*[^>]{0,200}>|<!--|\s{4,}at\s|at\s+\S+\s*\(|Traceback\b
      |File\ "|\[?\d{4}-\d\d-\d\d[T ]\d|\[?\d\d:\d\d:\d\d
      |(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|PASS|FAIL|ok|not\ ok)\b[\s:|\]]
      |\w[\w.-]*@[\w.-]+[:~]|\[[^\]]*\]\s*$|[=_*-]{4,}\s*$|\|.*\||[│┌└├╭╰─┃╔║⎿⏺⠀-⣿]|\d{1,6}\s*[→|│]|"[\w.-]+"\s*:|import\s+[\w{*"']|from\s+\S+\s+import\s
      |(?:def|class|func|fn|function|const|let|var|public|private|return|if|for|while|package|use|export)\b.*[{;:(]\s*$
    )""",
    re.VERBOSE,
)
_SIGNS = re.compile(r"[{}<>=|\\^~$;&]|\(\)|\);|::|//(?=\s)")
_SIGN_SHARE = 0.06  # of a line's characters: sentences about code stay below, code does not
_CODE_END = re.compile(r"[{;]\s*$|^\s*[})\]]+[,;]?\s*$")
_END = re.compile(r"[.!?…]+[\"')\]»”’*_`]*(?=\s+[^\sa-z])|[。！？｡؟۔।॥։።]+[」』”’）)\"]*")
_SHORT_FORM = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|\d{1,3}|Nr|No|Dr|Mr|Mrs|Ms|St|vs|etc|ca|bzw|vgl|approx|e\.g|i\.e|z\.\s?B)\.$"
)
_CLAUSE = re.compile(r"[;:,、，；：]\s*|\s+[–—-]\s+")
_BLANK = re.compile(r"\s+")
_IMITATION = re.compile(
    r"\W*(?:user|human|operator|system|benutzer|utilisateur|usuario|пользователь|用户|ユーザー)\W{0,3}[:：]", re.I
)
_LEAD_IN = re.compile(r"[:：]\**\s*$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the text block at ``block`` of turn ``turn``, from ``start`` on.

    ``place`` counts the turn's sentences from 0 and ``of`` is how many it has.  ``weak`` says that it tells little by
    itself: a heading, the opening of a list, or hardly a word.
    """

    turn: int
    block: int
    start: int
    text: str
    weak: bool
    place: int = 0
    of: int = 0


def sentences(turn: Turn) -> list[Sentence]:
    """The quotable sentences of a turn's text blocks, in order; thinking, calls and results are not looked at."""
    found = [s for i, block in enumerate(turn.blocks) if _is_text(block) for s in _of_block(turn, i)]
    return [Sentence(s.turn, s.block, s.start, s.text, s.weak, place, len(found)) for place, s in enumerate(found)]


def _is_text(block: dict[str, object]) -> bool:
    return block.get("type") == "text" and not is_blank(block)


def _of_block(turn: Turn, index: int) -> Iterator[Sentence]:
    text = str(turn.blocks[index]["text"])
    for begin, stop in _windows(text):
        clean = cleaned(text[begin:stop])
        whole = clean == text[begin:stop]
        for start, end, weak in _spans(text, begin, stop):
            piece = text[start:end]
            if turn.role == "assistant" and _IMITATION.match(piece):
                continue  # quoted alone, it would read as the user's own words
            # A line of a key may look harmless by itself: it must also be there after the whole was cleaned.
            if jsontext.is_sendable(piece) and (whole or (piece in clean and is_clean(piece))):
                yield Sentence(turn.number, index, start, piece, weak or len(terms(piece)) < 3)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of a text that are looked at, beginning and ending at lines."""
    half = READ // 2
    if len(text) <= READ:
        yield 0, len(text)
    else:
        yield 0, text.rfind("\n", 0, half) + 1 or half
        yield text.find("\n", len(text) - half) + 1 or len(text) - half, len(text)


def _spans(text: str, begin: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    for start, end, heading in _lines(text, begin, stop):
        for first, last in _split(text, start, end):
            piece = text[first:last]
            if any(c.isalnum() for c in piece):
                yield first, last, heading or _LEAD_IN.search(piece) is not None


def _lines(text: str, begin: int, stop: int) -> Iterator[tuple[int, int, bool]]:
    """Start, end and whether it is a heading, of every line that is language."""
    fence, start = "", begin
    for raw in text[begin:stop].splitlines(keepends=True):
        mark = _FENCE.match(raw)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        elif not fence and raw.strip() and not _is_pasted(raw):
            begun = _MARKER.match(raw)
            yield start + (begun.end() if begun else 0), start + len(raw.rstrip()), _HEADING.match(raw) is not None
        start += len(raw)


def _is_pasted(line: str) -> bool:
    if _PASTED.match(line) or _CODE_END.search(line):
        return True
    bare = line.strip()
    return len(bare) > 12 and len(_SIGNS.findall(bare)) > max(1, _SIGN_SHARE * len(bare))


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Sentences of a line, blanks around them left out, and long ones in clauses."""
    for stop in _END.finditer(text, start, end):
        if not _SHORT_FORM.search(text[max(start, stop.end() - 12) : stop.end()]):
            yield from _bounded(text, start, stop.end())
            start = stop.end()
    yield from _bounded(text, start, end)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    while end - start > LONGEST:
        half = start + LONGEST // 2
        stops = [[m.end() for m in stop.finditer(text, half, start + LONGEST)] for stop in (_CLAUSE, _BLANK)]
        cut = next((found[-1] for found in stops if found), start + LONGEST)
        last = start + len(text[start:cut].rstrip())
        if last > start:
            yield start, last
        start = cut
    if end > start:
        yield start, end
