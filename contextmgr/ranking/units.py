"""What is ranked: one unit per turn, and what must be known of the whole conversation to weigh its words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from contextmgr.ranking.analysis import terms
from contextmgr.turns import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One turn as it is indexed.

    ``indexed`` holds its terms in order, each between two spaces, so that a term, or two neighbours, are counted
    without reading it apart; ``length`` is their number.  ``episode`` is any number that the turns of one episode
    share.  ``asks`` says that it ends in a question, so that what follows answers it; ``acts`` that it holds calls of
    tools, and so what they returned.
    """

    number: int
    role: Role
    indexed: str
    length: int
    speaker: str | None = None
    episode: int | None = None
    at: datetime | None = None
    asks: bool = False
    acts: bool = False

    @classmethod
    def of(
        cls,
        number: int,
        role: Role,
        text: str,
        *,
        speaker: str | None = None,
        episode: int | None = None,
        at: datetime | None = None,
        acts: bool = False,
    ) -> Unit:
        """Analyse a turn's text; a speaker who is named is indexed with it."""
        found = [*terms(speaker or ""), *terms(text)]
        return cls(
            number=number,
            role=role,
            indexed=joined(found),
            length=len(found),
            speaker=speaker,
            episode=episode,
            at=at,
            asks=text.rstrip().endswith(("?", "？", "؟")),
            acts=acts,
        )

    def count(self, term: str) -> int:
        """How often a term occurs."""
        return self.indexed.count(f" {term} ")

    def pair_count(self, first: str, second: str) -> int:
        """How often one term stands right before another."""
        return self.indexed.count(f" {first}  {second} ")


def joined(found: Iterable[str]) -> str:
    """Terms as `Unit.indexed` holds them."""
    return "".join(f" {term} " for term in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """One conversation's own numbers; nobody else's turns ever change a ranking.

    ``units`` and ``terms`` count the turns that are indexed and all their terms.  ``holding`` tells for each term of
    the query how many units hold it (0 where it is missing).  ``episode_terms`` tells the terms of an episode, at
    least of those whose units are ranked; ``episodes`` is how many there are.
    """

    units: int
    terms: int
    holding: Mapping[str, int]
    episodes: int = 0
    episode_terms: Mapping[int, int] = field(default_factory=dict)
    speakers: frozenset[str] = frozenset()

    @classmethod
    def of(cls, units: Iterable[Unit]) -> Statistics:
        """Count a whole conversation that is in memory."""
        known = list(units)
        holding = Counter(term for unit in known for term in set(unit.indexed.split()))
        episode_terms: Counter[int] = Counter()
        for unit in known:
            if unit.episode is not None:
                episode_terms[unit.episode] += unit.length
        return cls(
            units=len(known),
            terms=sum(unit.length for unit in known),
            holding=holding,
            episodes=len(episode_terms),
            episode_terms=episode_terms,
            speakers=frozenset(unit.speaker for unit in known if unit.speaker),
        )

    @property
    def average(self) -> float:
        """Terms of an average unit, at least 1."""
        return max(self.terms / max(self.units, 1), 1.0)

    @property
    def episode_average(self) -> float:
        """Terms of an average episode, at least 1."""
        return max(self.terms / max(self.episodes, 1), 1.0)

    def idf(self, term: str) -> float:
        """What a term is worth, above 0: the fewer units hold it, the more."""
        holding = min(self.holding.get(term, 0), self.units)
        return math.log(1 + (self.units - holding + 0.5) / (holding + 0.5))
