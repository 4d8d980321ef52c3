"""Whether two sentences say the same with the same sign: what one denies the other denies, and no word is turned around.

Law: only what both speak of is compared; a negation in a part of the source that the statement leaves out is no matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from contextmgr.checks.vocabulary import OPPOSITES
from contextmgr.checks.words import Cue, stem

_OPPOSITE: dict[str, set[str]] = {}
for _one, _other in OPPOSITES:
    _OPPOSITE.setdefault(stem(_one), set()).add(stem(_other))
    _OPPOSITE.setdefault(stem(_other), set()).add(stem(_one))


def added(mine: Sequence[Cue], theirs: Iterable[Cue]) -> Cue | None:
    """The first negation of a statement that no negation of its source answers for."""
    free = list(theirs)
    for cue in mine:
        answer = _answer(cue, free)
        if answer is None:
            return cue
        free.remove(answer)
    return None


def lost(bag: frozenset[str], mine: Sequence[Cue], theirs: Iterable[Cue], said: frozenset[str]) -> Cue | None:
    """The first negation of a source about words that the statement has, but without the negation.

    ``said`` are words that the source says without one as well: they tell nothing.
    """
    free = list(mine)
    for cue in theirs:
        if cue.head not in bag or cue.head in said:
            continue
        answer = _answer(cue, free)
        if answer is None:
            return cue
        free.remove(answer)
    return None


def _answer(cue: Cue, free: Sequence[Cue]) -> Cue | None:
    """A negation of the same word, or else one of a word beside it."""
    same = next((c for c in free if c.head == cue.head), None)
    return same or next((c for c in free if cue.matches(c)), None)


def turned(bag: frozenset[str], theirs: frozenset[str]) -> tuple[str, str] | None:
    """A word of the statement whose opposite stands in the source in its place, with that opposite."""
    for word in sorted(bag - theirs):
        for opposite in sorted(_OPPOSITE.get(word, ())):
            if opposite in theirs and opposite not in bag:
                return word, opposite
    return None
