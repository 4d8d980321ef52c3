"""What a store offers for searching one conversation: an index row per turn, and counts of its own terms.

Law: every number that ranking uses is counted within the conversation, so that no other scope can change a rank; the
conversation is part of every match.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from contextmgr.ranking import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """How far a conversation is indexed: ``upto`` is the last turn looked at, ``units`` are turns with terms, ``terms``
    their number together, ``episodes`` how many episodes they make.
    """

    upto: int = 0
    units: int = 0
    terms: int = 0
    episodes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A turn that is not, or no longer rightly, in the index: ``error`` says why it could not be read, None that it
    changed; ``attempts`` counts the tries.
    """

    number: int
    episode: int
    error: str | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRow:
    """One turn's vector, little-endian float32, or the error that kept it from being made."""

    number: int
    body: bytes = b""
    error: str | None = None
    attempts: int = 0


class SearchTables(Protocol):
    """The index of one scope's conversations, within a transaction."""

    def state(self, conversation: str) -> SearchState:
        """How far a conversation is indexed."""
        ...

    def put(self, conversation: str, units: Sequence[Unit], unread: Sequence[Unread], upto: int) -> None:
        """Index turns, or index them again, and move the watermark to ``upto`` if that is further on."""
        ...

    def unread(self, conversation: str, attempts: int, most: int) -> list[Unread]:
        """Turns that failed fewer than ``attempts`` times, or changed since they were indexed."""
        ...

    def outdate(self, conversation: str, number: int) -> None:
        """Note that an indexed turn has changed."""
        ...

    def holding(self, conversation: str, terms: Sequence[str], most: int) -> dict[str, int]:
        """In how many turns each term occurs; above ``most`` reckoned from the turns in which the first occur."""
        ...

    def episode_terms(self, conversation: str, episodes: Collection[int]) -> dict[int, int]:
        """How many terms these episodes have."""
        ...

    def matches(
        self, conversation: str, needed: Sequence[Sequence[str]], most: int, *, newest: bool = False
    ) -> list[Unit]:
        """At most ``most`` turns that hold all of a group in ``needed``: the first, or with ``newest`` the last."""
        ...

    def units(self, conversation: str, numbers: Collection[int]) -> list[Unit]:
        """The index rows of these turns, by number."""
        ...

    def hidden(self, conversation: str) -> frozenset[int]:
        """Turns that are withdrawn."""
        ...

    def erased(self, conversation: str, first: int, last: int) -> frozenset[int]:
        """Turns between ``first`` and ``last`` that were erased."""
        ...

    def vectors(self, conversation: str, model: str) -> list[VectorRow]:
        """The vectors a model made of a conversation, by turn."""
        ...

    def without_vector(self, conversation: str, model: str, attempts: int, most: int) -> list[int]:
        """The newest indexed turns that have no vector by this model and failed fewer than ``attempts`` times."""
        ...

    def put_vectors(self, conversation: str, model: str, dim: int, rows: Sequence[VectorRow]) -> None:
        """Keep vectors; a turn has one, so another model's is replaced."""
        ...
