"""A conversation that is ranked in memory: for benchmarks, short histories, and turns that are not indexed yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from contextmgr.ranking.fusion import Cosines, Hit, rank
from contextmgr.ranking.queries import Query, candidate_terms, query_terms
from contextmgr.ranking.settings import DEFAULTS, Settings
from contextmgr.ranking.units import Statistics, Unit


class Index:
    """The units of one conversation with their statistics, made once."""

    def __init__(self, units: Iterable[Unit], *, settings: Settings = DEFAULTS) -> None:
        self.units = tuple(units)
        self.statistics = Statistics.of(self.units)
        self.settings = settings
        self._by_number = {unit.number: unit for unit in self.units}
        self._holding: dict[str, list[int]] = defaultdict(list)
        for unit in self.units:
            for term in set(unit.indexed.split()):
                self._holding[term].append(unit.number)

    def search(self, query: str | Query, *, k: int = 10, cosines: Cosines | None = None) -> list[Hit]:
        """The at most ``k`` best turns for a query, best first; ``cosines`` of all units where there are vectors."""
        asked = query_terms(query) if isinstance(query, str) else query
        units = self.units if cosines is not None else self.candidates(asked)
        return rank(asked, units, self.statistics, k=k, cosines=cosines, settings=self.settings)

    def candidates(self, query: Query) -> Sequence[Unit]:
        """Units that hold a term of the query, and their neighbours, in order."""
        holding = {n for term in candidate_terms(query) for n in self._holding.get(term, ())}
        near = {n + step for n in holding for step in (-1, 0, 1)}
        return [self._by_number[n] for n in sorted(near) if n in self._by_number]
