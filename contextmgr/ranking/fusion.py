"""From scores to the turns that are returned: words and vectors together, the same said twice once, in a fixed order.

Laws: a turn that the words find exactly is never pushed out of the first ``k`` by vectors; among equals the newest
comes first, and age decides nothing else; what is below the threshold is not returned to fill ``k``, unless it holds
all that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from contextmgr.errors import InputError
from contextmgr.ranking.queries import Query
from contextmgr.ranking.scoring import Lexical, Scorer
from contextmgr.ranking.settings import DEFAULTS, Settings
from contextmgr.ranking.units import Statistics, Unit

_DIGITS = 9  # scores closer than this are equal
_Group = tuple[int, tuple[int, ...]]  # a turn, and those that say the same


@dataclass(frozen=True, slots=True)
class Cosines:
    """Cosines (-1 to 1) of the query with units, by number, and their range over the whole conversation.

    ``low`` and ``high`` set the scale: a cosine tells little by itself, what is a good one depends on the model.
    """

    values: Mapping[int, float]
    low: float
    high: float

    @classmethod
    def of(cls, values: Mapping[int, float]) -> Cosines:
        """Those of a whole conversation, at least of one unit."""
        if not values:
            raise InputError("cosines of no unit have no range; leave them out where there are none")
        return cls(values, min(values.values()), max(values.values()))

    def scaled(self, number: int) -> float:
        """0 for the least similar unit or one without a vector, 1 for the most similar."""
        width = self.high - self.low
        if width <= 0 or number not in self.values:
            return 0.0
        return min(max((self.values[number] - self.low) / width, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that answers a query.

    ``score`` only orders the hits of one query.  ``reason`` says in a few words why it is here; ``share`` is the part
    of the query's weight in words that it holds itself, 0 to 1, and ``found`` those words; ``also`` are turns that say
    the same.
    """

    number: int
    score: float
    reason: str
    share: float = 0.0
    also: tuple[int, ...] = ()
    found: tuple[str, ...] = ()


def rank(
    query: Query,
    units: Sequence[Unit],
    statistics: Statistics,
    *,
    k: int = 10,
    cosines: Cosines | None = None,
    settings: Settings = DEFAULTS,
) -> list[Hit]:
    """The at most ``k`` best of ``units``, best first; [] for an empty query.

    Give the units that hold a term of the query (`candidate_terms`), those whose vectors are nearest, and the
    neighbours of both: a turn that is not given gets and lends nothing.  ``statistics`` are of the whole conversation.
    Raises `InputError` for a ``k`` below 1.
    """
    if k < 1:
        raise InputError(f"k must be at least 1, not {k!r}")
    if not query or not units:
        return []
    scorer = Scorer(query, statistics, settings)
    lexical = scorer.scores(units)
    by_words = {number: found.score for number, found in lexical.items() if found.score > 0}
    if max((found.share for found in lexical.values()), default=0.0) < settings.min_share:
        by_words = {}
    chosen = _fused(scorer, units, by_words, cosines) if cosines is not None else by_words
    best = max(chosen.values(), default=0.0)
    floor = settings.min_of_best * best
    order = [n for n in _ordered(chosen) if chosen[n] >= floor or _holds_all(query, lexical[n])]
    by_number = {unit.number: unit for unit in units}
    hits = list(_distinct(order, by_number, k, settings.same))
    if cosines is not None:
        alone = _distinct(_ordered(by_words), by_number, k, settings.same)
        hits = _with_exact(hits, [group for group in alone if _is_exact(query, lexical[group[0]])], k)
        hits.sort(key=lambda group: (-round(chosen[group[0]], _DIGITS), -group[0]))
    return [
        Hit(n, round(chosen[n], _DIGITS), _reason(lexical[n], cosines, n), lexical[n].share, also, lexical[n].found)
        for n, also in hits
    ]


def _ordered(scores: Mapping[int, float]) -> list[int]:
    """Best first, and of equals the newest."""
    return sorted(scores, key=lambda number: (-round(scores[number], _DIGITS), -number))


def _fused(scorer: Scorer, units: Sequence[Unit], by_words: Mapping[int, float], cosines: Cosines) -> dict[int, float]:
    best = max(by_words.values(), default=0.0)
    share = scorer.settings.lexical_share
    near = _smoothed(units, cosines, scorer.settings.similar_neighbour)
    fused = {}
    for unit in units:
        words = by_words.get(unit.number, 0.0) / best if best else 0.0
        fused[unit.number] = share * words + (1 - share) * near[unit.number] * scorer.factor(unit)
    return {number: score for number, score in fused.items() if score > 0}


def _smoothed(units: Sequence[Unit], cosines: Cosines, share: float) -> dict[int, float]:
    """How similar each unit is to the query, 1 for the most similar, averaged with its neighbours at ``share``."""
    by_number = {unit.number: unit for unit in units}
    scaled = {number: cosines.scaled(number) for number in by_number}
    mixed = {}
    for number, unit in by_number.items():
        near = [scaled[n] for n in (number - 1, number + 1) if n in by_number and by_number[n].episode == unit.episode]
        mixed[number] = (scaled[number] + share * sum(near)) / (1 + share * len(near))
    best = max(mixed.values(), default=0.0)
    return {number: value / best for number, value in mixed.items()} if best else mixed


def _distinct(order: Sequence[int], units: Mapping[int, Unit], k: int, same: float) -> Iterator[_Group]:
    """The first ``k`` that say different things, each with those behind it, as far as read, that say the same."""
    kept: list[tuple[int, frozenset[str], list[int]]] = []
    for number in order:
        said = frozenset(units[number].indexed.split())
        twin = next((also for _, other, also in kept if _are_alike(said, other, same)), None)
        if twin is not None:
            twin.append(number)
        elif len(kept) < k:
            kept.append((number, said, []))
        else:
            break
    yield from ((number, tuple(also)) for number, _, also in kept)


def _are_alike(one: frozenset[str], other: frozenset[str], same: float) -> bool:
    a, b = len(one), len(other)
    if a < same * b or b < same * a or not a:
        return False
    common = len(one & other)
    return common >= same * (a + b - common)


def _is_exact(query: Query, found: Lexical) -> bool:
    """Whether a turn holds every word that the query is about, or an identifier of it."""
    return _holds_all(query, found) or not query.identifiers.isdisjoint(found.found)


def _holds_all(query: Query, found: Lexical) -> bool:
    about = {term for term in query.terms if term not in query.requests | query.dates}
    return bool(about) and about <= set(found.found)


def _with_exact(hits: Sequence[_Group], needed: Sequence[_Group], k: int) -> list[_Group]:
    """The hits, the last of them given up for those ``needed`` that are not among them, directly or as a twin."""
    wanted = {number for number, _ in needed}
    shown = {n for number, also in hits for n in (number, *also)}
    lost = [group for group in needed if group[0] not in shown]
    kept = list(hits)
    for place in range(len(kept) - 1, -1, -1):
        if len(kept) + len(lost) <= k:
            break
        number, also = kept[place]
        if wanted.isdisjoint((number, *also)):
            del kept[place]
    return kept + lost


def _reason(found: Lexical, cosines: Cosines | None, number: int) -> str:
    parts = []
    if found.found:
        parts.append(f"says {', '.join(found.found)}")
    if found.lender is not None:
        parts.append(f"beside turn {found.lender}")
    if found.dated:
        parts.append("of the time asked for")
    if cosines is not None and number in cosines.values:
        parts.append(f"similarity {cosines.values[number]:.2f}")
    return "; ".join(parts) or "in an episode about it"
