"""Choosing sentences within a budget: central, telling, and not like what was chosen before (MMR)."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from contextmgr.extractive.centrality import Likeness

_AGAINST_LIKE = 0.7  # what a sentence loses for being all like one that was chosen
_PER_FACT = 0.35  # what each fact not yet kept adds, of the sentence's weight
_MAX_FACTS = 8
_USUAL_COST = 25  # tokens: a sentence of this size costs what it weighs; longer ones have to tell more
_LEAST = 0.12
"""Worth below which a sentence is left out though there is room: fewer notes are better than padded ones."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """``weight`` from 0 up, ``cost`` in tokens, the ``facts`` in it, and ``group``: its user turn, or None."""

    text: str
    weight: float
    cost: int
    facts: frozenset[str]
    group: int | None = None


@dataclass(slots=True)
class Choice:
    """Takes candidates one by one while ``room`` (tokens) lasts; ``taken`` holds their positions.

    What a candidate is worth only ever falls as others are taken.  So the one on top of a heap of old worths is the
    best if it still stands on top after being valued again, and most are never valued a second time.
    """

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
        done: set[int | None] = {None}
        for index in self._best_first(least=0.0):
            if self.candidates[index].group not in done:
                done.add(self.candidates[index].group)
                self._take(index)

    def fill(self) -> None:
        """Take what is best, no text twice, until nothing fits or what is left tells too little."""
        texts = {self.candidates[index].text for index in self.taken}
        for index in self._best_first(least=_LEAST):
            if self.candidates[index].text not in texts:
                texts.add(self.candidates[index].text)
                self._take(index)

    def _take(self, index: int) -> None:
        self.taken.append(index)
        self.room -= self.candidates[index].cost
        self.kept |= self.candidates[index].facts
        for other, like in self.rows[index].items():
            self._like[other] = max(self._like[other], like)

    def _best_first(self, *, least: float) -> Iterator[int]:
        """Positions of what fits and is not taken, the best first by what it is worth when its turn comes."""
        taken = set(self.taken)
        heap = [(-self._worth(i), i) for i in range(len(self.candidates)) if i not in taken]
        heapq.heapify(heap)
        while heap:
            _, index = heapq.heappop(heap)
            now = self._worth(index)
            if self.candidates[index].cost > self.room or now <= least:
                continue
            if heap and (-now, index) > heap[0]:
                heapq.heappush(heap, (-now, index))
            else:
                yield index

    def _worth(self, index: int) -> float:
        candidate = self.candidates[index]
        fresh = min(_MAX_FACTS, len(candidate.facts - self.kept))
        telling = candidate.weight * (1 + _PER_FACT * fresh - _AGAINST_LIKE * self._like[index])
        return float(telling / max(1.0, candidate.cost / _USUAL_COST) ** 0.5)
