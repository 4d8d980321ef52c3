"""Words of a text as compared with other texts, and its facts: the paths, numbers and identifiers in it.

No list of stop words and no stemmer, so every language is treated alike: how rare a word is among the texts at hand
tells what it is worth.  Scripts written without spaces give pairs of neighbouring characters.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

MAX_TERM = 40
"""Characters of the longest word that is compared: longer ones are encoded data or rulers."""

_UNSPACED = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"  # Kana, Han, Hangul
)
_TERM = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W_{_UNSPACED}]+)?")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")

_CANDIDATE = re.compile(rf"[^\s`\"'“”‘’«»,;(){{}}\[\]<>|=*、，。；：（）「」！？{_UNSPACED}]+")
_TRIMMED = ".,:;!?-–—…&#@~^"
_TELLING = re.compile(
    r"\d"  # 42, v1.2, 0x5fe1, ORD-4471
    r"|[^\W\d_][./\\_][^\W\d_]"  # a.py, src/x, snake_case
    r"|[/\\][^\W\d_]|^--?[a-z]"  # /etc, --flag
    r"|[a-z][A-Z]"  # camelCase
    r"|^[A-Z]{3,}$"  # HTTP
)


def terms(text: str) -> list[str]:
    """Words of a text in order, case and compatibility forms folded; identifiers give their parts."""
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return [term for word in _TERM.findall(folded) for term in _split(word)]


def facts(text: str) -> frozenset[str]:
    """Paths, numbers and identifiers, as they stand: what must not be lost or changed when text is shortened."""
    return frozenset(_facts(text))


def _split(word: str) -> Iterator[str]:
    if not _IS_UNSPACED.match(word):
        if len(word) <= MAX_TERM:
            yield word
    elif len(word) == 1:
        yield word
    else:
        yield from map("".join, itertools.pairwise(word))


def _facts(text: str) -> Iterator[str]:
    for found in _CANDIDATE.findall(text):
        fact = found.strip(_TRIMMED) if not found.startswith("-") else found.rstrip(_TRIMMED)
        if len(fact) <= 200 and _TELLING.search(fact):
            yield fact
