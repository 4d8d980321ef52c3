"""Proposals for pins: sentences of users and operators that read like standing instructions.

Law: it proposes and never pins; a quote is an exact piece of one text block, so it can be pinned as it stands.

Asking whether a sentence holds "always" or "must" is right about one time in nine.  What tells a standing instruction
from a request of the moment is the speech act: said to the model, about all of a kind, not asked, not told, not hedged,
not about one thing just pointed at.  Each such sign adds or takes off evidence; see `signs` and `doubts`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from contextmgr import jsontext
from contextmgr.pins import PinKind
from contextmgr.suggestions.doubts import DOUBTS, REINFORCES
from contextmgr.suggestions.languages import LANGUAGES
from contextmgr.suggestions.sentences import Unit, units
from contextmgr.suggestions.sign import Sign, compiled
from contextmgr.suggestions.signs import KINDS, SIGNS
from contextmgr.turns import Turn, words

THRESHOLD = 0.5
LONGEST = 1_000  # characters: a longer quote is a document; pin the turn, or set it as a task document
_BIAS = 2.0
_OPERATOR = 0.8
_SECOND = 0.4  # what each further sign for it adds: signs overlap


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A proposed pin: pass ``turn``, ``kind`` and ``quote`` on to ``chat.pins.add()``.

    ``quote`` is an exact substring of one text block of the turn, there only once.  ``score`` goes from 0 to 1 and
    ranks; it is not a probability.  ``reason`` names the signs that spoke for it.
    """

    turn: int
    quote: str
    kind: PinKind
    score: float
    reason: str


class _Scored(NamedTuple):
    start: int
    end: int
    score: float
    signs: tuple[Sign, ...]


def suggest(turns: Sequence[Turn], *, threshold: float = THRESHOLD) -> list[Suggestion]:
    """Proposed pins among what users and operators said, strongest first; of equal quotes the newest stands.

    ``threshold`` is the least score, 0 to 1; lower finds more and is wrong more often.
    """
    newest: dict[str, Suggestion] = {}
    for turn in turns:
        if turn.author in ("user", "operator") and turn.withdrawn is None:
            newest.update({" ".join(s.quote.split()).casefold(): s for s in _of_turn(turn, threshold)})
    return sorted(newest.values(), key=lambda s: (-s.score, s.turn))


def _of_turn(turn: Turn, threshold: float) -> Iterator[Suggestion]:
    texts = words(turn.blocks)
    for text in texts:
        for found in _joined(text, _scored(text, turn.author == "operator", threshold)):
            quote = text[found.start : found.end]
            if sum(t.count(quote) for t in texts) == 1 and jsontext.is_sendable(quote):
                yield Suggestion(
                    turn=turn.number,
                    quote=quote,
                    kind=_kind(quote),
                    score=round(found.score, 3),
                    reason=", ".join(dict.fromkeys(sign.reason for sign in found.signs)),
                )


def _scored(text: str, operator: bool, threshold: float) -> Iterator[_Scored]:
    for unit in units(text):
        if unit.end - unit.start > LONGEST:
            continue
        signs = tuple(s for s in (*SIGNS, *LANGUAGES) if s.found(unit))
        if signs:
            score = _score(unit, signs, operator)
            if score >= threshold:
                yield _Scored(unit.start, unit.end, score, signs)


def _score(unit: Unit, signs: Iterable[Sign], operator: bool) -> float:
    """Evidence for and against on a logistic scale: the strongest sign whole, the others in part."""
    weights = sorted((s.weight for s in signs), reverse=True)
    against = sum(s.weight for s in DOUBTS if s.found(unit))
    evidence = weights[0] + _SECOND * sum(weights[1:]) + against + (_OPERATOR if operator else 0.0)
    return 1 / (1 + math.exp(_BIAS - evidence))


def _joined(text: str, found: Iterable[_Scored]) -> Iterator[_Scored]:
    """Neighbours become one proposal, a sentence that only insists is joined to what it insists on."""
    last: _Scored | None = None
    for scored in found:
        scored = scored._replace(end=_with_emphasis(text, scored.end))
        if last is not None and scored.end <= last.end:
            continue
        if last is not None and _next_to(text[last.end : scored.start]) and scored.end - last.start <= LONGEST:
            last = _Scored(last.start, scored.end, max(last.score, scored.score), last.signs + scored.signs)
            continue
        if last is not None:
            yield last
        last = scored
    if last is not None:
        yield last


def _next_to(between: str) -> bool:
    return not between.strip(" \t\n-*•") and between.count("\n") <= 1


def _with_emphasis(text: str, end: int) -> int:
    found = compiled(REINFORCES).match(text, end)
    return found.end() if found else end


def _kind(quote: str) -> PinKind:
    return next((kind for kind, pattern in KINDS if compiled(pattern).search(quote)), PinKind.CONSTRAINT)
