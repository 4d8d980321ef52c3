"""What a sentence denies, and whether two sentences say the same with the same sign.

Law: only what both speak of is compared; a negation in a part of the source that the statement leaves out is no matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextmgr.checks.stems import stem
from contextmgr.checks.vocabulary import OPPOSITES
from contextmgr.checks.words import BORDER, COMMA, NOT, is_content

_REACH = 2
_REACH_BACK = 3

_OPPOSITE: dict[str, set[str]] = {}
for _one, _other in OPPOSITES:
    _OPPOSITE.setdefault(stem(_one), set()).add(stem(_other))
    _OPPOSITE.setdefault(stem(_other), set()).add(stem(_one))


@dataclass(frozen=True, slots=True)
class Cue:
    """A negation and the content words within its reach: those after it, nearest first, or else those before it.

    ``before`` are the words before it, nearest first, in either case.
    """

    word: str
    denied: tuple[str, ...]
    before: tuple[str, ...]

    @property
    def head(self) -> str:
        """The word it denies first; empty where there is none."""
        return self.denied[0] if self.denied else ""

    def is_about(self, word: str) -> bool:
        """Whether a word is within reach."""
        return word in self.denied or word in self.before[:2]

    def matches(self, other: Cue) -> bool:
        """Whether both deny the same, as far as the words around them tell."""
        return other.is_about(self.head) or self.is_about(other.head)


def cues(tokens: Sequence[str]) -> list[Cue]:
    """The negations of a flow (`contextmgr.checks.words.flow`), in order."""
    found: list[Cue] = []
    for at, token in enumerate(tokens):
        if token[0] == NOT:
            after = _reach(tokens[at + 1 :], _REACH)
            before = () if tokens[at - 1 : at] == [COMMA] else _reach(tokens[:at][::-1], _REACH_BACK)
            found.append(Cue(token[1:], after or before, before))
    return found


def affirmed(tokens: Sequence[str]) -> frozenset[str]:
    """Content words of a flow that stand more than once, at least once out of reach of every negation."""
    near = {at + step for at, t in enumerate(tokens) if t[0] == NOT for step in range(-2, _REACH + 2)}
    return frozenset(t for at, t in enumerate(tokens) if is_content(t) and at not in near and tokens.count(t) > 1)


def _reach(tokens: Sequence[str], most: int) -> tuple[str, ...]:
    found: list[str] = []
    for token in tokens:
        if token == BORDER or len(found) == most or (token == COMMA and found):
            break
        if is_content(token):
            found.append(token)
    return tuple(found)


def added(mine: Sequence[Cue], theirs: Iterable[Cue]) -> Cue | None:
    """The first negation of a statement that no negation of its source answers for."""
    return _unanswered(mine, theirs)


def lost(bag: frozenset[str], mine: Iterable[Cue], theirs: Sequence[Cue], ignored: frozenset[str]) -> Cue | None:
    """The first negation of a source about words that the statement has, but without the negation.

    Negations of ``ignored`` words tell nothing.
    """
    told = [c for c in theirs if c.head not in ignored and not (c.denied and bag.isdisjoint(c.denied))]
    return _unanswered(told, mine)


def _unanswered(asking: Sequence[Cue], answers: Iterable[Cue]) -> Cue | None:
    """The first negation without one of its own on the other side: of the same word, or else of a word beside it."""
    free, left = list(answers), []
    for cue in asking:
        same = next((c for c in free if c.head == cue.head), None)
        if same is None:
            left.append(cue)
        else:
            free.remove(same)
    for cue in left:
        near = next((c for c in free if cue.matches(c)), None)
        if near is None:
            return cue
        free.remove(near)
    return None


def turned(bag: frozenset[str], theirs: frozenset[str]) -> tuple[str, str] | None:
    """A word of the statement whose opposite stands in the source in its place, with that opposite."""
    for word in sorted(bag - theirs):
        for opposite in sorted(_OPPOSITE.get(word, ())):
            if opposite in theirs and opposite not in bag:
                return word, opposite
    return None
