"""What a text is made of: counts of kinds of characters, of certain neighbours, and long runs of one character.

Everything is counted on the UTF-8 bytes mapped to one letter per kind, because ``bytes.count`` is the fastest
loop Python has: a page of text takes a fraction of what its tokenizer takes.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MIN_RUN = 8
"""Characters that make a run."""
MIN_BLANK_RUN = 64
"""Blanks that make a run: shorter ones are indentation, which every tokenizer packs."""

_RUN = re.compile(rf"([!-/:-~])\1{{{MIN_RUN - 1},}}| {{{MIN_BLANK_RUN},}}")
_BLANKS_PER_TOKEN = 16
_RULERS_PER_TOKEN = 12
_SIGNS_PER_TOKEN = 2
_RULERS = frozenset("-=_*#./")


class Characters(NamedTuple):
    """How often each kind of character, or pair of neighbours, occurs.

    Kinds, one per character: ``lower``, ``upper``, ``digit``, ``blank`` (space, tab), ``newline``,
    ``underscore``, ``sign`` (other ASCII), ``accented`` (Latin beyond ASCII), ``two_byte`` (Greek, Cyrillic,
    Hebrew, Arabic, ...), ``symbol`` (dashes, arrows, box drawing, ...), ``three_byte`` (CJK, Indic, Thai, ...),
    ``four_byte`` (emoji, rare CJK).  Pairs: ``humps`` (aB), ``capitals`` (AB), ``snakes`` (_a), ``screams`` (_A),
    ``glued`` (a sign before a small letter), ``signs`` (sign after sign), ``words`` (a blank before a small letter).
    """

    lower: int
    upper: int
    digit: int
    blank: int
    newline: int
    underscore: int
    sign: int
    accented: int
    two_byte: int
    symbol: int
    three_byte: int
    four_byte: int
    humps: int
    capitals: int
    snakes: int
    screams: int
    glued: int
    signs: int
    words: int


_PATTERNS = tuple(b"l|U|0| |n|_|p|a|y|s|x|e|lU|UU|_l|_U|pl|pp| l".split(b"|"))
_ASCII, _NO_OTHERS, _PAIRS = _PATTERNS[:7], (0,) * 5, _PATTERNS[12:]


def _kind(byte: int) -> str:
    char = chr(byte)
    if byte >= 0x80:
        return _lead_kind(byte)
    if char.isalpha():
        return "l" if char.islower() else "U"
    if char.isdigit():
        return "0"
    return {" ": " ", "\t": " ", "\n": "n", "\r": "n", "_": "_"}.get(char, "p")


def _lead_kind(byte: int) -> str:
    if byte < 0xC0:
        return "c"  # a later byte of a character: never counted
    if byte < 0xC8:
        return "a"
    if byte < 0xE0:
        return "y"
    if byte >= 0xF0:
        return "e"
    return "s" if byte == 0xE2 else "x"


_KINDS = "".join(map(_kind, range(256))).encode("ascii")


def characters(text: str) -> Characters:
    """Count the kinds of characters of ``text``; lone surrogates count as ``three_byte``."""
    kinds = text.encode("utf-8", "surrogatepass").translate(_KINDS)
    if text.isascii():  # most of a coding session: five kinds need not be looked for
        counts = [*map(kinds.count, _ASCII), *_NO_OTHERS, *map(kinds.count, _PAIRS)]
    else:
        counts = [*map(kinds.count, _PATTERNS)]
    return Characters(*counts)


def run_tokens(text: str) -> int:
    """Allowance in tokens for long runs of one character, which cl100k packs tighter than Claude does.

    Letters count one each, most signs two to a token, those that rulers are made of twelve, blanks sixteen.
    Digits, line ends and what is not ASCII are packed alike, or not at all.
    """
    if not _may_have_runs(text):
        return 0
    return sum(_run_cost(match.group()) for match in _RUN.finditer(text))


def _run_cost(run: str) -> int:
    if run[0].isalpha():
        return len(run)
    if run[0] == " ":
        return len(run) // _BLANKS_PER_TOKEN
    return len(run) // (_RULERS_PER_TOKEN if run[0] in _RULERS else _SIGNS_PER_TOKEN)


def _may_have_runs(text: str) -> bool:
    """A quick look: does any character repeat often enough?  XOR with a shifted copy turns repeats into zeros."""
    if " " * MIN_BLANK_RUN in text:
        return True
    data = text.replace("  ", " \t").encode("utf-8", "surrogatepass")
    number = int.from_bytes(data, "little")
    return bytes(MIN_RUN - 1) in (number ^ (number >> 8)).to_bytes(len(data), "little")
