"""A rough stem of a word, so that forms of one word are compared as one: English endings, and some of its neighbours'.

Two words may share a stem without being related; that makes a comparison kinder, never stricter.
"""

from __future__ import annotations

from functools import lru_cache

_VERBAL = (("ies", "y"), ("ied", "y"), ("ing", ""), ("ed", ""), ("ly", ""))
_PLURAL = (("es", 4), ("s", 3))
_LAST = (("en", 4), ("er", 4), ("ar", 4), ("ir", 4), ("ez", 4), ("e", 3))
_KEPT_ENDS = ("ss", "us", "is")


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """The stem of a word in small letters."""
    for ending, instead in _VERBAL:
        if word.endswith(ending) and len(word) - len(ending) >= 2 + (ending == "ly"):
            root = word[: -len(ending)] + instead
            return root + "e" if len(root) == 2 else _bare(_single(root))
    return _bare(word)


def _single(root: str) -> str:
    """``runn`` as ``run``: the doubled consonant before an ending."""
    doubled = len(root) > 3 and root[-1] == root[-2] and root[-1] not in "lsz"
    return root[:-1] if doubled else root


def _bare(word: str) -> str:
    if not word.endswith(_KEPT_ENDS):
        word = _without(word, _PLURAL)
    word = _without(word, _LAST)
    return word[:-1] if word.endswith("ll") and len(word) > 5 else word


def _without(word: str, endings: tuple[tuple[str, int], ...]) -> str:
    for ending, least in endings:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            return word[: -len(ending)]
    return word
