"""From text to index terms, and back to the characters they were read from.

Laws: a text and its folded form have the same terms; every term has a place in the original text; nothing in a text is
grammar.  An identifier gives itself whole and its parts, so that ``ORD-4471`` is found by "4471" and as it stands.
Scripts written without spaces give pairs of neighbouring characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from contextmgr.ranking.folding import ACCENTS, fold
from contextmgr.ranking.stems import stem
from contextmgr.ranking.stopwords import ALWAYS

MAX_TERM = 64
"""Characters of the longest word that is indexed whole: longer ones are encoded data or rulers."""
MAX_COMPOUND = 256
"""Characters of the longest identifier that is read at all."""

_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f"  # Kana, Han, Hangul
    "\U00020000-\U0003ffff"
)
_LETTER = rf"[\w{ACCENTS}\u0900-\u0dff]"  # with the vowel signs that \w leaves out
_COMPOUND = re.compile(
    rf"[A-Za-z](?:\+\+|#)(?!\w)|{_LETTER}+(?:(?:::|[-./\\:@'’&+#‐‑－．／＼：＠＿＇＆＋＃]){_LETTER}+)*"
)
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}_＿]){_LETTER})+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_HUMP = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_HAS_HUMP = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,])")
_SIGNS = frozenset("`$@#\\/_")
_DECIMAL = re.compile(r"\d+\.\d+\Z")
_POSSESSIVE = re.compile(r"['’]s?\Z", re.IGNORECASE)


class Token(NamedTuple):
    """One term and the characters ``start..end`` (end excluded) of the text that it was read from."""

    term: str
    start: int
    end: int


def terms(text: str) -> list[str]:
    """Index terms of a text, in order, repeated as often as they occur; [] where there is nothing to match."""
    return [token.term for token in tokens(text)]


def tokens(text: str) -> Iterator[Token]:
    """Index terms with their places, in the order in which their words begin."""
    loud = text.isupper()
    for found in _COMPOUND.finditer(_joined_thousands(text)):
        word = found.group()
        if len(word) > MAX_COMPOUND:
            continue
        start, end = found.span()
        if word.isascii() and word.isalpha() and word.islower():
            term = _plain(word)
            if term or _touches_sign(text, start, end):
                yield Token(term or stem(word), start, end)
        else:
            marked = _touches_sign(text, start, end) or (not loud and len(word) > 1 and word.isupper())
            for term, a, b in _analysed(word, marked):
                yield Token(term, start + a, start + b)


def _joined_thousands(text: str) -> str:
    """The text with 1,000 as one number, of the same length; the mark becomes a letter that is dropped later."""
    if "," not in text:
        return text
    return _THOUSANDS.sub(lambda number: number.group().replace(",", "_"), text)


def _touches_sign(text: str, start: int, end: int) -> bool:
    """Whether a sign that identifiers are written with stands at a word: `` `it` ``, ``--all``, ``$this``."""
    before = text[start - 1 : start]
    return before in _SIGNS or text[max(start - 2, 0) : start] == "--" or text[end : end + 1] in {"`", "("}


@lru_cache(maxsize=1 << 16)
def _plain(word: str) -> str:
    """The term of a folded word; "" for a stop word, or one that is too long."""
    return "" if word in ALWAYS or len(word) > MAX_TERM else stem(word)


@lru_cache(maxsize=1 << 15)
def _analysed(word: str, marked: bool) -> tuple[Token, ...]:
    """Terms of one word or identifier, with places counted from its beginning.

    ``marked`` says that it stands as an identifier, so that it is kept even if it looks like a stop word.
    """
    if re.fullmatch(r"\d{1,3}(?:_\d{3})+", word):
        return (Token(word.replace("_", ""), 0, len(word)),)
    word = _POSSESSIVE.sub("", word)
    folded = fold(word)
    pieces = list(_WORD.finditer(word))
    if not marked and (folded in ALWAYS or _is_contraction(folded)):
        return ()
    if len(pieces) == 1 and not _HAS_HUMP.search(word):
        return tuple(_simple(word, pieces[0].start(), marked))
    found = [Token(folded.strip("_"), 0, len(word))] if _stands_whole(word, pieces) else []
    if not _DECIMAL.match(folded):
        found += [t for p in pieces for t in _parts(p.group(), p.start()) if found[:1] != [t]]
    return tuple(found)


def _is_contraction(folded: str) -> bool:
    """Whether this is don't, we'll, I've, d'un: function words run together."""
    first, mark, second = folded.replace("’", "'").partition("'")
    return bool(mark) and (first + second in ALWAYS or (first in ALWAYS and len(second) <= 2))


def _stands_whole(word: str, pieces: list[re.Match[str]]) -> bool:
    return bool(pieces) and len(word) <= MAX_TERM and not _IS_UNSPACED.search(word)


def _simple(word: str, start: int, marked: bool) -> Iterator[Token]:
    if _IS_UNSPACED.search(word):
        yield from _pairs(word, start)
        return
    folded = fold(word).strip("_")
    term = stem(folded) if marked and len(folded) <= MAX_TERM else _plain(folded)
    if term:
        yield Token(term, start, start + len(word))


def _pairs(run: str, start: int) -> Iterator[Token]:
    """Pairs of neighbours of a run of an unspaced script; a single character is its own term."""
    if len(run) == 1:
        yield Token(fold(run), start, start + 1)
    for place, pair in enumerate(pairwise(run), start):
        yield Token(fold("".join(pair)), place, place + 2)


def _parts(piece: str, start: int) -> Iterator[Token]:
    """The words in a part of an identifier, cut at its humps; single letters tell nothing."""
    if _IS_UNSPACED.search(piece):
        yield from _pairs(piece, start)
        return
    humps = list(_HUMP.finditer(piece)) if _HAS_HUMP.search(piece) and piece.isascii() else []
    if len(humps) > 1:
        yield Token(fold(piece), start, start + len(piece))
    for a, b in [h.span() for h in humps] or [(0, len(piece))]:
        term = _plain(fold(piece[a:b]))
        if len(term) > 1 or term.isdigit():
            yield Token(term, start + a, start + b)
