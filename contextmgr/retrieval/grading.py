"""How much of a question a turn holds, for the threshold below which nothing is quoted.

A message that asks two things is held against each of them: no turn holds both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from contextmgr.ranking import DEFAULTS, Hit, Query, Statistics, query_terms

ASKED = 4  # words, the heaviest, that one turn is held against
FEW = 2  # words up to which one thing asked counts alone by any of them; of more, a turn must hold as many
_CLAUSES = re.compile(
    r"(?<=[.!?。！？])\s*|;\s+"
    r"|,?\s+(?:and|or|but|so|und|oder|aber|et|ou|mais|y|o|pero)\s+"
    r"(?=(?:what|which|where|when|who|whose|how|why|will|would|can|could|do|does|did|is|are|was|were|should|shall|please"
    r"|tell|send|give|show|list|i|my|you|wie|was|wo|wann|wer|welche\w*|bitte|quel\w*|où|quand|qui|comment|qué|cuál|dónde"
    r"|cuándo|quién|cómo)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Grades:
    """What the words of a question weigh, as a whole and in each thing it asks; words that no turn holds weigh half,
    since no turn could hold more.
    """

    whole: float
    things: tuple[Mapping[str, float], ...]
    missing: frozenset[str]

    @classmethod
    def of(cls, query: Query, statistics: Statistics) -> Grades:
        """For a question, with the numbers of the ground it is asked of."""
        asking = DEFAULTS.request_weight
        weights = {t: statistics.idf(t) * (asking if t in query.requests else 1.0) for t in query.terms}
        missing = frozenset(t for t in weights if not statistics.holding.get(t))
        held_against = _heaviest(weights, missing)
        whole = sum(weights.values()) / held_against if held_against else 1.0
        return cls(whole, tuple(_things(query, weights)), missing)

    def grade(self, hit: Hit) -> float:
        """The share of the question that a turn holds, or of the thing asked that it holds most of."""
        best = hit.share * self.whole
        for weights in self.things:
            held = [weight for term, weight in weights.items() if term in hit.found]
            if held and len(held) >= min(FEW, len(weights) - 1):
                best = max(best, sum(held) / _heaviest(weights, self.missing))
        return best


def newest_second(hits: Sequence[Hit]) -> list[Hit]:
    """Hits, best first, but of those that hold the same words of the question the newest right behind the best.

    Where there is room for a few only, what was said last about a matter must not fall behind older turns that say as
    much about it: an address that changed, say.
    """
    alike: dict[tuple[str, ...], list[Hit]] = {}
    for hit in hits:
        alike.setdefault(hit.found, []).append(hit)
    order = {found: iter(_newest_second(group)) for found, group in alike.items()}
    return [next(order[hit.found]) for hit in hits]


def _newest_second(group: Sequence[Hit]) -> list[Hit]:
    best, *rest = group
    newest = max(rest, key=lambda hit: hit.number, default=None)
    return [best, *([newest] if newest is not None else []), *(hit for hit in rest if hit is not newest)]


def _heaviest(weights: Mapping[str, float], missing: frozenset[str]) -> float:
    halved = (weight / 2 if term in missing else weight for term, weight in weights.items())
    return sum(sorted(halved, reverse=True)[:ASKED])


def _things(query: Query, weights: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
    """The words of each thing that is asked, where it is more than one."""
    parts = [part for part in _CLAUSES.split(query.text) if part and part.strip()]
    for part in parts if len(parts) > 1 else ():
        asked = query_terms(part).terms
        yield {t: weights[t] for t in asked if t in weights and t not in query.requests | query.dates}
