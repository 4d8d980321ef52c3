"""A text as what is compared: stems of its content words, its negations, and the borders between clauses.

Law: nothing here knows what is compared with what.  Words of any script are read: those of Chinese, Japanese, Korean
and Thai as pairs of characters.  English, German, French, Spanish and some others have their function words left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from contextmgr.checks.vocabulary import CONJUNCTIONS, DENYING, NEGATIONS, STOP

NOT = "\x00"
"""In a flow: a negation."""
BORDER = "\x01"
"""In a flow: the end of a clause."""
COMMA = "\x02"
"""In a flow: a comma, past which a negation may still reach."""

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W\d_]+)*|[.;:!?()\[\]{{}}|—–…。；：！？\n]|[,，、]")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_UNSPACED_NOT = re.compile(
    "不(?![过過同错錯仅僅但])|没|沒|别|勿|未|无法|無法|禁止|ない|ません|なかった|않|못|없|금지|마세요|마십시오|ไม่|ห้าม"
)
_HIRAGANA_PAIR = re.compile("[\u3040-\u309f]{2}|[的了是在]")
_ELISION = re.compile(r"^(n|l|d|qu|j|c|s|m|t)['’](?=\w{2})")
_REACH = 2
_REACH_BACK = 2


@dataclass(frozen=True, slots=True)
class Cue:
    """A negation with the content words around it: ``head`` is the word it denies, ``near`` those within reach."""

    word: str
    head: str
    near: frozenset[str]

    def matches(self, other: Cue) -> bool:
        """Whether both deny the same word, as far as the words around them tell."""
        return self.head in other.near or other.head in self.near


def plain(text: str) -> str:
    """A text for searching: compatibility forms unified, small letters, straight quotes, other dashes as ``-``."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_UNIFIED)
    return text.casefold()


_UNIFIED = str.maketrans(
    {**dict.fromkeys("“”„«»「」『』", '"'), **dict.fromkeys("’‘‚", "'"), **dict.fromkeys("‐‑–−", "-")}
)


def flow(text: str) -> list[str]:
    """Content stems in order, with `NOT` plus the word for negations, and `BORDER` and `COMMA` between clauses."""
    out: list[str] = []
    tokens = _TOKEN.findall(plain(text))
    for at, token in enumerate(tokens):
        if not token[0].isalnum():
            out.append(COMMA if token in ",，、" else BORDER)
        elif _IS_UNSPACED.match(token):
            out += _pairs(token)
        elif token in ("instead", "rather"):
            out += [NOT + token] if tokens[at + 1 : at + 2] in (["of"], ["than"]) else []
        else:
            out += _word(token)
    return out


def _pairs(run: str) -> Iterator[str]:
    """Pairs of characters; what stands between two negations is paired by itself."""
    start = 0
    for cue in _UNSPACED_NOT.finditer(run):
        yield from _bigrams(run[start : cue.start()])
        yield NOT + cue.group()
        start = cue.end()
    yield from _bigrams(run[start:])


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1 and not _HIRAGANA_PAIR.match(run * 2):
        yield run
    for a, b in zip(run, run[1:], strict=False):
        if not _HIRAGANA_PAIR.match(a + b):
            yield a + b


@lru_cache(maxsize=1 << 15)
def _word(token: str) -> tuple[str, ...]:
    elision = _ELISION.match(token)
    if elision is not None:
        rest = _word(token[elision.end() :])
        return (NOT + "ne", *rest) if elision.group(1) == "n" else rest
    if token in NEGATIONS or token.endswith(("n't", "n’t")):
        return (NOT + token,)
    if token in CONJUNCTIONS:
        return (BORDER,)
    token = token.split("'")[0].split("’")[0]
    root = stem(token)
    if token in DENYING:
        return (NOT + token,)
    return () if token in STOP or token[:1].isdigit() or (len(token) == 1 and token.isascii()) else (root,)


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """A rough stem of a word in small letters: endings of English and some of its neighbours cut off."""
    for ending, instead in (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("ly", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 2 + (ending == "ly"):
            root = word[: -len(ending)] + instead
            if len(root) == 2:
                return root + "e"
            doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
            return _bare(root[:-1] if doubled else root)
    return _bare(word)


def _bare(word: str) -> str:
    if word.endswith("ll") and len(word) > 5:
        return word[:-1]
    for ending, least in (("es", 4), ("s", 3), ("en", 5), ("er", 5), ("e", 3)):
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith(("ss", "us", "is")):
            return word[: -len(ending)].removesuffix("e") if least > 3 else word[: -len(ending)]
    return word


def content(tokens: list[str]) -> frozenset[str]:
    """The content stems of a flow."""
    return frozenset(t for t in tokens if t > "\x03")


def cues(tokens: list[str]) -> list[Cue]:
    """The negations of a flow, in order; neighbouring ones that deny the same word are one."""
    found: list[Cue] = []
    for at, token in enumerate(tokens):
        if token[0] == NOT:
            after = _reach(tokens[at + 1 :], _REACH)
            before = _reach(tokens[:at][::-1], _REACH_BACK) if tokens[at - 1 : at] != [COMMA] else []
            cue = Cue(token[1:], (after or before or [""])[0], frozenset(after + before))
            if not (found and found[-1].head == cue.head and tokens[at - 1][0] in (NOT, COMMA)):
                found.append(cue)
    return found


def affirmed(tokens: list[str]) -> frozenset[str]:
    """Content words of a flow that stand more than once, at least once out of reach of every negation."""
    near = {at + step for at, t in enumerate(tokens) if t[0] == NOT for step in range(-_REACH_BACK, _REACH + 2)}
    return frozenset(t for at, t in enumerate(tokens) if t > "\x03" and at not in near and tokens.count(t) > 1)


def _reach(tokens: list[str], most: int) -> list[str]:
    found: list[str] = []
    for token in tokens:
        if token == BORDER or len(found) == most or (token == COMMA and found):
            break
        if token > "\x03":
            found.append(token)
    return found
