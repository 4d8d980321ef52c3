"""The numbers of the ranking, in one place: one set for every conversation.

They were chosen on three public sets at once and checked on halves that they were not chosen on; docs/retrieval.md has
the method and what each is worth.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from contextmgr.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How turns are scored; all are shares or factors without unit."""

    saturation: float = 1.6
    """BM25's k1: the larger, the more a repeated term counts."""
    by_length: float = 0.8
    """BM25's b: 0 ignores length, 1 divides by it."""
    request_weight: float = 0.15
    """Weight of words that only ask, such as "remind"."""
    pair_weight: float = 0.6
    """Weight of two words of the query that stand side by side in the turn as well."""
    assistant: float = 0.4
    """Factor for an assistant's turn: what a user said is asked for far more often than what was answered at length."""
    acting: float = 0.7
    """Factor for one that holds calls of tools instead: what they returned is what was found out."""
    user_when_answer: float = 0.8
    """Factor for a user's turn instead, where the assistant's words are asked for."""
    other_speaker: float = 0.7
    """Factor for a turn of somebody else than the one speaker whom the query names."""
    from_previous: float = 0.2
    """What a turn gets of the score of the turn before it."""
    from_question: float = 0.3
    """What it gets more where that ends in a question."""
    from_next: float = 0.25
    """What a turn gets of the score of the turn after it."""
    from_episode: float = 0.25
    """What it gets of its episode's own score."""
    episode_saturation: float = 2.0
    """k1 for an episode."""
    episode_by_length: float = 1.0
    """b for an episode."""
    date_weight: float = 0.7
    """What the score gains in the month that the query names."""
    lexical_share: float = 0.4
    """Weight of words against vectors where there are vectors."""
    similar_neighbour: float = 0.25
    """What each neighbour counts in a turn's similarity, against the turn itself at 1."""
    min_share: float = 0.15
    """Share of the query's weight that some turn must hold, or nothing is found."""
    min_of_best: float = 0.2
    """Share of the best score below which nothing is returned."""
    same: float = 0.95
    """Share of common terms from which two turns are taken for one."""

    def __post_init__(self) -> None:
        for number in fields(self):
            value = getattr(self, number.name)
            if not 0 <= value < 100:
                raise InputError(f"{number.name} must be at least 0 and below 100, not {value!r}")
        for name in ("by_length", "episode_by_length", "lexical_share", "min_share", "min_of_best", "same"):
            if getattr(self, name) > 1:
                raise InputError(f"{name} is a share: it must be at most 1, not {getattr(self, name)!r}")


DEFAULTS = Settings()
