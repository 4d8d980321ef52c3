"""Choosing sentences within a budget: central, telling, and not like what was chosen before (MMR)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from contextmgr.extractive.centrality import Likeness

_AGAINST_LIKE = 0.7  # what a sentence loses for being all like one that was chosen
_PER_FACT = 0.12  # what each fact not yet kept adds, of the sentence's weight
_MAX_FACTS = 4
_USUAL_COST = 25  # tokens: a sentence of this size costs what it weighs; longer ones have to tell more
_LEAST = 0.12
"""Worth below which a sentence is left out though there is room: fewer notes are better than padded ones."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """``weight`` from 0 up, ``cost`` in tokens, the ``facts`` in it, and ``group``: its user turn, or None."""

    weight: float
    cost: int
    facts: frozenset[str]
    group: int | None = None


@dataclass(slots=True)
class Choice:
    """Takes candidates one by one while ``room`` (tokens) lasts."""

    candidates: Sequence[Candidate]
    rows: Likeness
    room: int
    taken: list[int] = field(default_factory=list)
    kept: set[str] = field(default_factory=set)
    _like: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._like = [0.0] * len(self.candidates)

    def one_per_group(self) -> None:
        """Take the best of each group, groups with the best first; a group that does not fit is passed over."""
        waiting = {c.group for c in self.candidates if c.group is not None}
        while waiting:
            best = self._best(lambda c: c.group in waiting, least=0.0)
            if best is None:
                return
            waiting.discard(self.candidates[best].group)
            self._take(best)

    def fill(self) -> None:
        """Take what is best until nothing fits or what is left tells too little."""
        while (best := self._best(lambda _: True, least=_LEAST)) is not None:
            self._take(best)

    def _take(self, index: int) -> None:
        self.taken.append(index)
        self.room -= self.candidates[index].cost
        self.kept |= self.candidates[index].facts
        self._like[index] = 2.0
        for other, like in self.rows[index].items():
            self._like[other] = max(self._like[other], like)

    def _best(self, wanted: Callable[[Candidate], bool], *, least: float) -> int | None:
        best, most = None, least
        for index, candidate in enumerate(self.candidates):
            if candidate.cost <= self.room and self._like[index] <= 1.0 and wanted(candidate):
                worth = self._worth(index, candidate)
                if worth > most:
                    best, most = index, worth
        return best

    def _worth(self, index: int, candidate: Candidate) -> float:
        fresh = min(_MAX_FACTS, len(candidate.facts - self.kept))
        telling = candidate.weight * (1 + _PER_FACT * fresh - _AGAINST_LIKE * self._like[index])
        return float(telling / max(1.0, candidate.cost / _USUAL_COST) ** 0.5)
