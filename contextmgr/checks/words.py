"""A text as what is compared: stems of its content words in order, its negations, and the borders between clauses.

Law: nothing here knows what is compared with what.  Words of any script are read: those of Chinese, Japanese, Korean
and Thai as pairs of characters.  English, German, French, Spanish and some others have their function words left out.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from contextmgr.checks.stems import stem
from contextmgr.checks.vocabulary import CONJUNCTIONS, DENYING, NEGATIONS, STOP

NOT = "\x00"
"""In a flow: a negation."""
BORDER = "\x01"
"""In a flow: the end of a clause."""
COMMA = "\x02"
"""In a flow: a comma, past which a negation may still reach."""
_SIGNS = "\x03"

_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+(?:['’][^\W\d_]+)*|[.;:!?()\[\]{{}}|—–…。；：！？\n]|[,，、]")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_UNSPACED_NOT = re.compile(
    "不(?![过過同错錯仅僅但])|没|沒|别|勿|未|无法|無法|禁止|ない|ません|なかった|않|못|없|금지|마세요|마십시오|말라|말아|말도록|마라|ไม่|ห้าม"
)
_HIRAGANA_PAIR = re.compile("[\u3040-\u309f]{2}|[的了是在]")
_ELISION = re.compile(r"^(?:n|l|d|qu|j|c|s|m|t)['’](?=\w{2})")
_PAIRED = {"instead": ["of"], "rather": ["than"]}
_ONLY = frozenset({"only", "just", "nur", "seulement", "solo", "sólo"})
_UNIFIED = str.maketrans(
    {**dict.fromkeys("“”„«»「」『』", '"'), **dict.fromkeys("’‘‚", "'"), **dict.fromkeys("‐‑–−", "-")}
)


def plain(text: str) -> str:
    """A text for searching: compatibility forms unified, small letters, straight quotes, other dashes as ``-``."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_UNIFIED)
    return text.casefold()


def flow(text: str) -> list[str]:
    """Content stems in order, with `NOT` plus the word for negations, and `BORDER` and `COMMA` between clauses."""
    out: list[str] = []
    tokens = _TOKEN.findall(plain(text))
    for at, token in enumerate(tokens):
        if not token[0].isalnum():
            out.append(COMMA if token in ",，、" else BORDER)
        elif _IS_UNSPACED.match(token):
            out += _pairs(token)
        elif token in _PAIRED:
            out += [NOT + token] if tokens[at + 1 : at + 2] == _PAIRED[token] else []
        elif not _is_not_only(tokens[at:]):
            out += _word(token)
    return out


def _is_not_only(tokens: Sequence[str]) -> bool:
    """Whether this begins a "not only A but B", which denies nothing."""
    begins = tokens[0] in NEGATIONS and len(tokens) > 1 and tokens[1] in _ONLY
    return begins and not CONJUNCTIONS.isdisjoint(tokens)


def content(tokens: list[str]) -> frozenset[str]:
    """The content stems of a flow."""
    return frozenset(t for t in tokens if t > _SIGNS)


def is_content(token: str) -> bool:
    """Whether an element of a flow is a content stem."""
    return token > _SIGNS


def _pairs(run: str) -> Iterator[str]:
    """Pairs of characters; what stands between two negations is paired by itself."""
    start = 0
    for negation in _UNSPACED_NOT.finditer(run):
        yield from _bigrams(run[start : negation.start()])
        yield NOT + negation.group()
        start = negation.end()
    yield from _bigrams(run[start:])


def _bigrams(run: str) -> Iterator[str]:
    if len(run) == 1 and not _HIRAGANA_PAIR.match(run * 2):
        yield run
    for a, b in itertools.pairwise(run):
        if not _HIRAGANA_PAIR.match(a + b):
            yield a + b


@lru_cache(maxsize=1 << 15)
def _word(token: str) -> tuple[str, ...]:
    token = _ELISION.sub("", token)
    if token in NEGATIONS or token in DENYING or token.endswith(("n't", "n’t")):
        return (NOT + token,)
    if token in CONJUNCTIONS:
        return (BORDER,)
    token = re.split("['’]", token)[0]
    is_letter = len(token) == 1 and token.isascii()
    return () if not token or is_letter or token in STOP or token[0].isdigit() else (stem(token),)
