"""The part of a turn that a query is about, in its original characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from contextmgr.errors import InputError
from contextmgr.ranking.analysis import Token
from contextmgr.ranking.analysis import tokens as read_tokens
from contextmgr.ranking.queries import Query

Count = Callable[[str], int]
"""Number of tokens of a text; must not fall when the text is continued."""

_BYTES_PER_TOKEN = 3
_BORDER = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_BLANK = re.compile(r"\s+")
_LEAD_SHARE = 0.25
_LONG_WORD = 30  # characters


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Characters ``start..end`` (end excluded) of a text of ``of`` characters, as they stand there."""

    text: str
    start: int
    end: int
    of: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.end - self.start == self.of


def estimate(text: str) -> int:
    """Tokens of a text, on the high side: a third of its UTF-8 bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)


def excerpt(
    text: str,
    query: Query,
    *,
    tokens: int,
    count: Count = estimate,
    weights: Mapping[str, float] | None = None,
) -> Excerpt:
    """The text itself if it has at most ``tokens``, else that part of it which holds most of the query.

    A part begins at a sentence or line where one begins near by; one without any match is the beginning.  ``weights``
    tell what a term is worth; all count alike otherwise.  Raises `InputError` for fewer than one token.
    """
    if tokens < 1:
        raise InputError(f"an excerpt needs room for at least 1 token, not {tokens!r}")
    if count(text) <= tokens:
        return Excerpt(text, 0, len(text), len(text))
    width = _width(text, tokens, count)
    wanted = set(query.terms) - query.requests or set(query.terms)
    found = [token for token in read_tokens(text) if token.term in wanted]
    first, last = _best_span(found, width, weights or {}) if found else (0, 0)
    start = _start(text, first, last, width)
    end = min(start + width, len(text))
    while end > start and count(text[start:end]) > tokens:
        less = -(-(end - start) // 10)
        if end - less < last and start + less <= first:  # what was found stands at the end
            start += less
        else:
            end -= less
    end = _before_word(text, start, end)
    return Excerpt(text[start:end], start, end, len(text))


def _width(text: str, tokens: int, count: Count) -> int:
    """Characters of this text that have about as many tokens as there is room for."""
    return max(len(text) * tokens // max(count(text), 1), 1)


def _start(text: str, first: int, last: int, width: int) -> int:
    """Where the part around ``first..last`` begins, moved back to the beginning of a sentence if one is near."""
    lead = min(int(width * _LEAD_SHARE), max(width - (last - first), 0))
    earliest = min(max(first - lead, 0), max(len(text) - width, 0))
    borders = [match.end() for match in _BORDER.finditer(text, earliest, first)]
    blank = _BLANK.search(text, earliest, first) if earliest else None
    return borders[0] if borders else blank.end() if blank is not None else earliest


def _before_word(text: str, start: int, end: int) -> int:
    """``end``, or the end of the word before if it would cut a word that is not too long."""
    if end == len(text) or not (text[end - 1 : end] + text[end : end + 1]).isalnum():
        return end
    shorter = max(map(text[:end].rfind, " \n"))
    return shorter if shorter > max(start, end - _LONG_WORD) else end


def _best_span(found: Sequence[Token], width: int, weights: Mapping[str, float]) -> tuple[int, int]:
    """First and last character of the matches within ``width`` that are worth most together, each term once."""
    inside: Counter[str] = Counter()
    best, span, left, worth = -1.0, (found[0].start, found[0].end), 0, 0.0
    for token in found:
        inside[token.term] += 1
        worth += weights.get(token.term, 1.0) if inside[token.term] == 1 else 0.0
        while token.end - found[left].start > width and found[left] is not token:
            gone = found[left].term
            inside[gone] -= 1
            worth -= weights.get(gone, 1.0) if not inside[gone] else 0.0
            left += 1
        while inside[found[left].term] > 1:  # said again nearer to the end
            inside[found[left].term] -= 1
            left += 1
        if worth > best + 1e-9:
            best, span = worth, (found[left].start, token.end)
    return span
