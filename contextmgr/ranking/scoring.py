"""How well turns answer a query by their words: BM25 with the conversation's own numbers, and weight that is lent.

A turn is read with what is around it: the turns before and after, and its episode, lend it weight, because an answer
seldom repeats the words of its question.  Nothing is lent across the border of an episode.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contextmgr.ranking.analysis import terms
from contextmgr.ranking.queries import Query
from contextmgr.ranking.settings import Settings
from contextmgr.ranking.units import Statistics, Unit


@dataclass(frozen=True, slots=True)
class Lexical:
    """A unit's score by words.

    ``own`` is what its own words earn, ``score`` that with what is lent and all factors.  ``found`` are the terms of
    the query it holds, ``share`` their part of the query's weight, 0 to 1.  ``lender`` is the neighbour that lent
    most, if any lent at all.
    """

    score: float = 0.0
    own: float = 0.0
    found: tuple[str, ...] = ()
    share: float = 0.0
    lender: int | None = None
    dated: bool = False


@dataclass(slots=True)
class Scorer:
    """Scores units for one query.  Cost: one count per term and unit."""

    query: Query
    statistics: Statistics
    settings: Settings
    weights: Mapping[str, float] = field(init=False)
    named: str | None = field(init=False)

    def __post_init__(self) -> None:
        asking = self.settings.request_weight
        self.weights = {
            term: self.statistics.idf(term) * (asking if term in self.query.requests else 1.0)
            for term in self.query.terms
        }
        self.named = self._named()

    def scores(self, units: Sequence[Unit]) -> dict[int, Lexical]:
        """By number, the score of every unit."""
        counts = {unit.number: self._counts(unit) for unit in units}
        own = {u.number: self._own(u, counts[u.number]) for u in units}
        lent = self._lent(units, own)
        episodes = self._episodes(units, counts)
        told = {term: weight for term, weight in self.weights.items() if term not in self.query.dates}
        mass = sum(told.values())
        scored = {}
        for unit in units:
            number = unit.number
            near, lender = lent[number]
            fit = self.query.when.fits(unit.at)
            score = (own[number] + near + (episodes[unit.episode] if unit.episode is not None else 0.0)) * (
                self.factor(unit) * (1 + self.settings.date_weight * fit)
            )
            found = tuple(counts[number])
            share = sum(told.get(term, 0.0) for term in found) / mass if mass else float(fit > 0)
            scored[number] = Lexical(score, own[number], found, share, lender, fit > 0)
        return scored

    def factor(self, unit: Unit) -> float:
        """What a unit's role and speaker make of its score."""
        if self.query.about_answer:
            factor = self.settings.user_when_answer if unit.role == "user" else 1.0
        else:
            factor = self._said_by_assistant(unit) if unit.role == "assistant" else 1.0
        elsewhere = self.named is not None and unit.speaker != self.named
        return factor * self.settings.other_speaker if elsewhere else factor

    def _said_by_assistant(self, unit: Unit) -> float:
        return self.settings.acting if unit.acts else self.settings.assistant

    def _named(self) -> str | None:
        """The one speaker of this conversation whom the query names, if it names one."""
        asked = set(self.query.terms)
        named = [name for name in self.statistics.speakers if asked.issuperset(terms(name)) and terms(name)]
        return named[0] if len(named) == 1 else None

    def _counts(self, unit: Unit) -> dict[str, int]:
        text = unit.indexed
        heads = (term for term in self.weights if f" {term}" in text)  # twice as fast as with the space behind it
        return {term: n for term in heads if (n := text.count(f" {term} "))}

    def _own(self, unit: Unit, counts: Mapping[str, int]) -> float:
        if not counts:
            return 0.0
        score = self._bm25(
            counts, unit.length / self.statistics.average, self.settings.saturation, self.settings.by_length
        )
        if self.settings.pair_weight and len(counts) > 1:
            score += self.settings.pair_weight * sum(
                (self.weights[a] + self.weights[b]) / 2 * 2 * n / (n + 1)
                for a, b in self.query.pairs
                if a in counts and b in counts and (n := unit.pair_count(a, b))
            )
        return score

    def _bm25(self, counts: Mapping[str, int], length: float, k1: float, b: float) -> float:
        """``length`` is relative to the average."""
        norm = k1 * (1 - b + b * length)
        return sum(self.weights[term] * n * (k1 + 1) / (n + norm) for term, n in counts.items())

    def _lent(self, units: Iterable[Unit], own: Mapping[int, float]) -> dict[int, tuple[float, int | None]]:
        """What the neighbours of each unit lend it, and which of them lends most."""
        by_number = {unit.number: unit for unit in units}
        settings = self.settings
        worth = {number: own[number] * self.factor(unit) for number, unit in by_number.items()}
        lent: dict[int, tuple[float, int | None]] = {}
        for number, unit in by_number.items():
            before, after = by_number.get(number - 1), by_number.get(number + 1)
            left = right = 0.0
            if before is not None and before.episode == unit.episode:
                share = settings.from_previous + (settings.from_question if before.asks else 0.0)
                left = worth[number - 1] * share
            if after is not None and after.episode == unit.episode:
                right = worth[number + 1] * settings.from_next
            lender = (number - 1 if left >= right else number + 1) if left or right else None
            lent[number] = (left + right, lender)
        return lent

    def _episodes(self, units: Iterable[Unit], counts: Mapping[int, Mapping[str, int]]) -> dict[int, float]:
        """What each episode lends its turns: its own score, as if it were one long turn."""
        together: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for unit in units:
            if unit.episode is not None:
                held = together[unit.episode]
                for term, n in counts[unit.number].items():
                    held[term] += n
        known, settings = self.statistics, self.settings
        return {
            episode: settings.from_episode
            * self._bm25(
                held,
                known.episode_terms.get(episode, known.episode_average) / known.episode_average,
                settings.episode_saturation,
                settings.episode_by_length,
            )
            for episode, held in together.items()
        }
